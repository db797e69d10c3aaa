package acp_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/agent"
	"github.com/executable-markdown/xmd/agent/acp"
)

// A shop is a constrained provider of an agent that is not installed, with an npm and a
// node that only seem to be ones: npm puts a package down, and node is the scripted
// agent.
type shop struct {
	*hall
	bin, adapters string
}

const seemingNPM = `#!/bin/sh
echo "$PWD $*" >>"LOG"
SAYS
[ "$1" = install ] || exit 9
mkdir -p "node_modules/@zed-industries/claude-code-acp/dist"
echo '{"name":"x","bin":{"claude-code-acp":"dist/index.js"}}' >"node_modules/@zed-industries/claude-code-acp/package.json"
echo 'a program' >"node_modules/@zed-industries/claude-code-acp/dist/index.js"
`

func newShop(t *testing.T, says string) *shop {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell to play npm")
	}
	s := &shop{}
	s.hall = newHall(t, answers, func(o *acp.CeilingOptions, e agent.Entry) {
		dir := filepath.Dir(o.Homes.Name())
		s.bin, s.adapters = filepath.Join(dir, "bin"), filepath.Join(dir, "adapters")
		require.NoError(t, os.MkdirAll(s.bin, 0o700))
		write := func(name, text string) {
			require.NoError(t, os.WriteFile(filepath.Join(s.bin, name), []byte(text), 0o700))
		}
		write("npm", strings.NewReplacer("LOG", filepath.Join(dir, "log"), "SAYS", says).Replace(seemingNPM))
		write("npx", "#!/bin/sh\necho npx >>"+filepath.Join(dir, "log")+"\n")
		write("node", "#!/bin/sh\necho \"node $*\" >>"+filepath.Join(dir, "log")+"\nACP_TEST_AS_XMD=1 exec "+strings.Join(e.Command, " ")+"\n")
		o.LookPath = func(name string) (string, error) {
			if path := filepath.Join(s.bin, name); fileExists(path) {
				return path, nil
			}
			return "", errors.New("it is not installed")
		}
		o.Adapters, o.DefaultAgent = s.adapters, "claude"
		o.Env = append(o.Env, "PATH="+os.Getenv("PATH"))
	})
	return s
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (s *shop) log() []string {
	text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return strings.Fields(strings.ReplaceAll(string(text), s.adapters, "A"))
}

// TestAG10_AnAgentIsInstalledWhenItIsAskedFor, once, without its scripts, and whole.
func TestAG10_AnAgentIsInstalledWhenItIsAskedFor(t *testing.T) {
	s := newShop(t, "")
	s.enter()
	require.Empty(t, s.log(), "nothing is fetched before it is asked for")
	require.NoDirExists(t, s.adapters)
	require.Equal(t, "one\n", s.say(agent.PromptOptions{}).text)
	require.NoError(t, s.Close(t.Context()))
	log := strings.Join(s.log(), " ")
	require.Contains(t, log, "install --ignore-scripts")
	require.Contains(t, log, "@zed-industries/claude-code-acp@0.16.2")
	require.NotContains(t, log, "npx")
	place := left(t, s.adapters)
	require.Len(t, place, 2, "the package and its lock: %v", place)
	require.Len(t, place[0], 64)
	require.FileExists(t, filepath.Join(s.adapters, place[0], "installed.json"))
	require.Contains(t, log, "node A/"+place[0]+"/node_modules/@zed-industries/claude-code-acp/dist/index.js")

	require.NoError(t, os.Remove(filepath.Join(s.bin, "npm")))
	s.enter()
	require.Equal(t, "one\n", s.say(agent.PromptOptions{}).text, "what is installed needs no npm")
	require.NoError(t, s.Close(t.Context()))

	s.options.Adapters = ""
	_, err := acp.NewConstrained(s.options)
	require.ErrorIs(t, err, agent.ErrUnavailable, "without a place nothing is fetched")
}

// TestAG10_APackageThatCannotBeInstalled makes its agent unavailable, and leaves
// nothing that would be taken for one.
func TestAG10_APackageThatCannotBeInstalled(t *testing.T) {
	for name, c := range map[string]struct {
		says    string
		missing string
		want    string
	}{
		"npm fails":     {"echo 'E404 token=abcdefgh' >&2; exit 1", "", "npm said: E404 ***"},
		"no npm":        {"", "npm", "npm, which fetches it, is not installed"},
		"no node":       {"", "node", "node, which runs it, is not installed"},
		"nothing comes": {"exit 0", "", "it has no manifest"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t, c.says)
			if c.missing != "" {
				require.NoError(t, os.Remove(filepath.Join(s.bin, c.missing)))
			}
			s.enter()
			err := s.say(agent.PromptOptions{}).err
			var failure *agent.Error
			require.ErrorAs(t, err, &failure)
			require.Equal(t, []any{agent.ErrUnavailable, agent.ReasonPrepareFailed}, []any{failure.Code, failure.Reason})
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, "npm install -g @zed-industries/claude-code-acp@0.16.2")
			require.NoError(t, s.Close(t.Context()))
			require.Empty(t, left(t, s.root))
			require.Empty(t, left(t, s.homes))
			if entries, err := os.ReadDir(s.adapters); err == nil {
				for _, e := range entries {
					require.True(t, strings.HasSuffix(e.Name(), ".lock"), e.Name())
				}
			}
		})
	}
}

// TestAG10_AnInstallationThatWasCutShort is done again, and one that is cancelled ends
// with what it started.
func TestAG10_AnInstallationThatWasCutShort(t *testing.T) {
	s := newShop(t, "sleep 60")
	s.enter()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, hear(ctx, s.Prompt("x", agent.PromptOptions{})).err, context.DeadlineExceeded)
	require.NoError(t, s.Close(t.Context()))

	s = newShop(t, "")
	s.enter()
	require.NoError(t, s.say(agent.PromptOptions{}).err)
	require.NoError(t, s.Close(t.Context()))
	place := filepath.Join(s.adapters, left(t, s.adapters)[0])
	require.NoError(t, os.Remove(filepath.Join(place, "installed.json")))
	stray := place + ".tmp-1"
	require.NoError(t, os.MkdirAll(stray, 0o700))
	s.enter()
	require.NoError(t, s.say(agent.PromptOptions{}).err)
	require.NoError(t, s.Close(t.Context()))
	require.FileExists(t, filepath.Join(place, "installed.json"))
	require.NoDirExists(t, stray)
	require.Equal(t, 2, strings.Count(strings.Join(s.log(), " "), "--ignore-scripts"))
}

// TestAG10_TwoWhoAskInstallOnce.
func TestAG10_TwoWhoAskInstallOnce(t *testing.T) {
	s := newShop(t, "")
	var wait sync.WaitGroup
	errs := make([]error, 2)
	for i := range errs {
		o := s.options
		o.Session = []string{"a", "b"}[i]
		p, err := acp.NewConstrained(o)
		require.NoError(t, err)
		wait.Go(func() {
			_, asked := p.Agent(t.Context(), "")
			errs[i] = errors.Join(asked, p.Close(t.Context()))
		})
	}
	wait.Wait()
	require.NoError(t, errors.Join(errs...))
	require.Equal(t, 1, strings.Count(strings.Join(s.log(), " "), "--ignore-scripts"))
}
