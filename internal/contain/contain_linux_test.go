package contain_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/executable-markdown/xmd/agent/acp"
	"github.com/executable-markdown/xmd/internal/contain"
)

// TestMain makes the test binary what it is started as: the shim, a program that says
// what it finds, an agent that means harm, or one of what that leaves behind.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case contain.Command:
			descriptor, _ := strconv.Atoi(os.Args[3])
			status, err := contain.Enter(descriptor, os.Args[5:])
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
			os.Exit(status)
		case "observe":
			observe()
			os.Exit(3)
		case "hostile":
			hostile()
			os.Exit(0)
		case "survive":
			survive(os.Args[2])
			os.Exit(0)
		case "older-kernel":
			older(os.Args[2:])
		}
	}
	os.Exit(m.Run())
}

// A sight is what a contained program finds.
type sight struct {
	NoNewPrivs, Seccomp, Bounding, Effective string
	Pid                                      int
	Limits                                   map[string]string
	Arguments                                []string
	Descriptors                              []string
	Home, Cwd, Outside                       string
}

func observe() {
	status, _ := os.ReadFile("/proc/self/status")
	field := func(name string) string {
		for line := range strings.Lines(string(status)) {
			if rest, ok := strings.CutPrefix(line, name+":"); ok {
				return strings.TrimSpace(rest)
			}
		}
		return ""
	}
	s := sight{
		NoNewPrivs: field("NoNewPrivs"), Seccomp: field("Seccomp"), Bounding: field("CapBnd"), Effective: field("CapEff"),
		Pid: os.Getpid(), Arguments: os.Args, Limits: map[string]string{},
	}
	limits, _ := os.ReadFile("/proc/self/limits")
	for line := range strings.Lines(string(limits)) {
		if len(line) > 46 {
			s.Limits[strings.TrimSpace(line[:26])] = strings.TrimSpace(line[26:46])
		}
	}
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		link, _ := os.Readlink(filepath.Join("/proc/self/fd", e.Name()))
		s.Descriptors = append(s.Descriptors, link)
	}
	s.Home = says(os.WriteFile(filepath.Join(os.Getenv("HOME"), "kept"), []byte("x"), 0o600))
	s.Cwd = says(os.WriteFile("left", []byte("x"), 0o600))
	_, err := os.ReadFile(os.Getenv("OUTSIDE"))
	s.Outside = says(err)
	_ = json.NewEncoder(os.Stdout).Encode(s)
}

func says(err error) string {
	if err == nil {
		return "done"
	}
	return "refused"
}

// need skips a test on a kernel that cannot be asked for what it is about.
func need(t *testing.T, level int) *contain.Kernel {
	t.Helper()
	k := contain.New()
	if got, abi := k.Level(); got < level {
		t.Skipf("the kernel contains at level %d with version %d of Landlock; this needs level %d", got, abi, level)
	}
	return k
}

// A room is a command of the test binary and the paths it gets.
type room struct {
	paths acp.Paths
	cmd   *exec.Cmd
}

func newRoom(t *testing.T, words ...string) *room {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	r := &room{paths: acp.Paths{Home: filepath.Join(dir, "home"), Cwd: filepath.Join(dir, "cwd"), Runtime: []string{self}}}
	for _, at := range []string{r.paths.Home, r.paths.Cwd} {
		require.NoError(t, os.Mkdir(at, 0o700))
	}
	outside := filepath.Join(dir, "outside")
	require.NoError(t, os.WriteFile(outside, []byte("canary"), 0o600))
	r.cmd = exec.Command(self, words...)
	r.cmd.Dir, r.cmd.Env = r.paths.Cwd, []string{"HOME=" + r.paths.Home, "OUTSIDE=" + outside}
	return r
}

// output runs the command and returns what it wrote, its complaints and its status.
func (r *room) output(t *testing.T) (out, complaint string, status int) {
	t.Helper()
	var wrote, complained strings.Builder
	r.cmd.Stdout, r.cmd.Stderr = &wrote, &complained
	err := r.cmd.Run()
	for _, f := range r.cmd.ExtraFiles {
		_ = f.Close()
	}
	if err != nil {
		require.NotNil(t, r.cmd.ProcessState, "%v", err)
	}
	return wrote.String(), complained.String(), r.cmd.ProcessState.ExitCode()
}

