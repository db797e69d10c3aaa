package component

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/engine"
)

// A failure says where it was in the program if that is known, and no wrong place
// otherwise.
func TestAFailureOfAProgramNamesItsPlace(t *testing.T) {
	s := newStage(t)
	o := performance{profile: s.ordinary(), text: "\n <File path=\"none.txt\" />"}.run(t, evaluateRead)
	require.ErrorContains(t, o.Err, "<Evaluate>: line 2, column 2 of the program: ")

	o = performance{profile: s.ordinary(), text: "\n <Let as=\"n\" value={\"3\"} /><Loop max={n}>x</Loop>"}.run(t, evaluateRead)
	require.ErrorContains(t, o.Err, "<Evaluate>: the number of rounds")
	require.NotContains(t, o.Err.Error(), "line ")
}

// What a program may be written in is what its grant holds: every form of every entry.
func TestTheVocabularyIsTheGrant(t *testing.T) {
	s := newStage(t)
	p := s.profile()
	p.Read = append(p.Read, s.own("Either", capability.Read, capability.SelfClosing|capability.Paired, noProps, `{}`))
	for _, allow := range [][]capability.Class{{"read"}, {"write"}, {"read", "write"}} {
		g, err := s.capture(p).Select(allow...)
		require.NoError(t, err)
		v := vocabulary(g)
		granted := map[string]engine.Form{}
		for _, e := range g.Entries() {
			for form, shown := range map[capability.Form]engine.Form{capability.SelfClosing: engine.SelfClosing, capability.Paired: engine.Paired} {
				if e.Forms&form != 0 {
					granted[e.Name] |= shown
				}
			}
		}
		listed := map[string]engine.Form{}
		for _, name := range v.Library.Names() {
			choice, err := engine.Choose(v.Library, nil, nil, name)
			require.NoError(t, err)
			listed[name] = choice.Native.Forms
		}
		require.Equal(t, granted, listed)
	}
}
