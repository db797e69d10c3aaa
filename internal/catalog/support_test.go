package catalog_test

import (
	"context"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/catalog"
	"github.com/executable-markdown/xmd/internal/engine"
)

// files is a tree of component files in memory. It counts what is read.
type files struct {
	text  map[string]string
	reads map[string]int
}

func newFiles(text map[string]string) *files {
	return &files{text: text, reads: make(map[string]int)}
}

func (f *files) IsFile(p string) (bool, error) {
	_, ok := f.text[p]
	return ok, nil
}

func (f *files) ReadSource(p string) ([]byte, error) {
	f.reads[p]++
	text, ok := f.text[p]
	if !ok {
		return nil, fs.ErrNotExist
	}
	if text == unreadable {
		return nil, fs.ErrPermission
	}
	return []byte(text), nil
}

// unreadable is the content of a file that exists and refuses to be read.
const unreadable = "\x00unreadable"

func (f *files) List(dir string) ([]fs.DirEntry, error) {
	found := make(map[string]fs.DirEntry)
	for p := range f.text {
		rest := p
		if dir != "." {
			var below bool
			if rest, below = strings.CutPrefix(p, dir+"/"); !below {
				continue
			}
		}
		name, _, isDir := strings.Cut(rest, "/")
		found[name] = listed{name, isDir}
	}
	if len(found) == 0 {
		return nil, fs.ErrNotExist
	}
	var out []fs.DirEntry
	for _, name := range slices.Sorted(maps.Keys(found)) {
		out = append(out, found[name])
	}
	return out, nil
}

type listed struct {
	name string
	dir  bool
}

func (l listed) Name() string               { return path.Base(l.name) }
func (l listed) IsDir() bool                { return l.dir }
func (l listed) Info() (fs.FileInfo, error) { return l, nil }
func (l listed) Size() int64                { return 0 }
func (l listed) Mode() fs.FileMode          { return l.Type() }
func (l listed) ModTime() time.Time         { return time.Time{} }
func (l listed) Sys() any                   { return nil }
func (l listed) Type() fs.FileMode {
	if l.dir {
		return fs.ModeDir
	}
	return 0
}

// library has one component of every kind the rules distinguish.
func library() *engine.Library {
	idle := func(context.Context, *engine.Call) (any, error) { return "", nil }
	return engine.NewLibrary(
		[]engine.Component{catalog.Syntax()},
		[]engine.Component{
			{
				Name: "File", Origin: "xmd.core", Forms: engine.Both, Run: idle,
				Props:    `{"path":{"type":"string","description":"relative to the\nworking directory | not absolute"},"mode":{"type":["string","null"]},"extra":{"enum":[1,2]}}`,
				Required: []string{"path"},
				Doc:      engine.Doc{Description: "Reads or writes a file.", As: "the text.", Long: "Long words about files.\n"},
			},
			{
				Name: "Glob", Origin: "xmd.core", Forms: engine.SelfClosing, FormHelp: "write <Glob … />", Run: idle,
				Props:    `{"include":{"type":"array","items":{"type":"string"},"minItems":1}}`,
				Required: []string{"include"},
				Returns:  `{"type":"array","items":{"type":"string"}}`,
			},
			{
				Name: "Json", Origin: "xmd.core", Forms: engine.SelfClosing, FormHelp: "write <Json value={…} />", Run: idle,
				Captures: []string{"value"},
			},
			{
				Name: "Stop", Origin: "xmd.core", Forms: engine.SelfClosing, FormHelp: "write <Stop />", Run: idle,
				NoAs: "raises and binds nothing",
			},
			{
				Name: "Wrap", Origin: "test", Forms: engine.Paired, FormHelp: "write <Wrap>…</Wrap>", Run: idle,
			},
		})
}

func inputs(text map[string]string) catalog.Inputs {
	return catalog.Inputs{Sources: newFiles(text), Include: []string{"components", "."}, Library: library()}
}

func build(t *testing.T, text map[string]string) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Build(inputs(text))
	require.NoError(t, err)
	return c
}

func check(text string, components map[string]string) catalog.Report {
	return catalog.Validate(inputs(components), catalog.Source{Name: "doc.md", Text: []byte(text)})
}
