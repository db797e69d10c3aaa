package capability

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/schema"
	"github.com/executable-markdown/xmd/internal/value"
)

const observer = `version: 1
name: release-notes observer
roots: { repo: . }
select: repo
dialect: flat
read:
  - use: File
    paths: ["CHANGELOG.md", "docs/**"]
  - use: Glob
  - use: Fetch
    requests:
      - url: https://example.com/releases.json
        headers: { accept: application/json }
        timeout: 5s
limits: { time: 5s, output: 64KiB }
`

// accepted are files that ReadProfile and the published schema both accept.
var accepted = []string{
	observer,
	"version: 1\nread: [{use: File}]\n",
	"# a comment\n---\nversion: 1\nwrite:\n- use: File\n- use: File.Delete\n  paths: [tmp/**]\n- use: Dir\n- use: Elicit\n...\n",
	"{\"version\":1,\"name\":\"JSON is YAML\",\"read\":[{\"use\":\"Glob\"}],\"write\":[{\"use\":\"File\"}]}",
	"version: 1\nroots:\n  b: ../b\n  a: \"/srv/a\"\nselect: a\ndialect: closed\nread: [{use: Glob}]\n" +
		"limits:\n  source: 1MiB\n  elements: 1\n  depth: 8\n  steps: 2147483647\n  values: 65536\n  value: 1KiB\n  output: 1\n  time: 2min\n",
	"version: 1\nread:\n- use: Fetch\n  requests:\n  - {url: \"http://127.0.0.1:8080/\", method: HEAD, timeout: 250}\n  - {url: \"https://example.com/?q=1\", headers: {x-version: \"1\", x-empty: \"\"}}\n",
}

func TestReadProfile(t *testing.T) {
	f, err := ReadProfile([]byte(observer))
	require.NoError(t, err)
	require.Equal(t, &File{
		Name:     "release-notes observer",
		Roots:    []FileRoot{{"repo", "."}},
		Selected: "repo",
		Dialect:  Flat,
		Read: []FileEntry{
			{Use: "File", Paths: []string{"CHANGELOG.md", "docs/**"}},
			{Use: "Glob"},
			{Use: "Fetch", Requests: []Request{{
				URL:     "https://example.com/releases.json",
				Headers: map[string]string{"accept": "application/json"},
				Timeout: 5 * time.Second,
			}}},
		},
		Limits: Limits{Time: 5 * time.Second, Output: 64 << 10},
	}, f)

	f, err = ReadProfile([]byte(accepted[4]))
	require.NoError(t, err)
	require.Equal(t, []FileRoot{{"b", "../b"}, {"a", "/srv/a"}}, f.Roots, "in the order they are written")
	require.Equal(t, "a", f.Selected)
	require.Equal(t, Limits{
		Source: 1 << 20, Elements: 1, Depth: 8, Steps: 1<<31 - 1,
		Values: 65536, Value: 1 << 10, Output: 1, Time: 2 * time.Minute,
	}, f.Limits)

	f, err = ReadProfile([]byte(accepted[5]))
	require.NoError(t, err)
	require.Equal(t, []Request{
		{URL: "http://127.0.0.1:8080/", Method: "HEAD", Timeout: 250 * time.Millisecond},
		{URL: "https://example.com/?q=1", Headers: map[string]string{"x-version": "1", "x-empty": ""}},
	}, f.Read[0].Requests)

	for _, text := range accepted {
		_, err := ReadProfile([]byte(text))
		require.NoError(t, err, text)
	}
}

