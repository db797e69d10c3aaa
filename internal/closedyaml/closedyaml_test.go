package closedyaml

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

func TestWhatNobodyMeantIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\n":       "",
		"a: 1\na: 2\n": `line 2, column 1: the file has the key "a" twice`,
		"a: 1\nb: 2\n": `line 2, column 1: the file has the unknown key "b"; known keys are a`,
		"a: &x 1\n":    "anchor",
		"a: !t 1\n":    "tag",
		"<<: {a: 1}\n": "merges another mapping",
		"- a\n":        "must be a mapping",
		"a: [1]\n":     "must be one value",
	} {
		var n yaml.Node
		require.NoError(t, yaml.Unmarshal([]byte(text), &n))
		err := ReadMapping(n.Content[0], "the file", []Key{{"a", func(n *yaml.Node) error {
			_, err := Scalar(n, "a")
			return err
		}}})
		if want == "" {
			require.NoError(t, err, text)
			continue
		}
		require.ErrorContains(t, err, want, text)
		require.IsType(t, &Error{}, err)
	}
}
