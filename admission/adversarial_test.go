package admission

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/capability"
)

const admit = Class("admit")

var (
	anyRefusal = []Class{
		Block, Expression, Interpolation, Binding, Component, Content, FormClass, Structure,
		Encoding, Construct, Props, RequestClass, PathClass, Limit,
	}
	either = append([]Class{admit}, anyRefusal...)
)

// verdicts says what may become of the candidates of each file. The last list holds
// for all candidates that follow.
var verdicts = map[string][][]Class{
	"01-path-prefix-sibling":       {{PathClass}, {PathClass}, {admit}},
	"02-path-dotdot-forms":         {{PathClass}, {PathClass}, {PathClass}, either, {PathClass}, {PathClass}, {PathClass}, {admit}},
	"03-path-device-names":         {{PathClass}},
	"04-path-self-grant":           {{PathClass}, {PathClass}, {PathClass}, {PathClass}, {admit}},
	"05-fetch-redirect":            {{admit}},
	"06-url-authority-tricks":      {{RequestClass}},
	"07-url-spellings":             {either, either, either, either, either, either, either, either, either, {RequestClass}},
	"08-header-smuggling":          {{RequestClass}},
	"09-second-effect-after-first": {{Component}, {Component}, {RequestClass}, {Block}, {Block}, {Component}},
	"10-over-limit-tail":           {{Component, Limit}},
	"11-name-lookalikes":           {either, {Component, Encoding}, {Component, Encoding}, {Component, Encoding}, {Component, Encoding}, {Component, Encoding}, {Component, Encoding}, either, {admit}},
	"12-fence-closers":             {{admit}, {admit}, {admit}, {admit}, {Component}, {Component}, {Block}, {admit}},
	"13-unclosed-code-span":        {{Component}, {Component}, {Component}, {admit}},
	"14-comment-hides-tag":         {either, {Component}, either, {Component}, {Component}},
	"15-line-and-control-bytes":    {{Encoding, Block, Component}, {Encoding, Block, Component}, {Encoding, Block, Component}, {Encoding, Block, Component}, {Encoding, Block, Component}, either, {Encoding, Block, Component}, anyRefusal, either, {Encoding, Block, Component}},
	"16-attribute-braces":          {anyRefusal, anyRefusal, anyRefusal, anyRefusal, anyRefusal, anyRefusal, anyRefusal, {admit}, either, anyRefusal},
	"17-quadratic-markdown":        {either},
	"18-bidi-and-zero-width":       {either, {PathClass, Encoding}, {PathClass, Encoding}, either},
	"19-ansi-review-screen":        {either},
	"20-frontmatter-bomb":          {anyRefusal},
	"21-schema-remote-ref":         {anyRefusal},
	"22-approve-then-swap":         {{admit}},
	"23-journal-line-injection":    {{admit}, {admit}, {Construct, RequestClass}, {admit}},
	"24-refusal-marker":            {anyRefusal},
	"25-observation-is-data":       {{admit}},
}

// TestA2_AdversarialCandidates judges the corpus of candidates in the world it
// assumes.
func TestA2_AdversarialCandidates(t *testing.T) {
	world := profile(t, capability.Flat)
	world.Read[0].Paths = []string{"docs/**"}
	world.Read[2].Requests = world.Read[2].Requests[:1]
	world.Read = world.Read[:4]
	world.Read[3].Forms |= capability.Paired
	world.Write = world.Write[:1]
	world.Write[0].Paths = []string{"docs/out.txt"}
	narrow := grantOf(t, world)
	world.Write = slices.Clone(world.Write)
	world.Write[0].Paths = nil
	wide := grantOf(t, world)

	files, err := filepath.Glob("testdata/adversarial/*.md")
	require.NoError(t, err)
	require.Len(t, files, len(verdicts))
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		want := verdicts[name]
		require.NotEmpty(t, want, name)
		candidates := strings.Split(string(text), "%%%\n")
		require.GreaterOrEqual(t, len(candidates), len(want), name)
		for i, source := range candidates {
			grants := []*capability.Grant{narrow}
			if name == "04-path-self-grant" {
				grants = append(grants, wide)
			}
			for _, g := range grants {
				got := class(source, g)
				if got == "" {
					got = admit
				}
				require.Contains(t, want[min(i, len(want)-1)], got, "%s v%d", name, i+1)
				require.NotContains(t, strings.ToLower((&Refusal{got}).Error()), "xmdmarker7q2")
			}
		}
	}
}