// refused are files that ReadProfile refuses. shape: the published schema refuses
// them too; the others break a rule of YAML, or one a schema cannot say.
var refused = []struct {
	name  string
	text  string
	at    string // line:column
	want  string
	shape bool
}{
	{"empty", "", "1:1", "the profile is empty; begin with version: 1", false},
	{"comments only", "# nothing\n", "1:1", "the profile is empty", false},
	{"no mapping", "- version: 1\n", "1:1", "the profile must be a mapping", true},
	{"a word", "version\n", "1:1", "the profile must be a mapping", true},
	{"not YAML", "version: 1\nread: [\n", "2:1", "the file is not valid YAML", false},
	{"not UTF-8", "version: 1\nname: \xff\n", "1:1", "the profile is not UTF-8", false},
	{"second document", "version: 1\nread: [{use: File}]\n---\nversion: 1\n", "3:1", "a second YAML document", false},
	{"no version", "read: [{use: File}]\n", "1:1", "the profile has no version; begin with version: 1", true},
	{"other version", "version: 2\nread: [{use: File}]\n", "1:10", `version is "2", and this binary reads version 1 only`, true},
	{"quoted version", "version: \"1\"\nread: [{use: File}]\n", "1:10", `version is "1"`, true},
	{"spelled version", "version: 0x1\nread: [{use: File}]\n", "1:10", `version is "0x1"`, false},
	{"no entry", "version: 1\n", "1:1", "the profile allows nothing", true},
	{"empty tables", "version: 1\nread: []\nwrite: []\n", "1:1", "the profile allows nothing", false},
	{"unknown key", "version: 1\nreads: [{use: File}]\n", "2:1", `the profile has the unknown key "reads"; known keys are version, name, roots, select, dialect, read, write and limits`, true},
	{"unknown key of an entry", "version: 1\nread:\n- use: File\n  path: docs\n", "4:3", `read[0] has the unknown key "path"; known keys are use, paths and requests`, true},
	{"unknown key of a request", "version: 1\nread:\n- use: Fetch\n  requests:\n  - url: https://example.com/\n    body: x\n", "6:5", `read[0].requests[0] has the unknown key "body"; known keys are url, method, headers and timeout`, true},
	{"unknown limit", "version: 1\nread: [{use: File}]\nlimits: {tiem: 5s}\n", "3:10", `limits has the unknown key "tiem"; known keys are source, elements, depth, steps, values, value, output and time`, true},
	{"key twice", "version: 1\nname: a\nread: [{use: File}]\nname: b\n", "4:1", `the profile has the key "name" twice; keep one`, false},
	{"key twice, once quoted", "version: 1\nread: [{use: File, \"use\": Glob}]\n", "2:20", `read[0] has the key "use" twice`, false},
	{"limit twice", "version: 1\nread: [{use: File}]\nlimits: {steps: 1, steps: 2}\n", "3:20", `limits has the key "steps" twice`, false},
	{"root twice", "version: 1\nroots: {a: x, a: y}\nread: [{use: File}]\n", "2:15", `roots has the key "a" twice`, false},
	{"anchor", "version: 1\nname: &n x\nread: [{use: File}]\n", "2:7", "name has a YAML anchor", false},
	{"anchor on a table", "version: 1\nread: &r [{use: File}]\n", "2:7", "read has a YAML anchor", false},
	{"anchor on a key", "version: 1\n&k name: x\nread: [{use: File}]\n", "2:1", "a key of the profile has a YAML anchor", false},
	{"alias", "version: 1\nread: [{use: File, paths: [&p docs, *p]}]\n", "2:28", "read[0].paths[0] has a YAML anchor", false},
	{"merge", "version: 1\nread: [{use: File}]\nlimits: {<<: {steps: 1}}\n", "3:10", "limits merges another mapping with <<", false},
	{"tag", "version: 1\nname: !!str x\nread: [{use: File}]\n", "2:7", "name has a YAML tag", false},
	{"own tag", "version: 1\nname: !x x\nread: [{use: File}]\n", "2:7", "name has a YAML tag", false},
	{"tag on a table", "version: 1\nread: !!seq [{use: File}]\n", "2:7", "read has a YAML tag", false},
	{"number as a name", "version: 1\nname: 1.0\nread: [{use: File}]\n", "2:7", "name is not text; quote it", true},
	{"truth as a name", "version: 1\nname: true\nread: [{use: File}]\n", "2:7", "name is not text; quote it", true},
	{"empty name", "version: 1\nname:\nread: [{use: File}]\n", "2:6", "name is not text; quote it", true},
	{"blank name", "version: 1\nname: \"\"\nread: [{use: File}]\n", "2:7", "name is empty", true},
	{"list as a name", "version: 1\nname: [x]\nread: [{use: File}]\n", "2:7", "name must be one value", true},
	{"no roots", "version: 1\nroots: {}\nread: [{use: File}]\n", "2:8", "roots is empty", true},
	{"list of roots", "version: 1\nroots: [.]\nread: [{use: File}]\n", "2:8", "roots must be a mapping", true},
	{"root without a name", "version: 1\nroots: {\"\": .}\nread: [{use: File}]\n", "2:9", "a root has an empty name", true},
	{"root without a directory", "version: 1\nroots: {repo: \"\"}\nread: [{use: File}]\n", "2:15", "roots.repo is empty", true},
	{"select without roots", "version: 1\nselect: repo\nread: [{use: File}]\n", "2:9", "select names a root and the profile states none", false},
	{"select another", "version: 1\nroots: {a: x, b: y}\nselect: c\nread: [{use: File}]\n", "3:9", `select is "c", which is no root of the profile; name one of a and b`, false},
	{"dialect", "version: 1\ndialect: open\nread: [{use: File}]\n", "2:10", `dialect is "open"; write flat or closed`, true},
	{"table no list", "version: 1\nread: {use: File}\n", "2:7", "read must be a list", true},
	{"null table", "version: 1\nread:\nwrite: [{use: File}]\n", "2:6", "read must be a list", true},
	{"entry no mapping", "version: 1\nread: [File]\n", "2:8", "read[0] must be a mapping", true},
	{"entry without use", "version: 1\nread: [{paths: [docs]}]\n", "2:8", "read[0] has no use; write use: and one of File, Glob and Fetch", true},
	{"unknown capability", "version: 1\nread: [{use: Exec}]\n", "2:14", `read[0].use: "Exec" is no capability this binary ships; under read use File, Glob and Fetch`, true},
	{"unknown under write", "version: 1\nwrite: [{use: TempDir}]\n", "2:15", `under write use File, File.Delete, Dir and Elicit`, true},
	{"pure capability", "version: 1\ndialect: closed\nread: [{use: Json}]\n", "3:14", `"Json" is no capability`, true},
	{"lower case", "version: 1\nread: [{use: file}]\n", "2:14", `"file" is no capability`, true},
	{"other table", "version: 1\nread: [{use: Elicit}]\n", "2:14", "Elicit is no capability of read; state it under write", true},
	{"the other way", "version: 1\nwrite: [{use: Glob}]\n", "2:15", "Glob is no capability of write; state it under read", true},
	{"capability twice", "version: 1\nread:\n- use: File\n  paths: [a]\n- use: File\n  paths: [b]\n", "5:3", "read uses File a second time", false},
	{"no paths", "version: 1\nread: [{use: File, paths: []}]\n", "2:27", "read[0].paths is empty and covers nothing", true},
	{"one path", "version: 1\nread: [{use: File, paths: docs}]\n", "2:27", "read[0].paths must be a list", true},
	{"blank path", "version: 1\nread: [{use: File, paths: [\"\"]}]\n", "2:28", "read[0].paths[0] is empty", true},
	{"numeric path", "version: 1\nread: [{use: File, paths: [2024]}]\n", "2:28", "read[0].paths[0] is not text; quote it", true},
	{"path outside", "version: 1\nread: [{use: File, paths: [docs, ../x]}]\n", "2:34", "read[0].paths[1] cannot be used", false},
	{"paths of Elicit", "version: 1\nwrite: [{use: Elicit, paths: [docs]}]\n", "2:30", "write[0].paths cannot bound Elicit", true},
	{"paths of Fetch", "version: 1\nread: [{use: Fetch, paths: [docs], requests: [{url: \"https://example.com/\"}]}]\n", "2:28", "read[0].paths cannot bound Fetch", true},
	{"Fetch without requests", "version: 1\nread:\n- use: File\n- use: Fetch\n", "4:3", "read[1] uses Fetch without requests, and Fetch performs only requests that are stated exactly; list them under requests", true},
	{"Fetch with none", "version: 1\nread: [{use: Fetch, requests: []}]\n", "2:31", "read[0].requests is empty, and Fetch performs only requests", true},
	{"requests of File", "version: 1\nread: [{use: File, requests: [{url: \"https://example.com/\"}]}]\n", "2:30", "read[0].requests belongs to Fetch alone", true},
	{"requests of Dir", "version: 1\nwrite: [{use: Dir, requests: [{url: \"https://example.com/\"}]}]\n", "2:30", "write[0].requests belongs to Fetch alone", true},
	{"request without url", "version: 1\nread: [{use: Fetch, requests: [{method: GET}]}]\n", "2:32", "read[0].requests[0] has no url", true},
	{"request is a word", "version: 1\nread: [{use: Fetch, requests: [\"https://example.com/\"]}]\n", "2:32", "read[0].requests[0] must be a mapping", true},
	{"request of a file", "version: 1\nread: [{use: Fetch, requests: [{url: \"file:///etc/passwd\"}]}]\n", "2:32", "read[0].requests[0] cannot be used", false},
	{"other method", "version: 1\nread: [{use: Fetch, requests: [{url: \"https://example.com/\", method: POST}]}]\n", "2:32", "read[0].requests[0] cannot be used", false},
	{"header twice", "version: 1\nread: [{use: Fetch, requests: [{url: \"https://example.com/\", headers: {A: x, a: y}}]}]\n", "2:32", "read[0].requests[0] cannot be used", false},
	{"numeric header", "version: 1\nread: [{use: Fetch, requests: [{url: \"https://example.com/\", headers: {a: 1}}]}]\n", "2:75", "read[0].requests[0].headers.a is not text; quote it", true},
	{"list of headers", "version: 1\nread: [{use: Fetch, requests: [{url: \"https://example.com/\", headers: [a]}]}]\n", "2:71", "read[0].requests[0].headers must be a mapping", true},
	{"timeout", "version: 1\nread: [{use: Fetch, requests: [{url: \"https://example.com/\", timeout: 5h}]}]\n", "2:71", `read[0].requests[0].timeout: "5h" is not a duration`, true},
	{"limits no mapping", "version: 1\nread: [{use: File}]\nlimits: 5s\n", "3:9", "limits must be a mapping", true},
	{"time zero", "version: 1\nread: [{use: File}]\nlimits: {time: 0}\n", "3:16", `limits.time: "0" is not a duration`, true},
	{"time negative", "version: 1\nread: [{use: File}]\nlimits: {time: -5s}\n", "3:16", `limits.time: "-5s" is not a duration`, true},
	{"count zero", "version: 1\nread: [{use: File}]\nlimits: {steps: 0}\n", "3:17", `limits.steps is "0"; write a whole number from 1 to 2147483647, such as 1000000`, true},
	{"count negative", "version: 1\nread: [{use: File}]\nlimits: {elements: -1}\n", "3:20", `limits.elements is "-1"`, true},
	{"count with a unit", "version: 1\nread: [{use: File}]\nlimits: {depth: 1KiB}\n", "3:17", `limits.depth is "1KiB"`, true},
	{"count quoted", "version: 1\nread: [{use: File}]\nlimits: {depth: \"8\"}\n", "3:17", `limits.depth is "8"`, true},
	{"count fraction", "version: 1\nread: [{use: File}]\nlimits: {depth: 1.5}\n", "3:17", `limits.depth is "1.5"`, true},
	{"count too large", "version: 1\nread: [{use: File}]\nlimits: {steps: 2147483648}\n", "3:17", `limits.steps is "2147483648"`, true},
	{"count octal", "version: 1\nread: [{use: File}]\nlimits: {steps: 010}\n", "3:17", `limits.steps is "010"`, false},
	{"count underlined", "version: 1\nread: [{use: File}]\nlimits: {steps: 1_000}\n", "3:17", `limits.steps is "1_000"`, false},
	{"size of another unit", "version: 1\nread: [{use: File}]\nlimits: {output: 64KB}\n", "3:18", `limits.output is "64KB"; write a whole number from 1 to 2147483647, such as 64KiB, 1MiB or a number of bytes`, true},
	{"size with a blank", "version: 1\nread: [{use: File}]\nlimits: {output: 64 KiB}\n", "3:18", `limits.output is "64 KiB"`, true},
	{"size of a unit alone", "version: 1\nread: [{use: File}]\nlimits: {output: KiB}\n", "3:18", `limits.output is "KiB"`, true},
	{"size too large", "version: 1\nread: [{use: File}]\nlimits: {output: 2048MiB}\n", "3:18", `limits.output is "2048MiB"`, false},
	{"size null", "version: 1\nread: [{use: File}]\nlimits: {output: }\n", "3:18", `limits.output is ""`, true},
}

