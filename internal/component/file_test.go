package component

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/host"
)

func TestFileReadsAndWrites(t *testing.T) {
	m := &memory{texts: map[string]string{workingDirectory + "/a.txt": "one <Mark /> {x}\n"}}
	o := run(t, `[<File path="a.txt" />][<File path="b.txt"> two <Mark />
</File>][<File path="b.txt" />][<File path="c.txt"></File>][<File path="c.txt">x</File>][<File path="c.txt" as="c" /><File path="d" as="d">y</File>{c}{d}]`, world{files: m})
	require.Equal(t, "[one <Mark /> {x}\n][][ two mark\n][][][x]", o.ok(t), "what was read is inert, what was written is exact")
	require.Equal(t, []string{"mark"}, o.marks)
	require.Equal(t, " two mark\n", m.texts[workingDirectory+"/b.txt"])
	require.Equal(t, []string{
		"read /home/site/a.txt",
		"check writeTextFile b.txt", "write /home/site/b.txt", "read /home/site/b.txt",
		"check writeTextFile c.txt", "write /home/site/c.txt",
		"check writeTextFile c.txt", "write /home/site/c.txt", "read /home/site/c.txt",
		"check writeTextFile d", "write /home/site/d",
	}, m.log)
	for _, e := range o.events {
		typ, _ := e.Description.String("type")
		require.Contains(t, []string{"import_component", ""}, typ, "files leave no record")
	}
}

// The path is judged, then the content expands, then the file is written: a
// refused path expands nothing.
func TestFileOrder(t *testing.T) {
	m := &memory{failures: map[string]error{host.OpCheck: &host.FileError{Operation: host.OpWrite, Phase: host.PhaseLexical, Reason: host.LexicalEscape, Target: host.Unchanged}}}
	o := run(t, `<File path="../x"><Mark /></File>after`, world{files: m})
	o.printed(t, `<File> cannot write "../x": the path ends up outside the working directory`)
	require.Empty(t, o.marks)
	require.Equal(t, []string{"check writeTextFile ../x"}, m.log)
	require.True(t, strings.HasSuffix(o.Output, "after"))
}

