package admission

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/wasm"
)

// FuzzPreflight: no source makes it panic; what is refused leaves nothing; what is
// admitted compiles, reads back and continues.
func FuzzPreflight(f *testing.F) {
	for _, group := range classRows {
		for _, r := range group.rows {
			for _, source := range []string{r.refused, r.admitted} {
				if len(source) < 300 {
					f.Add(source)
				}
			}
		}
	}
	grants := []*capability.Grant{flat(f), closed(f)}
	f.Fuzz(func(t *testing.T, source string) {
		for _, g := range grants {
			d := Preflight("test", source, g)
			place := Explain(source, g)
			if d.Refusal != nil {
				require.Nil(t, d.Program)
				require.NotEmpty(t, d.Refusal.Error())
				require.Equal(t, d.Refusal.Class, place.Class)
				require.LessOrEqual(t, len(place.Excerpt), maxExcerpt)
				_, err := Continue("test", reread(t, d.Record(nil)), nil, g)
				require.Equal(t, d.Refusal, err)
				continue
			}
			require.Nil(t, place)
			m, err := wasm.Compile(d.Program)
			require.NoError(t, err)
			again, err := wasm.Read(m.Bytes)
			require.NoError(t, err)
			require.Equal(t, m.Digest, again.Digest)
			require.Equal(t, d.Program.Elements, again.Elements)
			require.Equal(t, d.Digest, again.Source)
			c, err := Continue("test", reread(t, d.Record(m)), &source, g)
			require.NoError(t, err)
			require.Equal(t, d, c.Decision)
			require.NoError(t, c.Check(again))
		}
	})
}
