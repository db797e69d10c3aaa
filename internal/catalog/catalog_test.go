package catalog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/catalog"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/value"
)

func TestEveryConstructIsListedWithExamplesThatAreValid(t *testing.T) {
	listed := make(map[string][]string)
	for _, e := range entries(t, build(t, nil).JSON(), "structural") {
		name, _ := e.String("name")
		syntax, _ := e.Get("syntax")
		for _, s := range syntax.([]any) {
			listed[name] = append(listed[name], s.(string))
		}
		require.NotEmpty(t, must(e.String("description")), name)
	}
	around := map[string]string{
		"Answer": "<Answers>%<Wrap>a</Wrap></Answers>", "Case": "<Switch value={1}>%</Switch>",
		"Else": "<If condition={x}>a%</If>", "Break": "<Loop max={2}>%</Loop>",
		"Spawn": "<All>%<Spawn>b</Spawn></All>", "Return": "---\nreturns: {type: string}\n---\n%",
	}
	require.Len(t, listed, len(engine.Constructs()))
	for _, name := range engine.Constructs() {
		require.NotEmpty(t, listed[name], name)
		for _, example := range listed[name] {
			example = strings.ReplaceAll(example, "{…}", "{x}")
			text := example
			if frame, ok := around[name]; ok {
				text = strings.Replace(frame, "%", example, 1)
			}
			components := map[string]string{}
			if name == "Content" {
				components["components/Shown.md"], text = example, "<Shown />"
			}
			report := check(text, components)
			require.Empty(t, report.Diagnostics, text)
			require.Contains(t, invoked(report), name, text)
		}
	}
}

func invoked(r catalog.Report) []string {
	var names []string
	for _, i := range r.Invocations {
		names = append(names, i.Name)
	}
	return names
}

func entries(t *testing.T, listing *value.Object, category string) []*value.Object {
	t.Helper()
	categories, _ := listing.Get("categories")
	for _, c := range categories.([]any) {
		if name, _ := c.(*value.Object).String("name"); name == category {
			list, _ := c.(*value.Object).Get("entries")
			var out []*value.Object
			for _, e := range list.([]any) {
				out = append(out, e.(*value.Object))
			}
			return out
		}
	}
	require.Fail(t, "no such category", category)
	return nil
}

func must(s string, ok bool) string {
	if !ok {
		return ""
	}
	return s
}

func TestJSONOfEveryKindOfEntry(t *testing.T) {
	listing := build(t, map[string]string{
		"components/Greet.md":    "---\nprops: {name: {type: string}}\nrequired: [name]\ndescription: Greets.\nas: the greeting\ncontext: nothing changes\n---\nhi",
		"components/Value.md":    "---\nreturns: {type: string}\nmeta: {description: In meta.}\n---\n<Return value=\"x\" />",
		"components/Old.ts":      "code",
		"components/Broken.md":   "---\nprops: 5\n---\n",
		"components/If.md":       "never listed",
		"components/Syntax.md":   "never listed either",
		"components/Stop.md":     "an override",
		"components/Ns/Sub.md":   "sub",
		"components/Ns/index.md": "ns",
	}).JSON()
	version, _ := listing.Get("version")
	require.Equal(t, 2.0, version)

	text := func(category, name string) string {
		for _, e := range entries(t, listing, category) {
			if n, _ := e.String("name"); n == name {
				s, err := value.JSON(e)
				require.NoError(t, err)
				return s
			}
		}
		return ""
	}
	require.Equal(t, `{"name":"Else","origin":{"kind":"structural","construct":"Else"},"syntax":["<Else>…</Else>"],`+
		`"description":"What an <If> expands when its condition is false.",`+
		`"context":"Stands directly inside <If>, as its last child. Takes no props and needs content."}`, text("structural", "Else"))
	require.Equal(t, `{"name":"Json","origin":{"kind":"registered","origin":"xmd.core","reserved":false},"sourceKind":"native","inspectability":"complete",`+
		`"forms":["self-closing"],"props":{"type":"object","properties":{},"additionalProperties":false},"captures":["value"],`+
		`"returnMode":"text","returns":{"type":"string"}}`, text("built-in", "Json"))
	require.Contains(t, text("built-in", "Syntax"), `"origin":{"kind":"protected","origin":"xmd.core"}`)
	require.Contains(t, text("built-in", "File"), `"forms":["self-closing","paired"]`)
	require.Contains(t, text("built-in", "Glob"), `"returnMode":"value","returns":{"type":"array","items":{"type":"string"}}`)
	require.Equal(t, `{"name":"Greet","origin":{"kind":"repository","path":"components/Greet.md"},"sourceKind":"markdown","inspectability":"complete",`+
		`"description":"Greets.","forms":["self-closing","paired"],`+
		`"props":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false},"captures":[],`+
		`"returnMode":"text","returns":{"type":"string"},"as":"the greeting","context":"nothing changes"}`, text("user-provided", "Greet"))
	require.Contains(t, text("user-provided", "Value"), `"description":"In meta."`)
	require.Equal(t, `{"name":"Old","origin":{"kind":"repository","path":"components/Old.ts"},"inspectability":"origin-only"}`, text("user-provided", "Old"))
	require.Equal(t, `{"name":"Broken","origin":{"kind":"repository","path":"components/Broken.md"},"inspectability":"origin-only"}`, text("user-provided", "Broken"))

	require.Equal(t, []string{"File", "Glob", "Json", "Syntax", "Wrap"}, names(entries(t, listing, "built-in")))
	require.Equal(t, []string{"Broken", "Greet", "Ns", "Ns.Sub", "Old", "Stop", "Value"}, names(entries(t, listing, "user-provided")))
}

