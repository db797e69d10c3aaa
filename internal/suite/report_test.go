package suite

import (
	"encoding/xml"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/value"
)

func reported(t *testing.T) *Report {
	r, err := Run(t.Context(), []*Case{
		Read("s/passes#1.txtar", []byte(archive("fragment.md", "t", "want", "admitted"))),
		Read("s/a\nb\\.txtar", []byte(archive("fragment.md", "<X />", "want", "admitted"))),
		Read("s/sub/broken.txtar", []byte(archive("fragment.md", "t", "\x01<", "t"))),
		Read("top.txtar", []byte(archive("fragment.md", "t", "want", "admitted"))),
	}, nil)
	require.NoError(t, err)
	return r
}

func TestTAP(t *testing.T) {
	r := reported(t)
	lines := strings.Split(r.TAP(), "\n")
	require.Equal(t, []string{
		"TAP version 13",
		"1..4",
		`ok 1 - s/passes\#1.txtar`,
		"not ok 2 - s/a\ufffdb\\\\.txtar",
		"  ---",
		"  problems:",
		`    - "want is not as it came:\n-admitted\n+refused: component"`,
		"  ...",
		"not ok 3 - s/sub/broken.txtar",
		"  ---",
		"  problems:",
	}, lines[:11])
	require.True(t, strings.HasPrefix(lines[11], `    - "it has a member \"\\x01<\", which no case has;`), lines[11])
	require.Equal(t, []string{"  ...", "ok 4 - top.txtar", "# 4 cases: 2 passed, 2 failed"}, lines[12:15])
	require.True(t, strings.HasPrefix(lines[15], "# uncovered: classes block (flat)"), lines[15])
}

func TestJUnit(t *testing.T) {
	text, err := reported(t).JUnit()
	require.NoError(t, err)
	var read junitSuites
	require.NoError(t, xml.Unmarshal(text, &read))
	require.Equal(t, 4, read.Tests)
	require.Equal(t, 2, read.Failures)
	require.Len(t, read.Suites, 3)
	require.Equal(t, "s", read.Suites[0].Name)
	require.Equal(t, 2, read.Suites[0].Tests)
	require.Equal(t, 1, read.Suites[0].Failures)
	require.Equal(t, "passes#1", read.Suites[0].Cases[0].Name)
	require.Nil(t, read.Suites[0].Cases[0].Failure)
	require.Equal(t, "want is not as it came", read.Suites[0].Cases[1].Failure.Message)
	require.Equal(t, "want is not as it came:\n-admitted\n+refused: component", read.Suites[0].Cases[1].Failure.Text)
	require.Equal(t, "s/sub", read.Suites[1].Name)
	require.Contains(t, read.Suites[1].Cases[0].Failure.Text, "<", "what XML reserves comes back")
	require.Empty(t, read.Suites[2].Name)
}

func TestJSON(t *testing.T) {
	o := reported(t).JSON()
	cases, _ := o.Get("cases")
	list := cases.([]any)
	require.Len(t, list, 4)
	first, err := value.JSON(list[0])
	require.NoError(t, err)
	require.Equal(t, `{"case":"s/passes#1.txtar","status":"passed","decision":"admitted","evaluated":false}`, first)
	second, err := value.JSON(list[1])
	require.NoError(t, err)
	require.Equal(t, `{"case":"s/a\nb\\.txtar","status":"failed","decision":"refused: component","evaluated":false,"problems":["want is not as it came:\n-admitted\n+refused: component"]}`, second)
	for name, want := range map[string]float64{"version": 1, "passed": 2, "failed": 2} {
		n, _ := o.Get(name)
		require.Equal(t, want, n, name)
	}
	require.True(t, o.Has("uncovered"))
}

func TestCoverageString(t *testing.T) {
	require.Equal(t, "nothing", Coverage{}.String())
	require.Equal(t, "classes a, b; ceilings c", Coverage{Classes: []string{"a", "b"}, Ceilings: []string{"c"}}.String())
}

func TestDiff(t *testing.T) {
	for _, r := range []struct{ from, to, want string }{
		{"", "", ""},
		{"a\n", "a\n", " a"},
		{"", "a\nb\n", "+a +b"},
		{"a\nb\n", "", "-a -b"},
		{"a\nb\nc\n", "a\nc\n", " a -b  c"},
		{"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nx\n6\n7\n8\n9\n", " 2  3  4 -5 +x  6  7  8"},
		{"a\nx\nb\ny\n", "a\nb\n", " a -x  b -y"},
		{"a\nb\nc\n", "c\nb\na\n", "-a -b  c +b +a"},
	} {
		require.Equal(t, r.want, strings.Join(diff(r.from, r.to), " "), "%q %q", r.from, r.to)
	}
	long := strings.Repeat("a\n", 2000)
	require.Len(t, diff("x\n"+long+"y\n", "z\n"+long+"w\n"), 4004, "texts too long to compare share nothing")
}
