// Command host shows how a Go program runs what a model wrote: it states a profile,
// judges the text, and evaluates it under exactly that profile. Nothing else of xmd
// is needed.
//
//	go run ./examples/host < examples/fragments/read-two.md
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/executable-markdown/xmd/admission"
	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/sandbox"
	"github.com/executable-markdown/xmd/wasm"
)

func main() {
	if err := run(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, in io.Reader, out io.Writer) error {
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	grant, end, err := grant(ctx)
	if err != nil {
		return err
	}
	defer end()

	// 1. Judge the whole text. Nothing has happened when it is refused.
	decision := admission.Preflight("example", string(text), grant)
	if decision.Refusal != nil {
		return decision.Refusal
	}
	for _, named := range decision.Named {
		fmt.Fprintf(out, "%d:%d <%s> is %s\n", named.Line, named.Column, named.Name, named.Identity)
	}

	// 2. Write it down. The imports of the module are what it may do.
	module, err := wasm.Compile(decision.Program)
	if err != nil {
		return err
	}
	for _, i := range module.Imports {
		fmt.Fprintf(out, "imports %s.%s\n", i.Module, i.Field)
	}

	// 3. Run it. Hooks would make its operations durable; the zero value performs them.
	runtime, err := sandbox.New(ctx)
	if err != nil {
		return err
	}
	defer runtime.Close(ctx)
	result, err := runtime.Run(ctx, module, grant, sandbox.Hooks{})
	if err != nil {
		return err
	}
	fmt.Fprint(out, result.Output)
	for _, seen := range result.Observations {
		fmt.Fprintf(out, "observed %s: %q\n", seen.Name, seen.Value)
	}
	return nil
}

// grant states what the text may do: read two files below examples. Two words of a
// profile, and nothing the text says can add a third.
func grant(ctx context.Context) (*capability.Grant, func(), error) {
	root, err := os.OpenRoot("examples")
	if err != nil {
		return nil, nil, err
	}
	read := capability.FileRead(root)
	read.Paths = []string{"notes/monday.md", "notes/tuesday.md"}
	captured, err := capability.Capture(ctx, capability.Profile{
		Name:    "weekly summary",
		Read:    []capability.Entry{read},
		Dialect: capability.Closed,
	})
	if err != nil {
		root.Close()
		return nil, nil, err
	}
	end := func() {
		captured.Revoke()
		root.Close()
	}
	grant, err := captured.Select(capability.ReadClass)
	if err != nil {
		end()
		return nil, nil, err
	}
	return grant, end, nil
}