func names(list []*value.Object) []string {
	var out []string
	for _, e := range list {
		out = append(out, must(e.String("name")))
	}
	return out
}

func TestTheSearchDecidesWhichFileIsListed(t *testing.T) {
	listing := build(t, map[string]string{
		"D.md": "---\ndescription: second\n---\n", "components/D/index.md": "---\ndescription: first\n---\n",
		"A/B.md": "one file, two names",
	}).JSON()
	listed := entries(t, listing, "user-provided")
	require.Equal(t, []string{"A.B", "D"}, names(listed))
	require.Equal(t, "first", must(listed[1].String("description")))
}

func TestText(t *testing.T) {
	c := build(t, map[string]string{
		"components/Fenced.md": "---\ndescription: Shows a fence.\nprops: {a: {type: string, description: \"has ``` in it\"}}\n---\n",
		"components/Old.ts":    "code",
		"components/Bad.md":    "---\nreturns: 5\n---\n",
	})
	text := c.Text()
	for _, part := range []string{
		"## Structural elements\n\n### `<All>`\n\n",
		"```md\n<Loop max={3}>…</Loop>\n\n<Loop max={3} name=\"attempts\">…</Loop>\n```\n",
		"\n## Built-in components\n\n### `<File>`\n\nReads or writes a file.\n\nForms: `<File />`, `<File>…</File>`\n\n#### Props\n\n" +
			"| Prop | Type | Required | Description |\n| --- | --- | --- | --- |\n" +
			"| `path` | string | yes | relative to the working directory \\| not absolute |\n" +
			"| `mode` | string \\| null | no |  |\n| `extra` | JSON Schema | no |  |\n\n```json\n{\n  \"type\": \"object\",",
		"\nWith `as`: the text.\n\n#### Returns text\n\n```json\n{\n  \"type\": \"string\"\n}\n```\n\nOrigin: `xmd.core`\n",
		"Captures: `value`. A capture is evaluated by the component itself, so the schema does not list it.\n",
		"#### Returns value\n\n```json\n{\n  \"type\": \"array\",",
		"Origin: `xmd.core`, protected: no file can take the name\n",
		"\n## User-provided components\n",
		"\n````json\n", // longer than the fence in the schema
		"### `<Old>`\n\nIts contract was not read, so its forms, props and result are unknown here: components/Old.ts is a TypeScript component",
		"### `<Bad>`\n\nIts contract was not read",
		"Origin: the file `components/Fenced.md`\n",
	} {
		require.Contains(t, text, part)
	}
	require.True(t, strings.HasSuffix(text, "\n"))
	require.False(t, strings.HasSuffix(text, "\n\n"))
	require.NotContains(t, text, "Long words")
	require.NotContains(t, text, "\n\n\n")
	require.Equal(t, text, c.Text())
}

func TestTextOfEmptyCategories(t *testing.T) {
	c, err := catalog.Build(catalog.Inputs{Library: engine.NewLibrary(nil, nil)})
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(c.Text(), "\n## Built-in components\n\nThere are no built-in components here.\n\n"+
		"## User-provided components\n\nNo component files were found.\n"))
}

