package component

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/host"
)

func TestGlob(t *testing.T) {
	m := &memory{texts: map[string]string{workingDirectory + "/b.md": "", workingDirectory + "/a/c.md": ""}}
	o := run(t, `<Glob include={["**/*.md", "x"]} exclude={["y"]} as="g" /><Json value={g} /> <Glob include={["*"]} as="g" />{g.length}`, world{files: m})
	require.Equal(t, "[\n  \"a/c.md\",\n  \"b.md\"\n] 2", o.ok(t))
	require.Equal(t, []string{
		`glob /home/site ["**/*.md" "x"] ["y"]`,
		`glob /home/site ["*"] []`,
	}, m.log, "the provider is asked once")
	m = &memory{}
	require.Equal(t, "[]", run(t, `<Glob include={["*"]} as="g" /><Json value={g} />`, world{files: m}).ok(t))
}

// Patterns that could select nothing here are refused before the provider is
// asked.
func TestGlobPatterns(t *testing.T) {
	for _, c := range []struct{ source, message string }{
		{`<Glob include={["a", ""]} as="g" />`, `<Glob> has an empty pattern in include, which matches nothing; give one relative to the working directory`},
		{`<Glob include={["a"]} exclude={[""]} as="g" />`, `<Glob> has an empty pattern in exclude, which matches nothing; give one relative to the working directory`},
		{`<Glob include={["/etc/*"]} as="g" />`, `<Glob> has the absolute pattern "/etc/*" in include; give one relative to the working directory`},
		{`<Glob include={["C:/x"]} as="g" />`, `<Glob> has the absolute pattern "C:/x" in include; give one relative to the working directory`},
		{`<Glob include={["a"]} exclude={["/"]} as="g" />`, `<Glob> has the absolute pattern "/" in exclude; give one relative to the working directory`},
		{`<Glob include={["../*"]} as="g" />`, `<Glob> has the pattern "../*" in include, which reaches outside the working directory`},
		{`<Glob include={[".."]} as="g" />`, `<Glob> has the pattern ".." in include, which reaches outside the working directory`},
	} {
		m := &memory{}
		o := run(t, c.source+"{g}", world{files: m})
		o.printed(t, c.message)
		require.Contains(t, o.Output, "-->{g}")
		require.Empty(t, m.log)
	}
}

func TestGlobFailures(t *testing.T) {
	for _, c := range []struct{ phase, reason, message string }{
		{host.PhasePattern, host.InvalidPattern, `<Glob> cannot use one of these patterns: "a[", "b"`},
		{host.PhaseResolution, host.Missing, `<Glob> cannot search the working directory: it does not exist`},
		{host.PhaseTarget, host.NotDirectory, `<Glob> cannot search the working directory: it is not a directory`},
		{host.PhaseTraversal, host.PermissionDenied, `<Glob> cannot search the working directory: permission denied`},
		{host.PhaseTraversal, host.Missing, `<Glob> cannot search the working directory: no such file or directory`},
		{host.PhaseTraversal, "made-up", `<Glob> cannot search the working directory: the filesystem operation failed`},
	} {
		m := &memory{failures: map[string]error{host.OpGlob: &host.FileError{Operation: host.OpGlob, Phase: c.phase, Reason: c.reason}}}
		run(t, `<Glob include={["a["]} exclude={["b"]} as="g" />`, world{files: m}).printed(t, c.message)
	}
}

// The machine's own provider, for the phases a message depends on.
func TestGlobOnDisk(t *testing.T) {
	for source, message := range map[string]string{
		`<Dir path={"` + t.TempDir() + `/none"}><Glob include={["*"]} as="g" /></Dir>`: `<Glob> cannot search the working directory: it does not exist`,
		`<Dir path="/dev/null"><Glob include={["*"]} as="g" /></Dir>`:                  `<Glob> cannot search the working directory: it is not a directory`,
		`<Dir path={"` + t.TempDir() + `"}><Glob include={["a["]} as="g" /></Dir>`:     `<Glob> cannot use one of these patterns: "a["`,
	} {
		run(t, source, world{files: host.NewFiles()}).printed(t, message)
	}
}
