package cli

import "testing"

// BenchmarkProfile is what a run pays for stating the ordinary profile, whether or not
// its document has anything to evaluate.
func BenchmarkProfile(b *testing.B) {
	c := &command{Process: Process{Dir: b.TempDir()}}
	for b.Loop() {
		s, err := c.profile(b.Context(), profileRequest{include: defaultInclude(nil)})
		if err != nil {
			b.Fatal(err)
		}
		s.revoke()
	}
}
