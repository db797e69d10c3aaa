// Command startup compares what xmd costs to start with a Go program that only
// prints the same text. Both run alternately, so that a busy machine disturbs
// them alike.
//
//	go run ./internal/startup -runs 60 bin/xmd
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const hello = "# Hello\n\nThis is text.\n"

func main() {
	runs := flag.Int("runs", 60, "runs of each program")
	flag.Parse()
	if err := measure(flag.Arg(0), *runs); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func measure(xmd string, runs int) error {
	if xmd == "" {
		return errors.New("name the xmd binary")
	}
	dir, err := os.MkdirTemp("", "xmd-startup-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bare, err := buildBare(dir)
	if err != nil {
		return err
	}
	document := filepath.Join(dir, "hello.md")
	if err := os.WriteFile(document, []byte(hello), 0o644); err != nil {
		return err
	}
	small, large := filepath.Join(dir, "1000.md"), filepath.Join(dir, "10000.md")
	for path, n := range map[string]int{small: 1000, large: 10000} {
		if err := os.WriteFile(path, []byte(strings.Repeat("A line with an element <If condition={true}>inside</If>.\n", n)), 0o644); err != nil {
			return err
		}
	}
	times := make(map[string][]time.Duration)
	time := func(name, program string, args ...string) error {
		start := time.Now()
		if err := exec.Command(program, args...).Run(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		times[name] = append(times[name], time.Since(start))
		return nil
	}
	for range runs {
		if err := errors.Join(time("bare", bare), time("hello", xmd, "run", document)); err != nil {
			return err
		}
	}
	for range max(runs/6, 3) {
		if err := errors.Join(time("small", xmd, "run", small), time("large", xmd, "run", large)); err != nil {
			return err
		}
	}
	base, run := median(times["bare"]), median(times["hello"])
	fmt.Printf("start-up: bare Go program %v, xmd run hello.md %v, ratio %.2f (target: at most 4)\n", base, run, float64(run)/float64(base))
	s, l := median(times["small"]), median(times["large"])
	fmt.Printf("scaling: 1,000 elements %v, 10,000 elements %v, ratio %.2f; without start-up %.2f (target: at most 12)\n",
		s, l, float64(l)/float64(s), float64(l-run)/float64(max(s-run, 1)))
	return nil
}

// buildBare builds the program that only prints.
func buildBare(dir string) (string, error) {
	source := filepath.Join(dir, "bare.go")
	program := fmt.Sprintf("package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(%q) }\n", hello)
	if err := os.WriteFile(source, []byte(program), 0o644); err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "bare")
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", binary, source)
	build.Stderr = os.Stderr
	return binary, build.Run()
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2].Round(10 * time.Microsecond)
}
