package admission

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/value"
)

// TestA3_ARefusalHoldsNothingOfTheCandidate looks for pieces of a random marker in
// everything that can be made of a refusal.
func TestA3_ARefusalHoldsNothingOfTheCandidate(t *testing.T) {
	random := make([]byte, 32)
	_, err := rand.Read(random)
	require.NoError(t, err)
	marker := hex.EncodeToString(random)
	require.Len(t, marker, 64)

	grants := []*capability.Grant{flat(t), closed(t)}
	for _, candidate := range []string{
		"<X%s />",
		"<X%s",
		"</X%s>",
		"<Probe %s />",
		`<Probe %s="1" />`,
		`<Probe note="%s" />`,
		`<Pick s={%s} />`,
		`<Pick n="%s" />`,
		`<Pick as="1%s" />`,
		`<Pick any={<X%s />} />`,
		`<Pick {...%s} />`,
		`<File path="../%s" />`,
		`<File path="%s" />`,
		`<File path="docs/%s" other />`,
		`<Fetch url="%s" />`,
		`<Fetch url="https://%s.example/one" />`,
		`<Fetch url="https://api.example.test/one" method="%s" />`,
		`<Fetch url="https://api.example.test/one" timeout="%s" />`,
		`<Fetch url="https://api.example.test/one" headers={{"%s": "x"}} />`,
		`<Fetch url="https://api.example.test/one" headers={{"x": "%s"}} />`,
		`<Glob include={["../%s"]} />`,
		"{meta.%s}",
		"%s<Exec />",
		"%s\x00",
		"---\n%s: 1\n---\n",
		"```sh exec\n%s\n```\n",
		"<!-- %s",
		"<!-- <X%s /> -->",
		`<Answers><Answer template="{?%s" value={1} />t</Answers>`,
		`<Loop max="%s">t</Loop>`,
	} {
		source := strings.Replace(candidate, "%s", marker, 1)
		for _, g := range grants {
			d := Preflight(marker, source, g)
			require.NotNil(t, d.Refusal, candidate)
			require.Equal(t, &Decision{Refusal: &Refusal{d.Refusal.Class}}, d, candidate)
			require.Nil(t, errors.Unwrap(d.Refusal))
			record, err := value.JSON(d.Record(nil))
			require.NoError(t, err)
			_, again := Continue(marker, d.Record(nil), &source, g)
			require.ErrorAs(t, again, new(*Refusal))
			for _, text := range []string{
				d.Refusal.Error(), record, again.Error(),
				fmt.Sprintf("%+v %#v", *d, *d), fmt.Sprintf("%+v %#v", *d.Refusal, *d.Refusal),
			} {
				for i := range len(marker) - 8 {
					require.NotContains(t, strings.ToLower(text), marker[i:i+8], candidate)
				}
			}
		}
	}
}

func TestSentences(t *testing.T) {
	for class, want := range map[Class]string{
		Block:         "a generated fragment carries an executable code block, which it may not.",
		Expression:    "a generated fragment carries an expression prop, which it may not.",
		Interpolation: "a generated fragment reads a binding through interpolation, which it may not.",
		Binding:       "a generated fragment binds a result with `as`, which it may not.",
		Component:     "a generated fragment names a component this host did not admit.",
		Content:       "a generated fragment gives content to a component this host admitted only in its self-closing form.",
		FormClass:     "a generated fragment writes self-closing a component this host admitted only in its paired form.",
		Structure:     "a generated fragment writes structural syntax where it does not belong.",
		Encoding:      "a generated fragment is not plain text that every reader reads alike.",
		Construct:     "a generated fragment carries a construct this evaluator does not admit.",
		Props:         "a generated fragment gives a component props this host did not admit.",
		RequestClass:  "a generated fragment asks for a request this host did not admit.",
		PathClass:     "a generated fragment names a path this host did not admit.",
		Limit:         "a generated fragment exceeds a limit this host stated.",
	} {
		require.EqualError(t, &Refusal{class}, want)
	}
}
