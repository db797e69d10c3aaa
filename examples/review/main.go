// Command review shows a command that asks a person, with the answers written down
// beforehand: it runs the command, shows what it prints, and answers each of its
// questions on its page in a browser, as somebody would. Nothing but the page is
// used, so the command knows no difference.
//
//	go run ./examples/review -answers FILE -- xmd prompt "…"
//
// FILE has one answer after the other, separated by blank lines. An answer is a line
// "FIELD: VALUE" for each field it fills in, by the name the page shows. Of a choice
// the value is one of what is offered.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
)

func main() { os.Exit(run()) }

func run() int {
	answers := flag.String("answers", "", "the `file` with the answers")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: review -answers FILE -- COMMAND [ARGUMENT]...")
		flag.PrintDefaults()
	}
	flag.Parse()
	if *answers == "" || flag.NArg() == 0 {
		flag.Usage()
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	text, err := os.ReadFile(*answers)
	if err == nil {
		var script []answer
		if script, err = parse(string(text)); err == nil {
			err = play(ctx, flag.Args(), script, os.Stdout)
		}
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.Exited():
		return exit.ExitCode()
	case err != nil:
		fmt.Fprintln(os.Stderr, "review:", err)
		return 1
	}
	return 0
}

// An answer fills in the fields of one question.
type answer []entry

type entry struct{ field, value string }

// parse reads the answers of a file.
func parse(text string) ([]answer, error) {
	var all []answer
	var one answer
	for i, line := range strings.Split(text+"\n", "\n") {
		field, value, found := strings.Cut(line, ":")
		switch {
		case strings.TrimSpace(line) == "" && len(one) > 0:
			all, one = append(all, one), nil
		case strings.TrimSpace(line) == "":
		case !found:
			return nil, fmt.Errorf("line %d of the answers is not FIELD: VALUE", i+1)
		default:
			one = append(one, entry{strings.TrimSpace(field), strings.TrimSpace(value)})
		}
	}
	return all, nil
}

// announced is how a command says where a question waits.
var announced = regexp.MustCompile(`http://127\.0\.0\.1:\d+/\S+`)

// play runs a command and answers what it asks. Its output is shown as it comes.
func play(ctx context.Context, argv []string, script []answer, out io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stdout = out
	said, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		line := lines.Text()
		fmt.Fprintln(out, line)
		address := announced.FindString(line)
		if address == "" {
			continue
		}
		// Whatever goes wrong here, the command is told to stop and waited for.
		if len(script) == 0 {
			cancel(errors.New("the command asks more than there are answers"))
			continue
		}
		if err := reply(ctx, address, script[0], out); err != nil {
			cancel(err)
		}
		script = script[1:]
	}
	err = cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil && len(script) > 0:
		return fmt.Errorf("%d of the answers were never asked for", len(script))
	}
	return err
}

// reply shows the question at an address, and answers it.
func reply(ctx context.Context, address string, a answer, out io.Writer) error {
	page, err := open(ctx, address)
	if err != nil {
		return err
	}
	fmt.Fprintln(out)
	for line := range strings.Lines(strings.TrimRight(page.message, "\n")) {
		fmt.Fprintln(out, strings.TrimRight("  │ "+line, " \n"))
	}
	for _, e := range a {
		fmt.Fprintf(out, "  └ %s: %s\n", e.field, e.value)
	}
	fmt.Fprintln(out)
	return page.answer(ctx, a)
}
