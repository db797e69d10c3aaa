package component

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDir(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{`<Dir path="a"><Where /></Dir> <Where />`, "/home/site/a /home/site"},
		{`<Dir path="/srv/x"><Where /></Dir>`, "/srv/x"},
		{`<Dir path="a/../b"><Where /></Dir>`, "/home/site/a/../b"},
		{`<Dir path="/"><Dir path="etc"><Where /></Dir></Dir>`, "/etc"},
		{`<Dir path="/srv/"><Dir path="x"><Where /></Dir></Dir>`, "/srv/x"},
		{`<Dir path="a" as="t">in <Where /></Dir>[{t}]`, "[in /home/site/a]"},
		{`<Dir path="a"><Let as="x" value={1} /></Dir>{x}`, "1"},
	} {
		m := &memory{}
		require.Equal(t, c.want, run(t, c.source, world{files: m}).ok(t), c.source)
		require.Empty(t, m.log, "no file system was asked")
	}
}

// The directory is in force for the content only, however that ended, and its
// failures mean what the region around says.
func TestDirContentFails(t *testing.T) {
	o := run(t, `<PrintErrors><Dir path="a">x<Fail message="no" /></Dir> <Where /></PrintErrors>`, world{})
	o.printed(t, "no")
	require.Contains(t, o.Output, "/home/site")
	require.NotContains(t, o.Output, "/home/site/a")
	o = run(t, `<Dir path="a">x<Fail message="no" /></Dir> <Mark />`, world{})
	o.failed(t, "no")
	require.Equal(t, "x", o.Output)
	require.Empty(t, o.marks)
}
