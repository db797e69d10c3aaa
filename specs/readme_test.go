package specs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadmeShowsRealOutput: what the README shows is what the commands print.
func TestReadmeShowsRealOutput(t *testing.T) {
	page, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	show := func(dir string, args ...string) string {
		cmd := exec.Command(binary, args...)
		cmd.Dir = dir
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		_ = cmd.Run() // one of them fails, and shows how
		return strings.TrimRight(out.String(), "\n")
	}
	require.Contains(t, string(page), "```\n"+show("../examples", "run", "tour.md", "--props-name", "Ada")+"\n```")
	require.Contains(t, string(page), "```\n"+show("../examples", "run", "evaluate.md", "--profile", "observer.yaml")+"\n```")
	admit := []string{"admit", "--profile", "observer.yaml", "fragments/read-two.md", "fragments/read-third.md"}
	require.Contains(t, string(page), "$ xmd "+strings.Join(admit, " ")+"\n"+show("../examples", admit...)+"\n```")
	source := `The sum is <Let as="n" value={one + 1} />{n}.`
	shown := strings.Replace(show(t.TempDir(), "run", "-e", source), "The sum is ", "The sum is \n", 1)
	require.Contains(t, string(page), "$ xmd run -e '"+source+"'\n"+shown+"\n```")
}

// TestReadmeShowsTheMainJob: what the README shows of xmd prompt is what the last part
// of make run prints, but for the addresses of the questions.
func TestReadmeShowsTheMainJob(t *testing.T) {
	page, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	_, shown, found := strings.Cut(string(page), "```\n$ xmd prompt ")
	require.True(t, found)
	shown, _, found = strings.Cut(shown, "\n```\n\nThe document then prints")
	require.True(t, found)
	cmd := exec.Command("make", "-s", "run")
	cmd.Dir = ".."
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	_, printed, found := strings.Cut(string(out), "$ xmd prompt ")
	require.True(t, found, "%s", out)
	address := regexp.MustCompile(`\n+A question waits for its answer at .*\n`)
	require.True(t, strings.HasPrefix(address.ReplaceAllString(printed, "\n"), shown), "%s", printed)
	require.True(t, strings.HasSuffix(printed, "\n$ cat age.txt\nYou are 36 years old.\n"), "%s", printed)
}

// TestExamplesRun: every example is valid and does what its description says.
func TestExamplesRun(t *testing.T) {
	run := func(args ...string) string {
		cmd := exec.Command(binary, args...)
		cmd.Dir = "../examples"
		out, err := cmd.Output()
		require.NoError(t, err, "%v", args)
		return string(out)
	}
	documents, err := filepath.Glob("../examples/*.md")
	require.NoError(t, err)
	for _, path := range documents {
		require.Contains(t, run("check", filepath.Base(path)), "valid")
	}
	require.Regexp(t, `(?s)- first: \s*the slow command.*- second: \s*the quick command`, run("parallel.md"))
	require.Equal(t, "{\"words\":4,\"longest\":\"quick\"}\n", run("value.md", "--props-text", "a quick brown fox"))
}

// TestReadmeMakefileRunsTheTour: the first command of the README runs what it shows.
func TestReadmeMakefileRunsTheTour(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	require.NoError(t, err)
	require.Contains(t, string(makefile), "cd examples && ../bin/xmd run tour.md --props-name Ada")
	require.Contains(t, string(makefile), "cd examples && ../bin/xmd run evaluate.md --profile observer.yaml")
}
