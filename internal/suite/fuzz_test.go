package suite

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzRead: no archive is too strange to judge, and one that was rewritten to what came
// of it is as wanted from then on.
func FuzzRead(f *testing.F) {
	f.Add([]byte(archive("fragment.md", `<File path="a" />`, "results", `{"File.read": ["b"]}`, "want", "admitted")))
	f.Add([]byte(archive("fragment.json", `["-- want --\n", 255]`, "want/output.json", `""`)))
	f.Add([]byte(archive("profile.yaml", flatProfile, "allow", "read", "fragment.md", "{x}")))
	f.Add([]byte(archive("fragment.md", `<Fail message={"-- want --\n"} />`, "results", "{}")))
	f.Add([]byte("-- want --\r\n-- fragment.md --\r\nt"))
	f.Add([]byte(archive("fragment.json", `"-- a --\r\n-- want/output --"`, "results", "{}")))
	f.Fuzz(func(t *testing.T, data []byte) {
		if strings.Contains(string(data), "limits") {
			t.Skip() // a limit on time is met by chance
		}
		o := only(t, string(data))
		if o.Archive == nil {
			return
		}
		again := only(t, string(o.Archive))
		require.Nil(t, again.Archive, "%q", o.Archive)
		for _, problem := range again.Problems {
			require.Contains(t, problem, "remove results", "%q", o.Archive)
		}
	})
}
