// Command defects shows that the tests of the untrusted path, and of planning with an
// Agent, can fail.
//
// Each rule of the specification that a mistake could silently break has a
// deliberate defect: a small change of the product's code. This program puts one
// after the other in place, without touching a file of the project, runs the tests
// that are named after rows of the test matrix the defect belongs to
// (specs/fragments.md, or specs/prompt-command-spec.md and specs/acp-client-spec.md),
// and says which rows went red. A defect that reddens other rows than it names, or none, is an
// error.
//
//	go run ./internal/defects [NAME...]
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A defect replaces old, which occurs exactly once in file, by new; then the tests
// of exactly these rows fail.
type defect struct {
	name     string
	file     string
	old, new string
	rows     []string
}

// A matrix is the tests that are named after its rows.
type matrix struct {
	run   string // what go test -run selects them by
	row   *regexp.Regexp
	rooms []string
}

// fragments is the matrix of the untrusted path, planning that of Agents under the
// ceiling and what is made with them.
func fragments() matrix {
	return matrix{
		run: `^Test((A|EL)[0-9]+|WGAC18)_`,
		row: regexp.MustCompile(`^Test((?:A|EL)[0-9]+|WGAC18)_`),
		rooms: []string{"./admission", "./capability", "./wasm", "./sandbox", "./internal/document", "./internal/host", "./internal/subset",
			"./internal/component", "./internal/differential", "./specs", "./cmd/xmd"},
	}
}

func planning() matrix {
	return matrix{
		run:   `^Test(PR|AG)[0-9]+_`,
		row:   regexp.MustCompile(`^Test((?:PR|AG)[0-9]+)_`),
		rooms: []string{"./agent/...", "./plan", "./internal/component", "./internal/contain", "./internal/elicit", "./internal/cli", "./cmd/xmd"},
	}
}

// matrix is the one the rows of a defect belong to.
func (d defect) matrix() matrix {
	if strings.HasPrefix(d.rows[0], "PR") || strings.HasPrefix(d.rows[0], "AG") {
		return planning()
	}
	return fragments()
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(names []string) error {
	wrong, sound := 0, map[string]bool{}
	for _, d := range defects {
		if len(names) > 0 && !slices.Contains(names, d.name) {
			continue
		}
		if m := d.matrix(); !sound[m.run] {
			red, err := m.redRows("")
			if err != nil {
				return err
			}
			if len(red) > 0 {
				return fmt.Errorf("rows are red without any defect: %s", strings.Join(red, " "))
			}
			sound[m.run] = true
		}
		start := time.Now()
		red, err := d.try()
		took := time.Since(start).Round(time.Second)
		switch {
		case err != nil:
			wrong++
			fmt.Printf("FAIL  %-34s %v\n", d.name, err)
		case !slices.Equal(red, d.rows):
			wrong++
			fmt.Printf("FAIL  %-34s red: %s; named: %s (%s)\n", d.name, list(red), list(d.rows), took)
		default:
			fmt.Printf("ok    %-34s red: %s (%s)\n", d.name, list(red), took)
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d defects did not do what they name", wrong, len(defects))
	}
	return nil
}

func list(rows []string) string {
	if len(rows) == 0 {
		return "none"
	}
	return strings.Join(rows, " ")
}

// mutate returns the changed text of the defect's file.
func (d defect) mutate() ([]byte, error) {
	text, err := os.ReadFile(d.file)
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(text, []byte(d.old)); n != 1 {
		return nil, fmt.Errorf("%s holds the text to replace %d times", d.file, n)
	}
	return bytes.Replace(text, []byte(d.old), []byte(d.new), 1), nil
}

// try runs the rows with the defect in place.
func (d defect) try() ([]string, error) {
	text, err := d.mutate()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "xmd-defect-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	original, err := filepath.Abs(d.file)
	if err != nil {
		return nil, err
	}
	changed := filepath.Join(dir, "changed.go")
	overlay := filepath.Join(dir, "overlay.json")
	plan, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.WriteFile(changed, text, 0o600), os.WriteFile(overlay, plan, 0o600)); err != nil {
		return nil, err
	}
	return d.matrix().redRows(overlay)
}

// redRows runs the tests named after rows and returns the rows that failed, in
// order. The tests build the command they drive with the overlay too, which they
// find in XMD_TEST_OVERLAY.
func (m matrix) redRows(overlay string) ([]string, error) {
	args := []string{"test", "-short", "-json", "-run", m.run}
	cmd := exec.Command("go")
	if overlay != "" {
		args = append(args, "-overlay", overlay)
		cmd.Env = append(os.Environ(), "XMD_TEST_OVERLAY="+overlay)
	}
	cmd.Args = append(append([]string{"go"}, args...), m.rooms...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	var red []string
	for scanner := bufio.NewScanner(bytes.NewReader(out)); scanner.Scan(); {
		var event struct{ Action, Test, Package, Output string }
		if json.Unmarshal(scanner.Bytes(), &event) != nil {
			continue
		}
		switch {
		case event.Action == "build-fail", event.Action == "build-output" && strings.Contains(event.Output, "[build failed]"):
			return nil, errors.New("the changed code does not compile")
		case event.Action == "fail" && event.Test == "" && !hasRow(out, event.Package):
			return nil, fmt.Errorf("%s failed outside its tests", event.Package)
		case event.Action == "fail":
			if row := m.row.FindStringSubmatch(event.Test); row != nil && !slices.Contains(red, row[1]) {
				red = append(red, row[1])
			}
		}
	}
	slices.SortFunc(red, compareRows)
	return red, nil
}

// hasRow reports whether a test of the package failed, so that the package's own
// failure needs no other reason.
func hasRow(out []byte, pkg string) bool {
	for line := range bytes.Lines(out) {
		var event struct{ Action, Test, Package string }
		if json.Unmarshal(line, &event) == nil && event.Action == "fail" && event.Package == pkg && event.Test != "" {
			return true
		}
	}
	return false
}

// compareRows orders A2 before A10, and A before EL before WGAC18.
func compareRows(a, b string) int {
	letters := func(s string) string { return strings.TrimRight(s, "0123456789") }
	if c := strings.Compare(letters(a), letters(b)); c != 0 {
		return c
	}
	if c := len(a) - len(b); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}
