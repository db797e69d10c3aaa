// Package specs runs the executable part of the specification through the built
// command.
package specs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/executable-markdown/xmd/internal/cli"
)

// binary is the built command.
var binary string

// linked keeps the command's code in the test, so that a change of it makes a cached
// result stale.
var linked = cli.Main

func TestMain(m *testing.M) {
	if linked == nil {
		panic("no command")
	}
	dir, err := os.MkdirTemp("", "xmd-specs-")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "xmd")
	args := []string{"build", "-o", binary}
	if overlay := os.Getenv("XMD_TEST_OVERLAY"); overlay != "" { // of internal/defects
		args = append(args, "-overlay", overlay)
	}
	build := exec.Command("go", append(args, "../cmd/xmd")...)
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		panic(err)
	}
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

// A conformanceCase is one archive: files, a command line, and what must come of it.
type conformanceCase struct {
	name   string
	header map[string][]string
	inputs []txtar.File
	wants  []txtar.File
	ours   bool // marked as decided otherwise, or as a fault of the recorded program
}

func readCase(t *testing.T, path string) *conformanceCase {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	require.NoError(t, err)
	c := &conformanceCase{name: strings.TrimSuffix(filepath.Base(path), ".txtar"), header: map[string][]string{}}
	for line := range strings.Lines(string(archive.Comment)) {
		key, text, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "# "), ": ")
		if ok {
			c.header[key] = append(c.header[key], text)
		}
	}
	for _, f := range archive.Files {
		if strings.HasPrefix(f.Name, "want/") {
			c.wants = append(c.wants, f)
		} else {
			c.inputs = append(c.inputs, f)
		}
	}
	c.ours = c.has("decided") || c.has("upstream-bug")
	return c
}

func (c *conformanceCase) has(key string) bool { return len(c.header[key]) > 0 }

func (c *conformanceCase) first(key string) string {
	if !c.has(key) {
		return ""
	}
	return c.header[key][0]
}

func (c *conformanceCase) want(name string) (string, bool) {
	for _, f := range c.wants {
		if f.Name == "want/"+name {
			return string(f.Data), true
		}
	}
	return "", false
}

func (c *conformanceCase) argv() ([]string, error) {
	if text := c.first("argv"); text != "" {
		var words []string
		err := json.Unmarshal([]byte(text), &words)
		return words, err
	}
	return shellWords(c.first("args"))
}

// shellWords splits a line by the quoting rules of a POSIX shell.
func shellWords(line string) (words []string, err error) {
	var word strings.Builder
	open, quote := false, byte(0)
	for i := 0; i < len(line); i++ {
		ch := line[i]
		switch {
		case quote == '\'' && ch != '\'', quote == '"' && ch != '"' && ch != '\\':
			word.WriteByte(ch)
		case quote != 0 && ch == quote:
			quote = 0
		case ch == '\\' && i+1 < len(line):
			i++
			if quote == '"' && !strings.ContainsRune(`"\$`+"`", rune(line[i])) {
				word.WriteByte('\\')
			}
			word.WriteByte(line[i])
			open = true
		case ch == '\'' || ch == '"':
			quote, open = ch, true
		case ch == ' ' || ch == '\t':
			if open {
				words = append(words, word.String())
			}
			word.Reset()
			open = false
		default:
			word.WriteByte(ch)
			open = true
		}
	}
	if quote != 0 {
		return nil, errors.New("unclosed quote")
	}
	if open {
		words = append(words, word.String())
	}
	return words, nil
}

// outcome is what a run did.
type outcome struct {
	exit           int
	stdout, stderr string
	dir            string
}

func (c *conformanceCase) run(t *testing.T) outcome {
	t.Helper()
	dir := t.TempDir()
	for _, f := range c.inputs {
		data := f.Data
		if slices.Contains(c.header["crlf"], f.Name) {
			data = bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))
		}
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, data, 0o644))
	}
	words, err := c.argv()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, words...)
	cmd.Dir = dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "XMD_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, c.header["env"]...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	require.NoError(t, ctx.Err(), "the case did not end within a minute")
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String(), dir}
}

var (
	blanksBeforeNewline = regexp.MustCompile(`[ \t]+\n`)
	emptyLines          = regexp.MustCompile(`\n{3,}`)
)

// reduce is the comparison form of a standard output that is not exact.
func reduce(s string) string {
	s = blanksBeforeNewline.ReplaceAllString(s+"\n", "\n")
	s = emptyLines.ReplaceAllString(s, "\n\n")
	return strings.Trim(s, "\n")
}

// matches compares a text with an expected one in which [[*]] stands for anything.
func matches(want, got string) bool {
	if !strings.Contains(want, "[[*]]") {
		return want == got
	}
	parts := strings.Split(want, "[[*]]")
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	return regexp.MustCompile(`(?s)\A` + strings.Join(parts, ".*") + `\z`).MatchString(got)
}

// differences lists in what an outcome is not what the case wants.
func (c *conformanceCase) differences(o outcome) []string {
	var diff []string
	report := func(format string, args ...any) { diff = append(diff, fmt.Sprintf(format, args...)) }
	if (c.first("exit") == "0") != (o.exit == 0) {
		report("exit: want %s, got %d", c.first("exit"), o.exit)
	}
	trimmed := strings.Split(strings.ReplaceAll(c.first("no-final-newline"), " ", ""), ",")
	text := func(name, data string) string {
		if slices.Contains(trimmed, name) {
			return strings.TrimSuffix(data, "\n")
		}
		return data
	}
	if want, ok := c.want("stdout"); ok {
		want, got := text("stdout", want), o.stdout
		if c.first("exact") != "stdout" {
			want, got = reduce(want), reduce(got)
		}
		if !matches(want, got) {
			report("stdout:\n  want %q\n  got  %q", want, got)
		}
	}
	for name, got := range map[string]string{"stdout": o.stdout, "stderr": o.stderr} {
		want, _ := c.want(name + "-contains")
		for line := range strings.Lines(want) {
			if line = strings.TrimSuffix(line, "\n"); !strings.Contains(got, line) {
				report("%s lacks %q: %q", name, line, got)
			}
		}
	}
	lacks, _ := c.want("stdout-lacks")
	for line := range strings.Lines(lacks) {
		if line = strings.TrimSuffix(line, "\n"); strings.Contains(o.stdout, line) {
			report("stdout must not contain %q: %q", line, o.stdout)
		}
	}
	return append(diff, c.fileDifferences(o, text)...)
}