func TestFileFailures(t *testing.T) {
	record := func(operation, phase, reason string) *host.FileError {
		f := &host.FileError{Operation: operation, Phase: phase, Reason: reason}
		if operation == host.OpWrite {
			f.Target = host.Unchanged
		}
		return f
	}
	read := func(phase, reason string) *host.FileError { return record(host.OpRead, phase, reason) }
	write := func(phase, reason string) *host.FileError { return record(host.OpWrite, phase, reason) }
	remove := func(phase, reason string) *host.FileError { return record(host.OpDelete, phase, reason) }
	after := func(f *host.FileError, target, cleanup string) *host.FileError {
		f.Target, f.Cleanup = target, cleanup
		return f
	}
	for _, c := range []struct {
		failure *host.FileError
		message string
	}{
		{read(host.PhaseLexical, host.EmptyPath), `<File> cannot read a file: the path is empty; give one relative to the working directory`},
		{read(host.PhaseLexical, host.AbsolutePath), `<File> cannot read a file: the path is absolute; give one relative to the working directory`},
		{read(host.PhaseLexical, host.LexicalEscape), `<File> cannot read "dir/a": the path ends up outside the working directory`},
		{read(host.PhaseResolution, host.ResolvedEscape), `<File> cannot read "dir/a": the path passes through a link that leaves the working directory`},
		{read(host.PhaseResolution, host.TooManySymlinks), `<File> cannot resolve "dir/a": too many symbolic links`},
		{read(host.PhaseTarget, host.Missing), `<File> cannot read "dir/a": no such file`},
		{read(host.PhaseTarget, host.Directory), `<File> cannot read "dir/a": it is a directory`},
		{read(host.PhaseTarget, host.SpecialFile), `<File> cannot read "dir/a": it is not a regular file`},
		{read(host.PhaseAccess, host.PermissionDenied), `<File> cannot read "dir/a": permission denied`},
		{read(host.PhaseAccess, "made-up"), `<File> cannot read "dir/a": the filesystem operation failed`},
		{read(host.PhaseTarget, host.NotText), `<File> cannot read "dir/a": it is not UTF-8 text`},
		{write(host.PhaseLexical, host.AbsolutePath), `<File> cannot write a file: the path is absolute; give one relative to the working directory`},
		{write(host.PhaseResolution, host.ResolvedEscape), `<File> cannot write "dir/a": the path passes through a link that leaves the working directory`},
		{write(host.PhaseResolution, host.NotDirectory), `<File> cannot resolve "dir/a": something that has to be a directory is not one`},
		{write(host.PhaseTarget, host.Directory), `<File> cannot write "dir/a": it is a directory, so it cannot hold text`},
		{write(host.PhaseTarget, host.SpecialFile), `<File> cannot write "dir/a": it is not a regular file, so it cannot hold text`},
		{write(host.PhaseParents, host.ReadOnly), `<File> cannot write "dir/a": the file system is read-only`},
		{write(host.PhaseTemporary, host.NoSpace), `<File> cannot write "dir/a": no space left on the device; the previous file is as it was`},
		{after(write(host.PhaseTemporary, host.NoSpace), host.Unchanged, host.Busy), `<File> cannot write "dir/a": no space left on the device; the previous file is as it was; cleaning up failed (it is in use); a temporary file may remain beside the target`},
		{after(write(host.PhaseCommit, host.CrossDevice), host.CommitUnknown, ""), `<File> cannot write "dir/a": it would cross from one file system to another; the file holds either all of its old content or all of the new, and it is not known which`},
		{after(write(host.PhaseCleanup, ""), host.Committed, host.Busy), `<File> cannot clean up after writing "dir/a"; the file was written; cleaning up failed (it is in use); a temporary file may remain beside the target`},
		{after(write(host.PhaseTransaction, host.Busy), host.RolledBack, ""), `<File> cannot write "dir/a": it is in use; the workspace change was rolled back`},
		{remove(host.PhaseLexical, host.AbsolutePath), `<File.Delete> cannot delete a file: the path is absolute; give one relative to the working directory`},
		{remove(host.PhaseLexical, host.LexicalEscape), `<File.Delete> cannot delete "dir/a": the path ends up outside the working directory`},
		{remove(host.PhaseTarget, host.Directory), `<File.Delete> cannot delete "dir/a": it is a directory`},
		{remove(host.PhaseTarget, host.SpecialFile), `<File.Delete> cannot delete "dir/a": it is not a regular file`},
		{remove(host.PhaseAccess, host.PermissionDenied), `<File.Delete> cannot delete "dir/a": permission denied`},
	} {
		t.Run(c.failure.Operation+" "+c.failure.Phase+" "+c.failure.Reason+" "+c.failure.Cleanup, func(t *testing.T) {
			source := map[string]string{
				host.OpRead:   `<File path="dir/a" as="x" />`,
				host.OpWrite:  `<File path="dir/a" as="x">text</File>`,
				host.OpDelete: `<File.Delete path="dir/a" as="x" />`,
			}[c.failure.Operation]
			m := &memory{failures: map[string]error{c.failure.Operation: c.failure}}
			o := run(t, source+"{x}", world{files: m})
			o.printed(t, c.message)
			require.True(t, strings.HasSuffix(o.Output, "-->{x}"), "nothing is bound: %s", o.Output)
		})
	}
}

