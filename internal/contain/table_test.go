package contain

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/agent/acp"
)

// TestAG17_TheTable: what is open is the system, what was made for the agent, and
// nothing of anybody else's; and nothing can be written and run.
func TestAG17_TheTable(t *testing.T) {
	rules := table(acp.Paths{Home: "/h", Cwd: "/c", Runtime: []string{"/r"}, Read: []string{"/k"}, Write: []string{"/w"}})
	of := func(a access) (list []string) {
		for _, r := range rules {
			if r.Access == a {
				list = append(list, r.Path)
			}
		}
		return list
	}
	require.Equal(t, []string{"/w", "/h"}, of(toWrite))
	require.Equal(t, []string{"/c"}, of(toList))
	require.Equal(t, []string{"/usr", "/bin", "/lib", "/lib64", "/nix/store", "/r"}, of(toRun))
	require.Equal(t, []string{"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"}, of(toUse))
	require.Contains(t, of(toRead), "/k")
	for _, r := range rules {
		own := slices.Contains([]string{"/h", "/c", "/r", "/k", "/w"}, r.Path)
		require.Equal(t, !own, r.Optional, "%s: what an agent was promised is required", r.Path)
		for _, closed := range []string{"/", "/home", "/root", "/run", "/var", "/tmp", "/etc", "/proc", "/dev", "/dev/tty"} {
			require.NotEqual(t, closed, r.Path)
		}
		require.False(t, strings.HasPrefix(r.Path, "/run") || strings.HasPrefix(r.Path, "/var"))
	}
}

func TestAG17_ThePorts(t *testing.T) {
	for _, c := range []struct {
		env  string
		want []int
	}{
		{"A=b", []int{443}},
		{"X_BASE_URL=http://127.0.0.1:9000/v1", []int{443, 9000}},
		{"X_BASE_URL=https://host/v1", []int{443}},
		{"X_BASE_URL=http://host", []int{80, 443}},
		{"X_BASE_URL=http://host:0", []int{443}},
		{"X_BASE_URL=http://host:70000", []int{443}},
		{"X_BASE_URL=9000", []int{443}},
		{"HTTPS_PROXY=http://proxy:3128", []int{443, 3128}},
		{"OTHER_URL=http://127.0.0.1:22", []int{443}},
	} {
		require.Equal(t, c.want, ports([]string{c.env}), c.env)
	}
}

func FuzzOrders(f *testing.F) {
	f.Add(`{"parent":1,"abi":7,"rules":[{"access":"run","path":"/usr"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = read(strings.NewReader(text))
		_ = ports([]string{"X_BASE_URL=" + text})
	})
}