func TestReadProfileRefuses(t *testing.T) {
	for _, test := range refused {
		t.Run(test.name, func(t *testing.T) {
			f, err := ReadProfile([]byte(test.text))
			require.Nil(t, f)
			var bad *FileError
			require.ErrorAs(t, err, &bad)
			require.Contains(t, bad.Message, test.want)
			require.Equal(t, test.at, fmt.Sprintf("%d:%d", bad.Line, bad.Column))
			require.Equal(t, fmt.Sprintf("line %d, column %d: %s", bad.Line, bad.Column, bad.Message), err.Error())
		})
	}
}

func TestReadProfileIsBounded(t *testing.T) {
	padded := observer + strings.Repeat("#", MaxProfileFile-len(observer)-1) + "\n"
	_, err := ReadProfile([]byte(padded))
	require.NoError(t, err)
	_, err = ReadProfile([]byte(padded + "\n"))
	require.ErrorContains(t, err, "the profile has 65537 bytes and the limit is 65536")

	for _, text := range []string{
		"version: 1\nread: " + strings.Repeat("[", 30_000),
		"version: 1\nname: " + strings.Repeat("{a: ", 5_000) + "1" + strings.Repeat("}", 5_000),
		strings.Repeat("? ", 10_000),
		"a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nd: [*c,*c]\n",
	} {
		_, err := ReadProfile([]byte(text))
		var bad *FileError
		require.ErrorAs(t, err, &bad)
	}
}