func TestDescribe(t *testing.T) {
	c := build(t, map[string]string{"components/Greet.md": "---\ndescription: Greets.\n---\nhi"})
	text, err := c.Describe([]string{"Greet", "File"})
	require.NoError(t, err)
	file, greet, ok := strings.Cut(text, "### `<Greet>`")
	require.True(t, ok)
	require.True(t, strings.HasPrefix(file, "### `<File>`\n\nReads or writes a file.\n"))
	require.True(t, strings.HasSuffix(file, "\nAvailable in the current evaluation: yes\n\nLong words about files.\n\n"))
	require.True(t, strings.HasSuffix(greet, "\nAvailable in the current evaluation: yes\n\nThere is no long-form documentation for this component.\n"))

	for name, reason := range map[string]string{
		"Nothing": `no component is named "Nothing"`,
		"If":      "<If> is a structural element",
	} {
		_, err := c.Describe([]string{"File", name})
		require.ErrorContains(t, err, reason)
	}
}

// Real directories: what the walk enters, and what makes it refuse.
func TestWalkOfRealDirectories(t *testing.T) {
	tests := []struct {
		name    string
		make    func(t *testing.T, dir string)
		include []string
		listed  []string
		refused string
	}{
		{name: "missing include", include: []string{"nowhere"}},
		{name: "only legal segments are entered", include: []string{"."}, listed: []string{"Ns", "Ns.Sub", "Top"},
			make: func(t *testing.T, dir string) {
				write(t, dir, "Top.md", "Ns/Sub.md", "Ns/index.md", "index.md", "lower.md", "Top.txt", "A.b.md", "node/Deep.md", "N-s/Deep.md", "Ns/lower/Deep.md", "Dir.md/x")
				require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "lower-link")))
				require.NoError(t, os.Mkdir(filepath.Join(dir, "closed"), 0))
			}},
		{name: "link to a file", include: []string{"c"}, listed: []string{"Linked"},
			make: func(t *testing.T, dir string) {
				write(t, dir, "c/other", "target.txt")
				require.NoError(t, os.Symlink("../target.txt", filepath.Join(dir, "c/Linked.md")))
			}},
		{name: "link to a directory", include: []string{"c"}, refused: "c/Ns is a link to something that is no file",
			make: func(t *testing.T, dir string) {
				write(t, dir, "c/other", "real/Sub.md")
				require.NoError(t, os.Symlink("../real", filepath.Join(dir, "c/Ns")))
			}},
		{name: "link to nothing", include: []string{"c"}, refused: "c/Gone.md is a link to something that is no file",
			make: func(t *testing.T, dir string) {
				write(t, dir, "c/other")
				require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "c/Gone.md")))
			}},
		{name: "include is a link", include: []string{"c"}, refused: "component directory c: ",
			make: func(t *testing.T, dir string) {
				write(t, dir, "real/Sub.md")
				require.NoError(t, os.Symlink("real", filepath.Join(dir, "c")))
			}},
		{name: "include is a file", include: []string{"c"}, refused: "component directory c: ",
			make: func(t *testing.T, dir string) { write(t, dir, "c") }},
		{name: "unreadable subdirectory", include: []string{"."}, refused: "component directory Ns: cannot list the directory: permission denied",
			make: func(t *testing.T, dir string) {
				if os.Geteuid() == 0 {
					t.Skip("the superuser reads everything")
				}
				require.NoError(t, os.Mkdir(filepath.Join(dir, "Ns"), 0))
			}},
		{name: "unreadable file", include: []string{"."}, refused: "Foo.md: cannot read the file: permission denied",
			make: func(t *testing.T, dir string) {
				if os.Geteuid() == 0 {
					t.Skip("the superuser reads everything")
				}
				write(t, dir, "Foo.md")
				require.NoError(t, os.Chmod(filepath.Join(dir, "Foo.md"), 0))
			}},
		{name: "too deep a name", include: []string{"."}, refused: "lies deeper than the 32 segments",
			make: func(t *testing.T, dir string) { write(t, dir, strings.Repeat("A/", 33)+"B.md") }},
		{name: "the working directory through a link", include: []string{"."}, listed: []string{"Top"},
			make: func(t *testing.T, dir string) {
				write(t, dir+"-real", "Top.md")
				require.NoError(t, os.Remove(dir))
				require.NoError(t, os.Symlink(dir+"-real", dir))
			}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "work")
			require.NoError(t, os.Mkdir(dir, 0o700))
			if tt.make != nil {
				tt.make(t, dir)
			}
			c, err := catalog.Build(catalog.Inputs{Sources: host.NewSources(dir), Include: tt.include, Library: engine.NewLibrary(nil, nil)})
			if tt.refused != "" {
				require.ErrorContains(t, err, tt.refused)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.listed, names(entries(t, c.JSON(), "user-provided")))
		})
	}
}

func write(t *testing.T, dir string, paths ...string) {
	t.Helper()
	for _, p := range paths {
		p = filepath.Join(dir, p)
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o700))
		require.NoError(t, os.WriteFile(p, []byte("text"), 0o600))
	}
}
