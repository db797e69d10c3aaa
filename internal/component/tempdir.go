package component

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/host"
)

//go:embed docs/tempdir.md
var tempDirDoc string

// tempDir makes a fresh directory for its content, or one that lasts as long as
// the text around the element (components 7).
func tempDir() engine.Component {
	return engine.Component{
		Name:   "TempDir",
		Origin: origin,
		Forms:  engine.Both,
		Soft:   true,
		Effect: "write",
		Doc: engine.Doc{
			Description: "Makes a fresh directory and removes it afterwards.",
			As:          "what the content rendered; self-closing, the directory's absolute path",
			Context:     "The fresh directory is the working directory. Nothing recorded by an earlier run can be used inside.",
			Long:        tempDirDoc,
		},
		Run: makeTempDir,
	}
}

// staleTempDir is why a recorded effect inside a TempDir cannot stand for a new
// one.
const staleTempDir = "its temporary directory belongs to an earlier run, which removed it; start the document anew"

func makeTempDir(ctx context.Context, c *engine.Call) (any, error) {
	files, err := filesOf(c)
	if err != nil {
		return nil, err
	}
	path, remove, err := files.TempDir(ctx)
	if err != nil {
		return nil, tempDirFailure(ctx, c, "create", err)
	}
	removed := func() error {
		if err := remove(); err != nil {
			return tempDirFailure(context.WithoutCancel(ctx), c, "remove", err)
		}
		return nil
	}
	if !c.Paired() {
		c.Keep(removed)
		return path, nil
	}
	c.Own(removed)
	return c.Content(ctx, engine.InDir(path), engine.NoReplay(staleTempDir))
}

func tempDirFailure(ctx context.Context, c *engine.Call, verb string, err error) error {
	var f *host.FileError
	if errors.As(err, &f) {
		return fmt.Errorf("<%s> cannot %s a temporary directory: %s", c.Name(), verb, f.Phrase())
	}
	_, err = failureRecord(ctx, c, host.OpTemp, err)
	return err
}
