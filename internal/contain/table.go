package contain

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/executable-markdown/xmd/agent/acp"
)

// An access is what a rule lets a program do with a path and all below it.
type access string

const (
	toRun   access = "run"   // execute, read, list
	toRead  access = "read"  // read, list
	toWrite access = "write" // all of that but execute, make and remove
	toUse   access = "use"   // read and write what is there, such as a device
	toList  access = "list"  // list, and open no file
)

// A rule opens one path. What no rule opens is closed.
type rule struct {
	Access   access `json:"access"`
	Path     string `json:"path"`
	Optional bool   `json:"optional,omitempty"` // a path that is missing is left out
}

// table is what an agent may reach of the file system (agents 17.2): the programs and
// libraries of the system, what a program needs to know of the machine and to trust
// its provider, and what was made for the agent. The caller's files, the homes of
// people, /run, /var, shared temporary directories and the terminal are not in it.
//
// A terminal is left out on purpose: what a person is asked to approve is shown
// there, and an agent that can write to it can show something else.
func table(paths acp.Paths) []rule {
	var rules []rule
	add := func(a access, optional bool, paths ...string) {
		for _, path := range paths {
			rules = append(rules, rule{a, path, optional})
		}
	}
	add(toRun, true, "/usr", "/bin", "/lib", "/lib64", "/nix/store")
	add(toRead, true, "/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf",
		"/etc/passwd", "/etc/group", "/etc/localtime", "/etc/ld.so.cache", "/proc/self", "/proc/meminfo", "/proc/cpuinfo", "/sys/fs/cgroup")
	add(toUse, true, "/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
	add(toRun, false, paths.Runtime...)
	add(toRead, false, paths.Read...)
	add(toWrite, false, paths.Write...)
	add(toWrite, false, paths.Home)
	add(toList, false, paths.Cwd)
	return rules
}

// ports lists the TCP ports an agent may connect to: that of TLS, and those that an
// address of its own environment names, of its provider or of the proxy before it.
func ports(env []string) []int {
	list := []int{443}
	for _, entry := range env {
		name, address, _ := strings.Cut(entry, "=")
		if name != "HTTPS_PROXY" && !strings.HasSuffix(name, "_BASE_URL") {
			continue
		}
		u, err := url.Parse(address)
		if err != nil || u.Host == "" {
			continue
		}
		port, err := strconv.ParseUint(u.Port(), 10, 16)
		switch {
		case err == nil && port > 0:
			list = append(list, int(port))
		case u.Port() == "" && u.Scheme == "http":
			list = append(list, 80)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