// published compiles the published schema with the rules of this house, which are
// stricter than those of draft-07.
func published(t *testing.T) *schema.Schema {
	t.Helper()
	definition, err := value.Parse(Schema())
	require.NoError(t, err)
	s, err := schema.Compile(definition)
	require.NoError(t, err)
	return s
}

// asJSON is what a reader of plain YAML sees in a profile.
func asJSON(t *testing.T, text string) any {
	t.Helper()
	text = strings.TrimSuffix(strings.TrimPrefix(text, "# a comment\n---\n"), "...\n")
	d, err := document.Parse("profile.md", []byte("---\nprofile:\n  "+strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ")+"\n---\n"))
	require.NoError(t, err, text)
	v, _ := d.Frontmatter.Get("profile")
	return v
}

func TestSchemaAcceptsWhatReadProfileAccepts(t *testing.T) {
	s := published(t)
	for _, text := range accepted {
		require.Empty(t, schema.Lines(s.Validate(asJSON(t, text))), text)
	}
}

func TestSchemaRefusesTheShapesReadProfileRefuses(t *testing.T) {
	s := published(t)
	for _, test := range refused {
		if test.shape {
			require.NotEmpty(t, s.Validate(asJSON(t, test.text)), test.name)
		}
	}
}

func TestSchemaDescribesEveryKeyAndCapability(t *testing.T) {
	s := published(t)
	for _, p := range s.Properties() {
		description, _ := p.Definition.(*Object).String("description")
		require.NotEmpty(t, description, p.Name)
	}
	for _, c := range allShipped() {
		entry := "version: 1\n" + string(c.class) + ": [{use: " + c.use
		if c.ceiling == requestCeiling {
			entry += `, requests: [{url: "https://example.com/"}]`
		}
		entry += "}]\n"
		require.Empty(t, s.Validate(asJSON(t, entry)), entry)
		_, err := ReadProfile([]byte(entry))
		require.NoError(t, err)
	}
	Schema()[0] = 'x'
	require.Equal(t, byte('{'), Schema()[0], "the bytes belong to the caller")
}

func TestProfileOfAFile(t *testing.T) {
	root := openRoot(t)
	f, err := ReadProfile([]byte("version: 1\nname: n\nroots: {a: here, b: there}\nselect: b\n" +
		"read:\n- use: Glob\n- use: File\n  paths: [docs/**]\n- use: Fetch\n  requests: [{url: \"https://example.com/\"}]\n" +
		"write:\n- use: Elicit\n- use: Dir\n- use: File\n- use: File.Delete\nlimits: {steps: 5}\n"))
	require.NoError(t, err)
	opened := 0
	control := Control{Files: []string{"profile.yaml"}}
	p, err := f.Profile(Machine{
		Root: func(name, dir string) (*os.Root, error) {
			require.Equal(t, "b", name)
			require.Equal(t, "there", dir)
			opened++
			return root, nil
		},
		Client:       deaf{},
		Control:      control,
		FetchTimeout: time.Second,
		Dialect:      Closed,
	})
	require.NoError(t, err)
	require.Equal(t, 1, opened)
	require.Equal(t, []Root{{Name: "a"}, {Name: "b"}}, p.Roots)
	require.Equal(t, "b", p.Selected)
	require.Equal(t, Closed, p.Dialect, "the command's, where the file names none")
	require.Equal(t, Limits{Steps: 5}, p.Limits)
	require.Equal(t, control, p.Control)
	require.Equal(t, time.Second, p.FetchTimeout)

	g := grant(t, p, ReadClass, WriteClass)
	var identities []string
	for _, e := range g.Entries()[3:] {
		identities = append(identities, e.Identity.String())
	}
	require.Equal(t, []string{
		"xmd.core/Glob@1", "xmd.core/File.read@1", "xmd.core/Fetch@1",
		"xmd.core/Elicit.ask@1", "xmd.core/Dir.ensure@1", "xmd.core/File.write@1", "xmd.core/File.delete@1",
	}, identities)
	require.Equal(t, []string{"docs/**"}, g.ByIdentity("xmd.core/File.read@1").Paths)
	require.Nil(t, g.ByIdentity("xmd.core/File.write@1").Paths)
}

func TestProfileAsksAMachineOnlyForWhatItNeeds(t *testing.T) {
	entry := func(use string, requests ...Request) *File {
		return &File{Read: []FileEntry{{Use: use, Requests: requests}}}
	}
	p, err := entry("Fetch", Request{URL: "https://example.com/"}).Profile(Machine{Client: deaf{}})
	require.NoError(t, err, "no root is opened for a request")
	require.Len(t, p.Read, 1)

	_, err = entry("Fetch", Request{URL: "https://example.com/"}).Profile(Machine{})
	require.EqualError(t, err, "the profile uses Fetch, and this command performs no requests; leave Fetch out")
	_, err = entry("File").Profile(Machine{})
	require.EqualError(t, err, "the profile reaches files, and this command has no directory for them; leave the file entries out")
	broken := errors.New("no such directory")
	_, err = entry("Glob").Profile(Machine{Root: func(name, dir string) (*os.Root, error) {
		require.Empty(t, name+dir, "the command's own root")
		return nil, broken
	}})
	require.ErrorIs(t, err, broken)
	_, err = entry("Exec").Profile(Machine{})
	require.ErrorContains(t, err, `"Exec" is no capability this binary ships`)
	_, err = (&File{Write: []FileEntry{{Use: "Glob"}}}).Profile(Machine{})
	require.ErrorContains(t, err, "Glob is no capability of write; state it under read")
}

func TestStandardProfile(t *testing.T) {
	root := openRoot(t)
	machine := Machine{Root: func(string, string) (*os.Root, error) { return root, nil }}
	p, err := Standard(machine)
	require.NoError(t, err)
	g := grant(t, p, ReadClass, WriteClass)
	require.Equal(t, Closed, g.Dialect())
	var table []string
	for _, e := range g.Entries() {
		table = append(table, fmt.Sprintf("%s %s %s", e.Name, e.Forms, e.Effect))
		require.NotEmpty(t, e.Describe)
	}
	require.Equal(t, []string{
		"Json self-closing pure", "CodeBlock self-closing pure", "Fail self-closing pure",
		"File self-closing read", "Glob self-closing read",
		"File paired write", "File.Delete self-closing write", "Dir paired write", "Elicit paired ask",
	}, table)
	require.True(t, g.ByIdentity("xmd.core/Dir.ensure@1").Moves())

	machine.Dialect = Flat
	p, err = Standard(machine)
	require.NoError(t, err)
	require.Equal(t, Flat, p.Dialect)
}

func FuzzReadProfile(f *testing.F) {
	for _, text := range accepted {
		f.Add([]byte(text))
	}
	for _, test := range refused {
		f.Add([]byte(test.text))
	}
	machine := Machine{Root: func(string, string) (*os.Root, error) { return nil, nil }, Client: deaf{}}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := ReadProfile(data)
		if err != nil {
			var bad *FileError
			require.ErrorAs(t, err, &bad)
			require.Positive(t, bad.Line)
			require.Positive(t, bad.Column)
			return
		}
		p, err := file.Profile(machine)
		require.NoError(t, err)
		_, err = Capture(t.Context(), p)
		require.NoError(t, err, "what a profile file may say can be captured")
	})
}
