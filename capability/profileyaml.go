package capability

import (
	"go.yaml.in/yaml/v3"

	"github.com/executable-markdown/xmd/internal/closedyaml"
)

// readText reads a text that is not empty.
func readText(n *yaml.Node, where string, into *string) error {
	text, err := closedyaml.Scalar(n, where)
	switch {
	case err != nil:
		return err
	case n.ShortTag() != "!!str":
		return closedyaml.Refuse(n, "%s is not text; quote it", where)
	case text == "":
		return closedyaml.Refuse(n, "%s is empty; write a value or leave the key out", where)
	}
	*into = text
	return nil
}
