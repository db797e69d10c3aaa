package component

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/host"
)

//go:embed docs/file.md
var fileDoc string

// file reads a text file, or writes what its content renders (components 3).
func file() engine.Component {
	return engine.Component{
		Name:     "File",
		Origin:   origin,
		Props:    `{"path":{"type":"string","description":"the file, relative to the working directory"}}`,
		Required: []string{"path"},
		Forms:    engine.Both,
		Soft:     true,
		Effect:   "write",
		Doc: engine.Doc{
			Description: "Reads a text file when self-closing; written around content, writes exactly what the content renders.",
			As:          "the text that was read; the empty string after a write",
			Context:     "The content expands completely before anything is written.",
			Long:        fileDoc,
		},
		Run: func(ctx context.Context, c *engine.Call) (any, error) {
			if c.Paired() {
				return writeFile(ctx, c)
			}
			return readFile(ctx, c)
		},
	}
}

func readFile(ctx context.Context, c *engine.Call) (any, error) {
	files, err := filesOf(c)
	if err != nil {
		return nil, err
	}
	path := c.Text("path")
	text, err := files.ReadText(ctx, c.Dir(), path)
	if err != nil {
		return nil, pathFailure(ctx, c, host.OpRead, "read", path, err)
	}
	return text, nil
}

// writeFile judges the path by its text, expands the content and hands both to
// the provider, which judges the path again: nothing that could go stale while
// the content ran is carried over (components 3.1).
func writeFile(ctx context.Context, c *engine.Call) (any, error) {
	files, err := filesOf(c)
	if err != nil {
		return nil, err
	}
	path := c.Text("path")
	if err := files.CheckPath(host.OpWrite, c.Dir(), path); err != nil {
		return nil, pathFailure(ctx, c, host.OpWrite, "write", path, err)
	}
	text, err := c.Content(ctx)
	if err != nil {
		return nil, engine.Explain(err, fmt.Sprintf("<%s> did not write %q because its content failed", c.Name(), path))
	}
	if err := files.WriteText(ctx, c.Dir(), path, text); err != nil {
		return nil, pathFailure(ctx, c, host.OpWrite, "write", path, err)
	}
	return "", nil
}

//go:embed docs/file.delete.md
var fileDeleteDoc string

// fileDelete makes one path stop naming a file (components 4).
func fileDelete() engine.Component {
	return engine.Component{
		Name:     "File.Delete",
		Origin:   origin,
		Props:    `{"path":{"type":"string","minLength":1,"description":"the file, relative to the working directory"}}`,
		Required: []string{"path"},
		Forms:    engine.SelfClosing,
		FormHelp: `write <File.Delete path="…" /> without content`,
		Soft:     true,
		Effect:   "write",
		Doc: engine.Doc{
			Description: "Removes one file; a path that names nothing is a success, a directory is refused.",
			As:          "the empty string",
			Long:        fileDeleteDoc,
		},
		Run: deleteFile,
	}
}

func deleteFile(ctx context.Context, c *engine.Call) (any, error) {
	files, err := filesOf(c)
	if err != nil {
		return nil, err
	}
	path := c.Text("path")
	if err := files.Delete(ctx, c.Dir(), path); err != nil {
		return nil, pathFailure(ctx, c, host.OpDelete, "delete", path, err)
	}
	return "", nil
}