// What is no failure record, or one that contradicts itself, ends the execution
// without a word of the provider.
func TestBrokenProvider(t *testing.T) {
	secret := errors.New("open /home/ada/secret: no")
	for name, c := range map[string]struct {
		source    string
		operation string
		answer    error
		shown     string
	}{
		"another error":             {`<File path="a" />`, host.OpRead, secret, "could not serve <File>"},
		"another operation":         {`<File path="a" />`, host.OpRead, &host.FileError{Operation: host.OpGlob, Phase: host.PhaseTarget, Reason: host.Missing}, "could not serve <File>"},
		"a target beside a read":    {`<File path="a" />`, host.OpRead, &host.FileError{Operation: host.OpRead, Phase: host.PhaseTarget, Reason: host.Missing, Target: host.Unchanged}, "could not serve <File>"},
		"the check":                 {`<File path="a"><Mark /></File>`, host.OpCheck, secret, "could not serve <File>"},
		"a write without a target":  {`<File path="a">x</File>`, host.OpWrite, &host.FileError{Operation: host.OpWrite, Phase: host.PhaseTarget, Reason: host.Directory}, "could not serve <File>"},
		"a commit left unchanged":   {`<File path="a">x</File>`, host.OpWrite, &host.FileError{Operation: host.OpWrite, Phase: host.PhaseCommit, Reason: host.Busy, Target: host.Unchanged}, "could not serve <File>"},
		"a cleanup with a reason":   {`<File path="a">x</File>`, host.OpWrite, &host.FileError{Operation: host.OpWrite, Phase: host.PhaseCleanup, Reason: host.Busy, Target: host.Committed, Cleanup: host.Busy}, "could not serve <File>"},
		"a rollback with a cleanup": {`<File path="a">x</File>`, host.OpWrite, &host.FileError{Operation: host.OpWrite, Phase: host.PhaseTransaction, Reason: host.Busy, Target: host.RolledBack, Cleanup: host.Busy}, "could not serve <File>"},
		"an unknown write phase":    {`<File path="a">x</File>`, host.OpWrite, &host.FileError{Operation: host.OpWrite, Phase: host.PhaseAccess, Reason: host.Busy, Target: host.Unchanged}, "could not serve <File>"},
		"a deletion":                {`<File.Delete path="a" />`, host.OpDelete, secret, "could not serve <File.Delete>"},
		"a search":                  {`<Glob include={["*"]} as="g" />`, host.OpGlob, secret, "could not serve <Glob>"},
		"a temporary directory":     {`<TempDir><Mark /></TempDir>`, host.OpTemp, secret, "could not serve <TempDir>"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &memory{failures: map[string]error{c.operation: c.answer}}
			o := run(t, "<PrintErrors>"+c.source+"</PrintErrors><Mark name=\"after\" />", world{files: m})
			o.infrastructure(t, c.shown)
			require.NotContains(t, o.stopped.Error(), "secret")
			require.ErrorIs(t, o.stopped, c.answer, "the answer is kept as data")
			require.Empty(t, o.marks)
		})
	}
}

// Content that failed writes nothing, and exactly one failure is reported.
func TestFileContentFails(t *testing.T) {
	const missing = `<Missing> could not be imported: no component is named Missing: no Missing.md in , and the library has none`
	for _, c := range []struct{ name, source, output, fails string }{
		{"where the region decides to fail", `a<File path="f">b<Missing /></File>c`, "a", `<File> did not write "f" because its content failed: ` + missing},
		{"where the region prints", `a<PrintErrors><File path="f">b<Missing /></File>c</PrintErrors>`, `a<!-- ERROR: <File> did not write "f" because its content failed: ` + missing + ` -->c`, ""},
		{"where the content printed by itself", `a<File path="f">b<PrintErrors><Missing /><Missing /></PrintErrors></File>c`, `a<!-- ERROR: <File> did not write "f" because its content failed: ` + missing + "\n" + missing + ` -->c`, ""},
		{"by a soft failure", `a<File path="f"><Json /></File>c`, `a<!-- ERROR: <File> did not write "f" because its content failed: <Json> needs a value: write <Json value={…} /> -->c`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &memory{}
			o := run(t, c.source, world{files: m})
			require.NoError(t, o.stopped)
			require.Equal(t, []string{"check writeTextFile f"}, m.log)
			require.Equal(t, c.output, o.Output)
			if c.fails != "" {
				require.EqualError(t, o.Err, c.fails)
				return
			}
			require.NoError(t, o.Err)
			require.Equal(t, 1, o.Printed)
		})
	}
}