func (c *conformanceCase) fileDifferences(o outcome, text func(name, data string) string) []string {
	var diff []string
	expected := map[string]bool{}
	for _, f := range c.inputs {
		expected[f.Name] = true
	}
	for _, f := range c.wants {
		if name, ok := strings.CutPrefix(f.Name, "want/files/"); ok {
			expected[name] = true
			got, err := os.ReadFile(filepath.Join(o.dir, filepath.FromSlash(name)))
			if want := text("files/"+name, string(f.Data)); err != nil || string(got) != want {
				diff = append(diff, fmt.Sprintf("file %s:\n  want %q\n  got  %q %v", name, want, got, err))
			}
		}
		if name, ok := strings.CutPrefix(f.Name, "want/journal/"); ok {
			expected[name] = true
			got, err := traceOf(filepath.Join(o.dir, filepath.FromSlash(name)))
			if err != nil || got != string(f.Data) {
				diff = append(diff, fmt.Sprintf("trace %s:\n  want %q\n  got  %q %v", name, f.Data, got, err))
			}
		}
	}
	filepath.WalkDir(o.dir, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(o.dir, path)
		if err == nil && d.Type().IsRegular() && !expected[filepath.ToSlash(name)] {
			diff = append(diff, "unexpected file "+name)
		}
		return err
	})
	return diff
}

// traceOf projects a trace the way the cases write it.
func traceOf(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	type event struct {
		Type        string
		Description struct{ Type, Name string }
		Result      struct {
			Status string
			Value  map[string]any
		}
	}
	var b strings.Builder
	for line := range strings.Lines(string(data)) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil { // a value that is no object has no details
			var plain struct {
				Type        string
				Description struct{ Type, Name string }
				Result      struct{ Status string }
			}
			if err := json.Unmarshal([]byte(line), &plain); err != nil {
				return "", err
			}
			e.Type, e.Description, e.Result.Status = plain.Type, plain.Description, plain.Result.Status
		}
		v := e.Result.Value
		if e.Type == "close" {
			fmt.Fprintf(&b, "close %s", e.Result.Status)
			if s, ok := v["status"]; ok {
				fmt.Fprintf(&b, " %v", s)
			}
			b.WriteByte('\n')
			continue
		}
		fmt.Fprintf(&b, "yield %s %s %s", e.Description.Type, strings.Join(strings.Fields(e.Description.Name), " "), e.Result.Status)
		detail := func(format, member string) {
			if d, ok := v[member]; ok {
				fmt.Fprintf(&b, format, d)
			}
		}
		switch e.Description.Type {
		case "import_component":
			detail(" path=%v", "path")
			detail(" target=%v", "target")
		case "exec":
			detail(" exit=%v", "exitCode")
			for _, channel := range []string{"stdout", "stderr"} {
				if s, ok := v[channel].(string); ok {
					fmt.Fprintf(&b, " %s=%d", channel, len(s))
				}
			}
		case "loop_iteration":
			detail(" iteration=%v", "iteration")
		case "loop":
			detail(" iterations=%v", "iterations")
			detail(" outcome=%v", "outcome")
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}

// listedDifferences are the cases differences.md names with a reason.
func listedDifferences(t *testing.T) map[string]bool {
	t.Helper()
	page, err := os.ReadFile("differences.md")
	require.NoError(t, err)
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		listed[m[1]] = true
	}
	return listed
}

// TestConformance runs every case. A case this project decides otherwise may
// differ when it says so itself or differences.md lists it; what we do instead is
// pinned by TestPinned.
func TestConformance(t *testing.T) {
	paths, err := filepath.Glob("conformance/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	listed := listedDifferences(t)
	var mu sync.Mutex
	passed, differ := 0, 0
	t.Run("cases", func(t *testing.T) {
		for _, path := range paths {
			c := readCase(t, path)
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				diff := c.differences(c.run(t))
				mu.Lock()
				defer mu.Unlock()
				switch {
				case len(diff) == 0:
					passed++
					if listed[c.name] && !c.ours {
						t.Errorf("differences.md lists %s, which does not differ", c.name)
					}
				case c.ours || listed[c.name]:
					differ++
				default:
					t.Errorf("%s: %s", c.first("about"), strings.Join(diff, "\n"))
				}
			})
		}
	})
	fmt.Printf("conformance: %d passed, %d differ\n", passed, differ)
}

// TestPinned runs what we do instead where a conformance case differs: the cases
// of pinned/ have the same form and must hold without exception.
func TestPinned(t *testing.T) { runAll(t, "pinned/*.txtar") }

// TestCases runs our own cases of the language, in the same form. The part of a
// name before the first dash is the section of the page it pins.
func TestCases(t *testing.T) { runAll(t, "cases/*.txtar") }

func runAll(t *testing.T, pattern string) {
	paths, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		c := readCase(t, path)
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Empty(t, c.differences(c.run(t)), c.first("about"))
		})
	}
}
