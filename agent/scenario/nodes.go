package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxDepth is how deep the values of a scenario may be nested.
const maxDepth = 100

func refuse(n *yaml.Node, format string, args ...any) *FileError {
	return &FileError{Line: max(n.Line, 1), Column: max(n.Column, 1), Message: fmt.Sprintf(format, args...)}
}

// decode reads the one value of a file.
func decode(text []byte) (*yaml.Node, *FileError) {
	top := &yaml.Node{Line: 1, Column: 1}
	if len(text) > MaxSize {
		return nil, refuse(top, "the scenario is larger than %d bytes", MaxSize)
	}
	if !utf8.Valid(text) {
		return nil, refuse(top, "the scenario is not UTF-8")
	}
	if json.Valid(text) {
		return newJSONNodes(text).value(0)
	}
	var document yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(text))
	switch err := d.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil, refuse(top, "the scenario is empty; begin with version: 1")
	case err != nil:
		return nil, syntaxError(err)
	}
	var second yaml.Node
	switch err := d.Decode(&second); {
	case err == nil:
		return nil, refuse(&second, "the scenario has a second document; keep one")
	case !errors.Is(err, io.EOF):
		return nil, syntaxError(err)
	}
	root := document.Content[0]
	return root, shallow(root, 0)
}

// syntaxError places an error of the library, which tells the line in its text.
func syntaxError(err error) *FileError {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	at := &yaml.Node{Line: 1, Column: 1}
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		number, message, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(number); err == nil {
			at.Line, text = n, message
		}
	}
	return refuse(at, "the scenario is not valid YAML: %s", text)
}

// shallow refuses what is nested too deep.
func shallow(n *yaml.Node, depth int) *FileError {
	if depth > maxDepth {
		return refuse(n, "the scenario is nested deeper than %d levels", maxDepth)
	}
	for _, inner := range n.Content {
		if err := shallow(inner, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// jsonNodes makes nodes of a JSON text, so that one reader serves both spellings.
type jsonNodes struct {
	text  []byte
	d     *json.Decoder
	lines []int // where lines begin
}

func newJSONNodes(text []byte) *jsonNodes {
	j := &jsonNodes{text: text, d: json.NewDecoder(bytes.NewReader(text)), lines: []int{0}}
	j.d.UseNumber()
	for i, c := range text {
		if c == '\n' {
			j.lines = append(j.lines, i+1)
		}
	}
	return j
}

// value reads the next value of a text that is known to be valid.
func (j *jsonNodes) value(depth int) (*yaml.Node, *FileError) {
	at := int(j.d.InputOffset())
	for at < len(j.text) && strings.IndexByte(" \t\r\n,:", j.text[at]) >= 0 {
		at++
	}
	line := sort.SearchInts(j.lines, at+1)
	n := &yaml.Node{Kind: yaml.ScalarNode, Line: line, Column: utf8.RuneCount(j.text[j.lines[line-1]:at]) + 1}
	if depth > maxDepth {
		return nil, refuse(n, "the scenario is nested deeper than %d levels", maxDepth)
	}
	token, err := j.d.Token()
	if err != nil {
		return nil, refuse(n, "the scenario is not valid JSON: %v", err)
	}
	switch t := token.(type) {
	case json.Delim:
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
		if t == '[' {
			n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		}
		for j.d.More() {
			inner, err := j.value(depth + 1)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, inner)
		}
		_, _ = j.d.Token() // the closing delimiter of a valid text
	case string:
		n.Tag, n.Value = "!!str", t
	case json.Number:
		n.Tag, n.Value = "!!float", t.String()
		if _, err := strconv.ParseInt(n.Value, 10, 64); err == nil {
			n.Tag = "!!int"
		}
	case bool:
		n.Tag, n.Value = "!!bool", strconv.FormatBool(t)
	default:
		n.Tag, n.Value = "!!null", "null"
	}
	return n, nil
}

// A key is one key of a mapping of a closed shape, and how its value is read.
type key struct {
	name string
	read func(n *yaml.Node) *FileError
}

// mapping reads a mapping that may have the given keys and no others, and returns the
// names it has.
func mapping(n *yaml.Node, where string, keys ...key) (map[string]*yaml.Node, *FileError) {
	list, err := members(n, where)
	if err != nil {
		return nil, err
	}
	has := make(map[string]*yaml.Node, len(list))
	for _, m := range list {
		i := slices.IndexFunc(keys, func(k key) bool { return k.name == m.name })
		if i < 0 {
			var known []string
			for _, k := range keys {
				known = append(known, k.name)
			}
			return nil, refuse(m.key, "%s has the unknown key %.40q; known keys are %s", where, m.name, strings.Join(known, ", "))
		}
		if err := keys[i].read(m.value); err != nil {
			return nil, err
		}
		has[m.name] = m.key
	}
	return has, nil
}

// A member is one key of a mapping with its value.
type member struct {
	name       string
	key, value *yaml.Node
}

// members lists what a mapping holds, each name once.
func members(n *yaml.Node, where string) ([]member, *FileError) {
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
		if err := undecorated(k, "a key of "+where); err != nil {
			return nil, err
		}
		switch {
		case k.ShortTag() == "!!merge":
			return nil, refuse(k, "%s merges another mapping with <<, which a scenario may not do; write its keys out", where)
		case k.Kind != yaml.ScalarNode:
			return nil, refuse(k, "a key of %s must be one value", where)
		case seen[k.Value]:
			return nil, refuse(k, "%s has the key %.40q twice; keep one", where, k.Value)
		}
		seen[k.Value] = true
		list = append(list, member{k.Value, k, n.Content[i+1]})
	}
	return list, nil
}

// elements lists what a sequence holds.
func elements(n *yaml.Node, where string) ([]*yaml.Node, *FileError) {
	if err := undecorated(n, where); err != nil {
		return nil, err
	}
	if n.Kind != yaml.SequenceNode {
		return nil, refuse(n, "%s must be a list", where)
	}
	return n.Content, nil
}

// undecorated refuses what YAML can hang on a value.
func undecorated(n *yaml.Node, where string) *FileError {
	switch {
	case n.Kind == yaml.AliasNode:
		return refuse(n, "%s is a YAML alias, which a scenario may not use; write the value out", where)
	case n.Anchor != "":
		return refuse(n, "%s has a YAML anchor, which a scenario may not use; remove it", where)
	case n.Style&yaml.TaggedStyle != 0:
		return refuse(n, "%s has a YAML tag, which a scenario may not use; remove it", where)
	}
	return nil
}

// isText reports whether a value is text.
func isText(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" }

// text reads a text, which may be empty.
func text(n *yaml.Node, where string) (string, *FileError) {
	if err := undecorated(n, where); err != nil {
		return "", err
	}
	if !isText(n) {
		return "", refuse(n, "%s is not text; quote it", where)
	}
	return n.Value, nil
}

// named reads a text that is not empty.
func named(n *yaml.Node, where string) (string, *FileError) {
	s, err := text(n, where)
	if err == nil && s == "" {
		err = refuse(n, "%s is empty", where)
	}
	return s, err
}

// texts reads a list of texts that is not empty.
func texts(n *yaml.Node, where string) ([]string, *FileError) {
	list, err := elements(n, where)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, refuse(n, "%s is an empty list", where)
	}
	read := make([]string, len(list))
	for i, item := range list {
		if read[i], err = text(item, "an item of "+where); err != nil {
			return nil, err
		}
	}
	return read, nil
}

// integer reads a whole number between two bounds.
func integer(n *yaml.Node, where string, least, most int) (int, *FileError) {
	if err := undecorated(n, where); err != nil {
		return 0, err
	}
	i, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || err != nil || i < least || i > most {
		return 0, refuse(n, "%s must be a whole number from %d to %d", where, least, most)
	}
	return i, nil
}

// boolean reads true or false.
func boolean(n *yaml.Node, where string) (bool, *FileError) {
	if err := undecorated(n, where); err != nil {
		return false, err
	}
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" || n.Value != "true" && n.Value != "false" {
		return false, refuse(n, "%s must be true or false", where)
	}
	return n.Value == "true", nil
}

