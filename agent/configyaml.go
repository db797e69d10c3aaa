package agent

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// syntaxError places an error of the library, which tells the line in its text.
func syntaxError(err error) *ConfigError {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		number, message, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(number); err == nil && n > 0 {
			line, text = n, message
		}
	}
	return &ConfigError{line, 1, "the file is not valid YAML: " + text}
}

func refuse(n *yaml.Node, format string, args ...any) *ConfigError {
	return &ConfigError{max(n.Line, 1), max(n.Column, 1), fmt.Sprintf(format, args...)}
}

// A key is one key of a mapping of a closed shape, and how its value is read.
type key struct {
	name string
	read func(n *yaml.Node) error
}

// readMapping reads a mapping that may have the given keys and no others.
func readMapping(n *yaml.Node, where string, keys []key) error {
	list, err := members(n, where)
	if err != nil {
		return err
	}
	for _, m := range list {
		i := slices.IndexFunc(keys, func(k key) bool { return k.name == m.name })
		if i < 0 {
			names := make([]string, len(keys))
			for j, k := range keys {
				names[j] = k.name
			}
			return refuse(m.key, "%s has the unknown key %.40q; known keys are %s", where, m.name, strings.Join(names, ", "))
		}
		if err := keys[i].read(m.value); err != nil {
			return err
		}
	}
	return nil
}

// A member is one key of a mapping with its value.
type member struct {
	name       string
	key, value *yaml.Node
}

// members lists what a mapping holds, each name once.
func members(n *yaml.Node, where string) ([]member, error) {
	if err := undecorated(n, where); err != nil {
		return nil, err
	}
	if n.Kind != yaml.MappingNode {
		return nil, refuse(n, "%s must be a mapping; write key: value lines", where)
	}
	list := make([]member, 0, len(n.Content)/2)
	seen := make(map[string]bool, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Tag == "!!merge" {
			return nil, refuse(k, "%s merges another mapping with <<, which this file may not do; write its keys out", where)
		}
		name, err := scalar(k, "a key of "+where)
		if err != nil {
			return nil, err
		}
		if seen[name] {
			return nil, refuse(k, "%s has the key %.40q twice; keep one", where, name)
		}
		seen[name] = true
		list = append(list, member{name, k, n.Content[i+1]})
	}
	return list, nil
}

// elements lists what a sequence holds.
func elements(n *yaml.Node, where string) ([]*yaml.Node, error) {
	if err := undecorated(n, where); err != nil {
		return nil, err
	}
	if n.Kind != yaml.SequenceNode {
		return nil, refuse(n, "%s must be a list; write its items on lines that begin with -", where)
	}
	return n.Content, nil
}

// scalar returns a scalar as it was written.
func scalar(n *yaml.Node, where string) (string, error) {
	if err := undecorated(n, where); err != nil {
		return "", err
	}
	if n.Kind != yaml.ScalarNode {
		return "", refuse(n, "%s must be one value, not a list or a mapping", where)
	}
	return n.Value, nil
}

// plainText returns text that a program can be given.
func plainText(n *yaml.Node, where string) (string, error) {
	text, err := scalar(n, where)
	switch {
	case err != nil:
		return "", err
	case n.ShortTag() != "!!str":
		return "", refuse(n, "%s is not text; quote it", where)
	case strings.ContainsRune(text, 0):
		return "", refuse(n, "%s holds a zero byte, which no program can be given; remove it", where)
	}
	return text, nil
}

// readText reads a text that is not empty.
func readText(n *yaml.Node, where string, into *string) error {
	text, err := plainText(n, where)
	if err == nil && text == "" {
		return refuse(n, "%s is empty; write a value or leave the key out", where)
	}
	*into = text
	return err
}

// undecorated refuses what YAML can hang on a value.
func undecorated(n *yaml.Node, where string) error {
	switch {
	case n.Kind == yaml.AliasNode:
		return refuse(n, "%s is a YAML alias, which this file may not use; write the value out", where)
	case n.Anchor != "":
		return refuse(n, "%s has a YAML anchor, which this file may not use; remove it", where)
	case n.Style&yaml.TaggedStyle != 0:
		return refuse(n, "%s has a YAML tag, which this file may not use; remove it", where)
	}
	return nil
}