// A fault of infrastructure inside the content keeps its kind.
func TestFileContentInfrastructure(t *testing.T) {
	m := &memory{failures: map[string]error{host.OpRead: errors.New("broken")}}
	o := run(t, `<PrintErrors><File path="f"><File path="g" /></File></PrintErrors>`, world{files: m})
	o.infrastructure(t, "could not serve <File>")
	require.Equal(t, []string{"check writeTextFile f", "read /home/site/g"}, m.log)
}

// A provider that answers with the cause of a cancellation is not at fault.
func TestFileCancelled(t *testing.T) {
	cause := errors.New("the run ended")
	ctx, cancel := context.WithCancelCause(t.Context())
	o := run(t, `<PrintErrors><File path="f" /></PrintErrors><Mark />`, world{ctx: ctx, files: cancelling{&memory{}, func() error { cancel(cause); return cause }}})
	require.ErrorIs(t, o.stopped, cause)
	require.NotContains(t, o.stopped.Error(), "provider")
	require.Empty(t, o.marks)
}

type cancelling struct {
	*memory
	read func() error
}

func (c cancelling) ReadText(context.Context, string, string) (string, error) { return "", c.read() }

// The machine's own provider, for the facts a message depends on.
func TestFileOnDisk(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "a.txt"), []byte("text"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(root, "folder"), 0o700))
	require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(root, "out")))
	for _, c := range []struct{ source, want string }{
		{`<File path="a.txt" />`, `text`},
		{`<File path="b/c.txt">x</File>`, ``},
		{`<File path="" />`, `<!-- ERROR: <File> cannot read a file: the path is empty; give one relative to the working directory -->`},
		{`<File path="/etc/hostname" />`, `<!-- ERROR: <File> cannot read a file: the path is absolute; give one relative to the working directory -->`},
		{`<File path="/etc/x">x</File>`, `<!-- ERROR: <File> cannot write a file: the path is absolute; give one relative to the working directory -->`},
		{`<File path="../a.txt" />`, `<!-- ERROR: <File> cannot read "../a.txt": the path ends up outside the working directory -->`},
		{`<File path="none.txt" />`, `<!-- ERROR: <File> cannot read "none.txt": no such file -->`},
		{`<File path="folder" />`, `<!-- ERROR: <File> cannot read "folder": it is a directory -->`},
		{`<File path="folder">x</File>`, `<!-- ERROR: <File> cannot write "folder": it is a directory, so it cannot hold text -->`},
		{`<File path="out/x">x</File>`, `<!-- ERROR: <File> cannot write "out/x": the path passes through a link that leaves the working directory -->`},
		{`<File path="out/x" />`, `<!-- ERROR: <File> cannot read "out/x": the path passes through a link that leaves the working directory -->`},
		{`<File.Delete path="none.txt" />`, ``},
		{`<File.Delete path="folder" />`, `<!-- ERROR: <File.Delete> cannot delete "folder": it is a directory -->`},
		{`<File.Delete path="." />`, `<!-- ERROR: <File.Delete> cannot delete ".": it is a directory -->`},
		{`<File.Delete path="../x" />`, `<!-- ERROR: <File.Delete> cannot delete "../x": the path ends up outside the working directory -->`},
		{`<File.Delete path="out" />`, ``},
		{`<File path="a.txt/b.txt">x</File>`, `<!-- ERROR: <File> cannot resolve "a.txt/b.txt": something that has to be a directory is not one -->`},
		{`<Glob include={["*.txt"]} as="g"/>`, ``},
	} {
		o := run(t, `<Dir path={"`+root+`"}>`+c.source+`</Dir>`, world{files: host.NewFiles()})
		require.NoError(t, o.stopped, c.source)
		require.NoError(t, o.Err, c.source)
		require.Equal(t, c.want, o.Output, c.source)
		require.NotContains(t, o.Output, root)
	}
}