// yes reads true, the only value of a key that says something happens.
func yes(n *yaml.Node, where string) *FileError {
	b, err := boolean(n, where)
	if err == nil && !b {
		err = refuse(n, "%s can only be true; leave it out instead", where)
	}
	return err
}

// duration reads a duration as options write one; unlike there, zero is one.
func duration(n *yaml.Node, where string) (time.Duration, *FileError) {
	if err := undecorated(n, where); err != nil {
		return 0, err
	}
	const most = 24 * time.Hour
	digits := strings.TrimRight(n.Value, "abcdefghijklmnopqrstuvwxyz")
	unit, known := map[string]time.Duration{
		"": time.Millisecond, "ms": time.Millisecond, "s": time.Second, "m": time.Minute, "min": time.Minute,
	}[n.Value[len(digits):]]
	count, err := strconv.ParseUint(digits, 10, 31)
	if n.Kind != yaml.ScalarNode || !known || err != nil || time.Duration(count) > most/unit {
		return 0, refuse(n, "%s must be a duration like 500ms, 30s or 5min, at most %v", where, most)
	}
	return time.Duration(count) * unit, nil
}

// asJSON writes any value as JSON, the members of a mapping in the order they stand.
func asJSON(n *yaml.Node, where string) (json.RawMessage, *FileError) {
	if err := undecorated(n, where); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	switch n.Kind {
	case yaml.MappingNode:
		list, err := members(n, where)
		if err != nil {
			return nil, err
		}
		b.WriteByte('{')
		for i, m := range list {
			inner, err := asJSON(m.value, where)
			if err != nil {
				return nil, err
			}
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(marshal(m.name))
			b.WriteByte(':')
			b.Write(inner)
		}
		b.WriteByte('}')
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, item := range n.Content {
			inner, err := asJSON(item, where)
			if err != nil {
				return nil, err
			}
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(inner)
		}
		b.WriteByte(']')
	default:
		switch tag := n.ShortTag(); {
		case tag == "!!str":
			return marshal(n.Value), nil
		case tag == "!!null":
			return json.RawMessage("null"), nil
		case json.Valid([]byte(n.Value)): // numbers and booleans as JSON spells them
			return json.RawMessage(n.Value), nil
		default:
			return nil, refuse(n, "%s holds %.40q, which JSON cannot say; quote it", where, n.Value)
		}
	}
	return b.Bytes(), nil
}

// marshal writes a value that is known to have a JSON form, with nothing escaped that
// need not be.
func marshal(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("a %T has no JSON form: %v", v, err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
