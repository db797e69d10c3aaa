package acp

import (
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/executable-markdown/xmd/agent"
)

// environ turns an environment into a map; of a name written twice the last counts.
func environ(list []string) map[string]string {
	m := make(map[string]string, len(list))
	for _, entry := range list {
		if name, v, ok := strings.Cut(entry, "="); ok && name != "" {
			m[name] = v
		}
	}
	return m
}

func listed(m map[string]string) []string {
	list := make([]string, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		list = append(list, name+"="+m[name])
	}
	return list
}

// ordinaryEnv is the invoker's environment and what the entry sets (agents 14.4).
func ordinaryEnv(snapshot []string, c agent.Command) []string {
	m := environ(snapshot)
	maps.Copy(m, c.Env)
	return listed(m)
}

// constrainedEnv is built from nothing: what a program needs to run in its private
// home, what its profile needs to reach its provider, and what the entry names.
// Programs are found in the directories of the adapter and of the system alone.
func constrainedEnv(snapshot []string, c agent.Command, p Profile, home string, programs []string) []string {
	from := environ(snapshot)
	m := map[string]string{}
	for _, name := range slices.Concat(p.Credentials, []string{"HTTPS_PROXY", "NO_PROXY"}, c.PassEnv) {
		if v, ok := from[name]; ok && !withheld(name, v) {
			m[name] = v
		}
	}
	for name, v := range p.Variables {
		if rest, ok := strings.CutPrefix(v, "~"); ok {
			v = home + rest
		}
		m[name] = v
	}
	for name, v := range c.Env {
		if !withheld(name, v) {
			m[name] = v
		}
	}
	path := append(slices.Clone(programs), "/usr/local/bin", "/usr/bin", "/bin")
	maps.Copy(m, map[string]string{
		"PATH": strings.Join(path, string(filepath.ListSeparator)),
		"HOME": home, "TMPDIR": filepath.Join(home, "tmp"), "LANG": "C.UTF-8", "NO_COLOR": "1", "NO_BROWSER": "1",
		"XDG_CONFIG_HOME": filepath.Join(home, ".config"), "XDG_CACHE_HOME": filepath.Join(home, ".cache"),
		"XDG_DATA_HOME": filepath.Join(home, ".local/share"), "XDG_STATE_HOME": filepath.Join(home, ".local/state"),
	})
	return listed(m)
}

// withheld says whether a variable never reaches a constrained agent, whoever names
// it.
func withheld(name, v string) bool {
	upper := strings.ToUpper(name)
	if agent.ForbiddenVariable(name) || upper == "PWD" || upper == "OLDPWD" {
		return true
	}
	for _, prefix := range []string{"XMD_", "GIT_", "SSH_", "AWS_", "GITHUB_"} {
		if strings.HasPrefix(upper, prefix) {
			return true
		}
	}
	return strings.HasSuffix(upper, "_PROXY") && upper != "NO_PROXY" && (upper != "HTTPS_PROXY" || !plainProxy(v))
}

// plainProxy says whether a proxy address carries no user and password.
func plainProxy(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.User == nil && !strings.Contains(address, "@")
}

// names lists the names of an environment.
func names(env []string) []string {
	list := make([]string, len(env))
	for i, entry := range env {
		list[i], _, _ = strings.Cut(entry, "=")
	}
	return list
}
