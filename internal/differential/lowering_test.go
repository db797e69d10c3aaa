package differential

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/capability"
)

func TestA18_EveryRowOfTheLowering(t *testing.T) {
	b, e := bench(t), engines(t)
	for _, r := range Lowering() {
		t.Run(r.Name, func(t *testing.T) {
			v := b.Compare(t.Context(), capability.Closed, r.Source, e...)
			require.Empty(t, v.Refused)
			require.Empty(t, v.Excused)
			require.Empty(t, v.Difference)
			require.Equal(t, r.Failure, v.Outcome.Failure)
			require.Equal(t, r.Output, v.Outcome.Output)
			require.Equal(t, r.Effects, v.Outcome.Effects[rootID])
			var imports []string
			for _, i := range v.Outcome.Imports {
				imports = append(imports, strings.TrimPrefix(i, "xmd:"))
			}
			require.Equal(t, strings.Fields(r.Imports), imports)
			ordinary, err := b.Ordinary(t.Context(), capability.Closed, r.Source)
			require.NoError(t, err)
			require.Equal(t, r.Failure, ordinary.Failure)
			require.Equal(t, r.Output, ordinary.Output)
			require.Equal(t, r.Effects, ordinary.Effects[rootID])
		})
	}
}

// The children of an All have effects of their own, in both readings.
func TestA18_EffectsOfConcurrentChildren(t *testing.T) {
	b, e := bench(t), engines(t)
	const source = `<Probe key="a" /><All><Spawn><Probe key="b" /><All><Spawn><Probe key="c" /></Spawn><Spawn><Probe key="d" /></Spawn></All></Spawn><Spawn><Probe key="e" /></Spawn></All><Probe key="f" />`
	v := b.Compare(t.Context(), capability.Closed, source, e...)
	require.Empty(t, v.Difference)
	require.Equal(t, "<a 1><b 1><c 1><d 1><e 1><f 1>", v.Outcome.Output)
	require.Len(t, v.Outcome.Effects, 5)
	require.Len(t, v.Outcome.Effects["root.0.1"], 1)
	require.Contains(t, v.Outcome.Effects["root.0.1"][0], `"d"`)
	require.Equal(t, []string{`Probe "<a 1>"`, `Probe "<b 1>"`, `Probe "<c 1>"`, `Probe "<d 1>"`, `Probe "<e 1>"`, `Probe "<f 1>"`}, v.Outcome.Observations)
}

func TestEnginesAgreeAboutLimits(t *testing.T) {
	b, e := bench(t), engines(t)
	for _, r := range Exhausting() {
		v := b.Compare(t.Context(), capability.Closed, r.Source, e...)
		require.Empty(t, v.Difference, r.Name)
		require.Equal(t, r.Failure, v.Outcome.Failure, r.Name)
		require.True(t, v.Limited, r.Name)
	}
}
