package agent

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/executable-markdown/xmd/internal/closedyaml"
)

// plainText returns text that a program can be given.
func plainText(n *yaml.Node, where string) (string, error) {
	text, err := closedyaml.Scalar(n, where)
	switch {
	case err != nil:
		return "", err
	case n.ShortTag() != "!!str":
		return "", closedyaml.Refuse(n, "%s is not text; quote it", where)
	case strings.ContainsRune(text, 0):
		return "", closedyaml.Refuse(n, "%s holds a zero byte, which no program can be given; remove it", where)
	}
	return text, nil
}

// readText reads a text that is not empty.
func readText(n *yaml.Node, where string, into *string) error {
	text, err := plainText(n, where)
	if err == nil && text == "" {
		return closedyaml.Refuse(n, "%s is empty; write a value or leave the key out", where)
	}
	*into = text
	return err
}