// TestAG18_WhatAContainedProgramFinds: no privilege to gain, bounded resources, its
// home, and nothing of anybody else's.
func TestAG18_WhatAContainedProgramFinds(t *testing.T) {
	k := need(t, 2)
	r := newRoom(t, "observe", "a word")
	outside := filepath.Join(filepath.Dir(r.paths.Home), "outside")
	opened, err := os.Open(outside)
	require.NoError(t, err)
	t.Cleanup(func() { _ = opened.Close() })
	_, err = unix.FcntlInt(opened.Fd(), unix.F_SETFD, 0)
	require.NoError(t, err)
	require.NoError(t, k.Contain(r.cmd, r.paths))
	for _, word := range r.cmd.Args[5:] {
		require.NotContains(t, word, r.paths.Home, "the list of processes shows the command and no more")
	}
	out, complaint, status := r.output(t)
	require.Equal(t, 3, status, "%s", complaint)
	var s sight
	require.NoError(t, json.Unmarshal([]byte(out), &s))
	require.Equal(t, "1", s.NoNewPrivs)
	require.Equal(t, "2", s.Seccomp)
	require.Equal(t, "0000000000000000", s.Effective)
	if os.Getuid() == 0 {
		require.Equal(t, "0000000000000000", s.Bounding)
	}
	require.Equal(t, "0", s.Limits["Max core file size"])
	require.Equal(t, "1024", s.Limits["Max open files"])
	require.Equal(t, "268435456", s.Limits["Max file size"])
	require.Equal(t, "a word", s.Arguments[2])
	require.NotEmpty(t, s.Descriptors)
	require.NotContains(t, s.Descriptors, outside, "what was open before is not left to the program")
	require.Equal(t, "done", s.Home)
	require.Equal(t, "refused", s.Cwd)
	require.Equal(t, "refused", s.Outside)
	if level, _ := k.Level(); level == 3 {
		require.Less(t, s.Pid, 20, "its processes are numbered apart")
	}
}

// TestAG18_WhatCannotBeAppliedRefuses: the program never begins.
func TestAG18_WhatCannotBeAppliedRefuses(t *testing.T) {
	k := need(t, 2)
	for name, change := range map[string]func(*room){
		"a path that is missing": func(r *room) { r.paths.Home = filepath.Join(r.paths.Home, "none") },
		"an older kernel":        func(r *room) {},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRoom(t, "observe")
			change(r)
			require.NoError(t, k.Contain(r.cmd, r.paths))
			if name == "an older kernel" {
				r.cmd.Args = append([]string{"xmd", "older-kernel"}, r.cmd.Args[1:]...)
			}
			out, complaint, status := r.output(t)
			require.Equal(t, acp.ContainmentFailed, status, "%s", out)
			require.Empty(t, out)
			require.Contains(t, complaint, "it could not be contained")
			require.NotContains(t, complaint, r.paths.Home)
		})
	}
}

// TestAG18_TheShimIsOfNoUse to somebody else: without its orders it runs nothing.
func TestAG18_TheShimIsOfNoUse(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	for name, orders := range map[string]string{
		"nothing":           "",
		"no JSON":           "x",
		"unknown order":     `{"parent":1,"abi":0,"widen":true}`,
		"more":              `{"parent":1,"abi":0} {}`,
		"another parent":    fmt.Sprintf(`{"parent":%d,"abi":0}`, os.Getppid()),
		"no namespaces":     fmt.Sprintf(`{"parent":%d,"abi":0,"namespaces":true}`, os.Getpid()),
		"a low version":     fmt.Sprintf(`{"parent":%d,"abi":2}`, os.Getpid()),
		"an unknown access": fmt.Sprintf(`{"parent":%d,"abi":3,"rules":[{"access":"all","path":"/"}]}`, os.Getpid()),
	} {
		t.Run(name, func(t *testing.T) {
			r, w, err := os.Pipe()
			require.NoError(t, err)
			_, err = io.WriteString(w, orders)
			require.NoError(t, err)
			require.NoError(t, w.Close())
			cmd := exec.Command(self, contain.Command, "--spec", "3", "--", self, "observe")
			cmd.ExtraFiles = []*os.File{r}
			out, err := cmd.Output()
			require.NoError(t, r.Close())
			require.Empty(t, out)
			require.Error(t, err)
			require.Equal(t, acp.ContainmentFailed, cmd.ProcessState.ExitCode())
		})
	}
	cmd := exec.Command(self, contain.Command, "--spec", "0", "--", self, "observe")
	out, err := cmd.Output()
	require.Error(t, err)
	require.Empty(t, out)
	require.Equal(t, acp.ContainmentFailed, cmd.ProcessState.ExitCode())
}
