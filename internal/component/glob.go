package component

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/host"
)

//go:embed docs/glob.md
var globDoc string

// glob lists the files that patterns select (components 6).
func glob() engine.Component {
	return engine.Component{
		Name:   "Glob",
		Origin: origin,
		Props: `{
			"include": {"type":"array","items":{"type":"string"},"minItems":1,"description":"patterns, relative to the working directory"},
			"exclude": {"type":"array","items":{"type":"string"},"default":[],"description":"patterns of files to leave out"}
		}`,
		Required: []string{"include"},
		Returns:  `{"type":"array","items":{"type":"string"}}`,
		Forms:    engine.SelfClosing,
		FormHelp: `write <Glob include={["…"]} as="files" /> without content`,
		Soft:     true,
		Effect:   "read",
		Doc: engine.Doc{
			Description: "Lists the regular files below the working directory that patterns select.",
			As:          "the relative paths, sorted; an empty list when nothing matches",
			Long:        globDoc,
		},
		Run: listFiles,
	}
}

func listFiles(ctx context.Context, c *engine.Call) (any, error) {
	files, err := filesOf(c)
	if err != nil {
		return nil, err
	}
	include, exclude := patterns(c, "include"), patterns(c, "exclude")
	if err := checkPatterns(c, "include", include); err != nil {
		return nil, err
	}
	if err := checkPatterns(c, "exclude", exclude); err != nil {
		return nil, err
	}
	found, err := files.Glob(ctx, c.Dir(), include, exclude)
	if err != nil {
		return nil, globFailure(ctx, c, append(include, exclude...), err)
	}
	list := make([]any, len(found))
	for i, path := range found {
		list[i] = path
	}
	return list, nil
}

func patterns(c *engine.Call, prop string) []string {
	v, _ := c.Props().Get(prop)
	list, _ := v.([]any)
	texts := make([]string, len(list))
	for i, e := range list {
		texts[i], _ = e.(string)
	}
	return texts
}

// checkPatterns refuses, before any provider is asked, what no working directory
// could make useful.
func checkPatterns(c *engine.Call, prop string, list []string) error {
	for _, pattern := range list {
		var f *host.FileError
		if !errors.As(host.CheckPattern(pattern), &f) {
			continue
		}
		switch f.Reason {
		case host.EmptyPath:
			return fmt.Errorf("<%s> has an empty pattern in %s, which matches nothing; give one relative to the working directory", c.Name(), prop)
		case host.AbsolutePath:
			return fmt.Errorf("<%s> has the absolute pattern %q in %s; give one relative to the working directory", c.Name(), pattern, prop)
		default:
			return fmt.Errorf("<%s> has the pattern %q in %s, which reaches outside the working directory", c.Name(), pattern, prop)
		}
	}
	return nil
}

// globFailure makes the error of a search. It names the patterns the author
// wrote and no path at all.
func globFailure(ctx context.Context, c *engine.Call, written []string, err error) error {
	f, err := failureRecord(ctx, c, host.OpGlob, err)
	if err != nil {
		return err
	}
	switch {
	case f.Phase == host.PhasePattern:
		quoted := make([]string, len(written))
		for i, pattern := range written {
			quoted[i] = fmt.Sprintf("%q", pattern)
		}
		return fmt.Errorf("<%s> cannot use one of these patterns: %s", c.Name(), strings.Join(quoted, ", "))
	case f.Phase != host.PhaseTraversal && f.Reason == host.Missing:
		return fmt.Errorf("<%s> cannot search the working directory: it does not exist", c.Name())
	case f.Phase != host.PhaseTraversal && f.Reason == host.NotDirectory:
		return fmt.Errorf("<%s> cannot search the working directory: it is not a directory", c.Name())
	}
	return fmt.Errorf("<%s> cannot search the working directory: %s", c.Name(), f.Phrase())
}
