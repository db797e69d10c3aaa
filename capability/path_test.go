package capability

import (
	"path"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// pathRows are the spellings of fragments 10: what is refused with its class, and
// beside it what differs little and is admitted.
var pathRows = []struct {
	written string
	class   string // empty: admitted
	clean   string
}{
	{"", "path", ""},
	{"/ws/docs/a.txt", "path", ""},
	{"//server/share/a.txt", "path", ""},
	{"a.txt", "", "a.txt"},
	{"docs//a.txt", "", "docs/a.txt"},
	{"./docs/./a.txt", "", "docs/a.txt"},
	{"docs/x/../a.txt", "", "docs/a.txt"},
	{"docs/a.txt/", "", "docs/a.txt"},
	{"docs/a b.txt", "", "docs/a b.txt"},
	{"docs/ünï.txt", "", "docs/ünï.txt"},

	// Climbing.
	{"..", "path", ""},
	{"../a", "path", ""},
	{"docs/../../a", "path", ""},
	{"docs//..//..//a", "path", ""},
	{"a/../../a", "path", ""},
	{"docs/..notes.md", "", "docs/..notes.md"},
	{"docs/%2e%2e/%2e%2e/a", "", "docs/%2e%2e/%2e%2e/a"},

	// Characters.
	{`docs\a.txt`, "path", ""},
	{"docs/a.txt:stream", "path", ""},
	{"C:docs/a.txt", "path", ""},
	{`\\?\C:\docs\a.txt`, "path", ""},
	{"docs/*.txt", "path", ""},
	{"docs/a?.txt", "path", ""},
	{`docs/"a"`, "path", ""},
	{"docs/<a", "path", ""},
	{"docs/a>", "path", ""},
	{"docs/a|b", "path", ""},
	{"docs/[a]{b},c'&;=+@!$(d)^`#.txt", "", "docs/[a]{b},c'&;=+@!$(d)^`#.txt"},

	// What cannot be seen.
	{"docs/a\x00.txt", "encoding", ""},
	{"docs/a\n.txt", "encoding", ""},
	{"docs/a\t.txt", "encoding", ""},
	{"docs/a\x7f.txt", "encoding", ""},
	{"docs/a\u0085.txt", "encoding", ""},
	{"docs/\u202etxt.a", "encoding", ""},
	{"docs/a\u2066.txt", "encoding", ""},
	{"docs/a\u200b.txt", "encoding", ""},
	{"docs/a\u200f.txt", "encoding", ""},
	{"docs/a\ufeff.txt", "encoding", ""},
	{"docs/a\u00ad.txt", "encoding", ""},
	{"docs/a\u00a0.txt", "encoding", ""},
	{"docs/a\u2028.txt", "encoding", ""},
	{"docs/a\u2800.txt", "encoding", ""},
	{"docs/a\ufe0f.txt", "encoding", ""},
	{"docs/a\u3164.txt", "encoding", ""},
	{"docs/a\U000e0041.txt", "encoding", ""},
	{"docs/a\ue000.txt", "encoding", ""},
	{"docs/a\xff.txt", "path", ""},
	{"docs/a\ufffd.txt", "", "docs/a\ufffd.txt"},
	{"docs/e\u0301.txt", "", "docs/e\u0301.txt"},

	// Ends of segments.
	{"docs/a.txt.", "path", ""},
	{"docs/a.txt ", "path", ""},
	{"docs./a.txt", "path", ""},
	{"docs /a.txt", "path", ""},
	{"docs/...", "path", ""},
	{"docs/. ", "path", ""},
	{"docs/ a.txt", "", "docs/ a.txt"},
	{"docs/a .txt", "", "docs/a .txt"},

	// Short names.
	{"docs/PROGRA~1", "path", ""},
	{"docs/git~2/config", "path", ""},
	{"docs/a~10.txt", "path", ""},
	{"docs/a~.txt", "", "docs/a~.txt"},
	{"docs/~a1", "", "docs/~a1"},

	// Devices.
	{"docs/NUL", "path", ""},
	{"nul", "path", ""},
	{"docs/Con/a.txt", "path", ""},
	{"docs/prn.txt", "path", ""},
	{"docs/aux.tar.gz", "path", ""},
	{"docs/COM1 .txt", "path", ""},
	{"docs/com9", "path", ""},
	{"docs/LPT5.a", "path", ""},
	{"docs/com¹", "path", ""},
	{"docs/lpt³.txt", "path", ""},
	{"docs/conin$", "path", ""},
	{"docs/CONOUT$.x", "path", ""},
	{"docs/com", "", "docs/com"},
	{"docs/com0", "", "docs/com0"},
	{"docs/com10", "", "docs/com10"},
	{"docs/console", "", "docs/console"},
	{"docs/a.nul", "", "docs/a.nul"},
	{"docs/ nul", "", "docs/ nul"},
}

func TestA22_PathSpellings(t *testing.T) {
	b := newWorkbench(t, nil)
	read, write := captured(t, FileRead(b.root)), captured(t, FileWrite(b.root))
	for _, row := range pathRows {
		t.Run(row.written, func(t *testing.T) {
			clean, v := cleanPath("", row.written)
			if row.class == "" {
				require.Nil(t, v)
				require.Equal(t, row.clean, clean)
			} else {
				require.NotNil(t, v)
				require.Equal(t, row.class, v.Class)
				require.Equal(t, -1, strings.IndexFunc(v.Reason, hidden), "a reason is plain text")
			}
			// Literal in preflight, computed at use, in either form.
			require.Equal(t, row.class, classOf(read, use(SelfClosing, "", "path", row.written)))
			require.Equal(t, row.class, classOf(write, use(Paired, "", "path", row.written)))
			// Where the cursor is not known yet, the spelling is.
			unknown := classOf(read, Use{Form: SelfClosing, Props: use(SelfClosing, "", "path", row.written).Props})
			if climbs := strings.Contains(row.written, ".."); !climbs {
				require.Equal(t, row.class, unknown)
			}
			if row.class != "" {
				// The operation judges again, whoever calls it.
				for _, e := range []*Granted{read, write} {
					_, err := e.Do(t.Context(), call("", "text", "path", row.written))
					require.ErrorAs(t, err, new(*Violation))
				}
			}
		})
	}
	require.Empty(t, b.names(), "nothing was made")
}

func TestA22_PathsStartAtTheCursor(t *testing.T) {
	for _, row := range []struct{ dir, written, clean string }{
		{"docs", "a.txt", "docs/a.txt"},
		{"docs", "../a.txt", "a.txt"},
		{"docs/x", "../../a.txt", "a.txt"},
		{"docs", ".", "docs"},
		{"docs", "..", ""},
		{"", ".", ""},
	} {
		clean, v := cleanPath(row.dir, row.written)
		require.Nil(t, v, row)
		require.Equal(t, row.clean, clean, row)
	}
	for _, row := range [][2]string{{"docs", "../.."}, {"docs", "../../docs/a"}, {"docs", "x/../../../a"}} {
		_, v := cleanPath(row[0], row[1])
		require.NotNil(t, v, row)
		require.Equal(t, "path", v.Class)
	}
	read := captured(t, FileRead(newWorkbench(t, nil).root))
	require.Equal(t, "path", classOf(read, use(SelfClosing, "docs", "path", "..")), "the root is no file")
	require.Empty(t, classOf(read, Use{Props: use(0, "", "path", "../a").Props}), "decided when the cursor is known")
	require.Empty(t, classOf(read, Use{Props: use(0, "").Props, Computed: []string{"path"}}))
}

func TestA22_PathLength(t *testing.T) {
	long := strings.Repeat("a/", MaxPath/2-1) + "aa"
	require.Len(t, long, MaxPath)
	_, v := cleanPath("", long)
	require.Nil(t, v)
	_, v = cleanPath("", long+"a")
	require.NotNil(t, v)
	_, v = cleanPath("d", long)
	require.NotNil(t, v)
	require.Less(t, len(v.Reason), 400)
}

// Paths of the adversarial corpus under the ceilings it assumes: reads of docs/**,
// writes of docs/out.txt, or of everything.
func TestA22_AdversarialPaths(t *testing.T) {
	b := newWorkbench(t, map[string]string{"docs/a.txt": "A", "docs/..notes.md": "N", "docs-private/s.txt": "S"})
	read := captured(t, FileRead(b.root), within("docs/**"))
	for _, refused := range []string{
		"docs-private/s.txt", "../ws-private/s.txt", // 01
		"docs/../../ws-private/s.txt", "docs/..", "docs//..//..//ws-private/s.txt", // 02
		"/ws/docs/a.txt", `docs\..\..\ws-private\s.txt`, "docs/../docs-private/s.txt",
		"docs/NUL", "docs/COM1 .txt", "docs/com¹", "docs/aux.txt", "docs/a.txt:stream", "C:docs/a.txt", // 03
		`\\?\C:\docs\a.txt`, "//server/share/a.txt", "docs/a.txt.", "docs/a.txt ",
	} {
		require.Equal(t, "path", classOf(read, use(SelfClosing, "", "path", refused)), refused)
	}
	for admitted, text := range map[string]string{"docs/a.txt": "A", "docs/..notes.md": "N"} {
		v, err := perform(t.Context(), read, call("", "", "path", admitted))
		require.NoError(t, err, admitted)
		require.Equal(t, text, v)
	}
	_, err := perform(t.Context(), read, call("", "", "path", "docs/%2e%2e/%2e%2e/ws-private/s.txt"))
	require.EqualError(t, err, `cannot read "docs/%2e%2e/%2e%2e/ws-private/s.txt": no such file or directory`)

	for _, write := range []*Granted{captured(t, FileWrite(b.root), within("docs/out.txt")), captured(t, FileWrite(b.root))} {
		for _, refused := range []string{".xmd/policy.json", "xmd.policy.json", "components/Fetch.md", ".git/hooks/post-checkout"} { // 04
			require.Equal(t, "path", classOf(write, use(Paired, "", "path", refused)), refused)
		}
		require.Empty(t, classOf(write, use(Paired, "", "path", "docs/out.txt")))
	}
}

func TestQuote(t *testing.T) {
	require.Equal(t, `"a\u202eb\u000a\U000e0041"`, quote("a\u202eb\n\U000e0041"))
	require.Equal(t, "\"a\uFFFDb\"", quote("a\xffb"))
	require.Equal(t, `"`+strings.Repeat("x", 200)+`…"`, quote(strings.Repeat("x", 300)))
}

func FuzzCleanPath(f *testing.F) {
	for _, row := range pathRows {
		f.Add("", row.written)
		f.Add("docs/x", row.written)
	}
	f.Fuzz(func(t *testing.T, dir, written string) {
		dir, v := cleanPath("", dir)
		if v != nil {
			return
		}
		clean, v := cleanPath(dir, written)
		if v != nil {
			require.True(t, utf8.ValidString(v.Reason))
			require.Equal(t, -1, strings.IndexFunc(v.Reason, hidden))
			require.Contains(t, []string{"path", "encoding"}, v.Class)
			return
		}
		// It never leaves, and it is its own clean form.
		require.NotEqual(t, "..", clean)
		require.False(t, strings.HasPrefix(clean, "../") || strings.HasPrefix(clean, "/"))
		require.False(t, strings.ContainsAny(clean, `\:*?"<>|`))
		if clean == "" {
			return
		}
		require.Equal(t, path.Clean(clean), clean)
		again, v := cleanPath("", clean)
		require.Nil(t, v)
		require.Equal(t, clean, again)
		_ = Control{Dirs: []string{"d"}, Names: []string{"A.B"}}.decides(clean)
		_ = isSecret(clean)
	})
}
