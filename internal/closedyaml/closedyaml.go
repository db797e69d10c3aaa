// Package closedyaml reads YAML of a closed shape: files that decide something, in which
// nothing may stand that somebody did not mean.
//
// A parsed node enters with what it is called in messages; keys, items and scalars
// leave, or an [Error] with the place. Unknown and repeated keys, aliases, anchors, tags
// and merge keys are refused. The room knows no file and no meaning of a key.
package closedyaml

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// An Error is a file that cannot be used. It is a person's own, so the message may quote
// it; it says what to do.
type Error struct {
	Line, Column int // of the place, from 1; columns count characters
	Message      string
}

func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// Syntax places an error of the library, which tells the line in its text.
func Syntax(err error) *Error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		number, message, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(number); err == nil {
			line, text = n, message
		}
	}
	return &Error{line, 1, "the file is not valid YAML: " + text}
}

// Refuse is the error of something wrong at a place.
func Refuse(n *yaml.Node, format string, args ...any) *Error {
	return &Error{max(n.Line, 1), max(n.Column, 1), fmt.Sprintf(format, args...)}
}

// A Key is one key of a mapping of a closed shape, and how its value is read.
type Key struct {
	Name string
	Read func(n *yaml.Node) error
}

// ReadMapping reads a mapping that may have the given keys and no others.
func ReadMapping(n *yaml.Node, where string, keys []Key) error {
	list, err := Members(n, where)
	if err != nil {
		return err
	}
	for _, m := range list {
		i := slices.IndexFunc(keys, func(k Key) bool { return k.Name == m.Name })
		if i < 0 {
			return Refuse(m.Key, "%s has the unknown key %.40q; known keys are %s", where, m.Name, List(keys, func(k Key) string { return k.Name }))
		}
		if err := keys[i].Read(m.Value); err != nil {
			return err
		}
	}
	return nil
}

// A Member is one key of a mapping with its value.
type Member struct {
	Name       string
	Key, Value *yaml.Node
}

// Members lists what a mapping holds, each name once.
func Members(n *yaml.Node, where string) ([]Member, error) {
	if err := undecorated(n, where); err != nil {
		return nil, err
	}
	if n.Kind != yaml.MappingNode {
		return nil, Refuse(n, "%s must be a mapping; write key: value lines", where)
	}
	list := make([]Member, 0, len(n.Content)/2)
	seen := make(map[string]bool, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Tag == "!!merge" {
			return nil, Refuse(k, "%s merges another mapping with <<, which this file may not do; write its keys out", where)
		}
		name, err := Scalar(k, "a key of "+where)
		if err != nil {
			return nil, err
		}
		if seen[name] {
			return nil, Refuse(k, "%s has the key %.40q twice; keep one", where, name)
		}
		seen[name] = true
		list = append(list, Member{name, k, n.Content[i+1]})
	}
	return list, nil
}

// Elements lists what a sequence holds.
func Elements(n *yaml.Node, where string) ([]*yaml.Node, error) {
	if err := undecorated(n, where); err != nil {
		return nil, err
	}
	if n.Kind != yaml.SequenceNode {
		return nil, Refuse(n, "%s must be a list; write its items on lines that begin with -", where)
	}
	return n.Content, nil
}

// Scalar returns a scalar as it was written.
func Scalar(n *yaml.Node, where string) (string, error) {
	if err := undecorated(n, where); err != nil {
		return "", err
	}
	if n.Kind != yaml.ScalarNode {
		return "", Refuse(n, "%s must be one value, not a list or a mapping", where)
	}
	return n.Value, nil
}

// undecorated refuses what YAML can hang on a value.
func undecorated(n *yaml.Node, where string) error {
	switch {
	case n.Kind == yaml.AliasNode:
		return Refuse(n, "%s is a YAML alias, which this file may not use; write the value out", where)
	case n.Anchor != "":
		return Refuse(n, "%s has a YAML anchor, which this file may not use; remove it", where)
	case n.Style&yaml.TaggedStyle != 0:
		return Refuse(n, "%s has a YAML tag, which this file may not use; remove it", where)
	}
	return nil
}

// List writes the names of items as a sentence does.
func List[T any](items []T, name func(T) string) string {
	var b strings.Builder
	for i, item := range items {
		switch {
		case i > 0 && i == len(items)-1:
			b.WriteString(" and ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(name(item))
	}
	return b.String()
}
