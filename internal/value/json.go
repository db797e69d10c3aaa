package value

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth bounds the nesting of arrays and objects that Parse reads and Append
// writes.
const MaxDepth = 512

// ErrDepth is the error for a value nested deeper than MaxDepth.
var ErrDepth = fmt.Errorf("nested deeper than %d levels", MaxDepth)

// Parse reads one JSON value strictly: duplicate member names, invalid UTF-8,
// numbers that overflow, more than MaxDepth levels and anything after the value
// are errors. Errors name the byte offset and never repeat the input.
func Parse(data []byte) (any, error) {
	d := decoders.Get().(*jsontext.Decoder)
	defer decoders.Put(d)
	d.Reset(bytes.NewReader(data))
	v, err := parseValue(d, 0)
	if err != nil {
		return nil, readable(err)
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return nil, fmt.Errorf("text after the JSON value at byte %d", d.InputOffset())
	}
	return v, nil
}

// decoders keeps decoders between calls: a history is many small texts.
var decoders = sync.Pool{New: func() any { return jsontext.NewDecoder(bytes.NewReader(nil)) }}

func readable(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the JSON text ends too early")
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return errors.New("the JSON text names a member twice")
	}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		if errors.Is(syntax.Err, io.ErrUnexpectedEOF) {
			return errors.New("the JSON text ends too early")
		}
		return fmt.Errorf("not JSON at byte %d", syntax.ByteOffset)
	}
	return err
}

func parseValue(d *jsontext.Decoder, depth int) (any, error) {
	if depth > MaxDepth {
		return nil, ErrDepth
	}
	t, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch t.Kind() {
	case 'n':
		return nil, nil
	case 't', 'f':
		return t.Bool(), nil
	case '"':
		return t.String(), nil
	case '0':
		f, err := strconv.ParseFloat(t.String(), 64)
		if err != nil {
			return nil, fmt.Errorf("a number out of range at byte %d", d.InputOffset())
		}
		return f, nil
	case '[':
		list := []any{}
		for d.PeekKind() != ']' {
			e, err := parseValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, e)
		}
		_, err := d.ReadToken()
		return list, err
	case '{':
		o := NewObject(0)
		for d.PeekKind() != '}' {
			name, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			key := name.String()
			e, err := parseValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			o.Set(key, e)
		}
		_, err := d.ReadToken()
		return o, err
	}
	return nil, fmt.Errorf("unexpected JSON token at byte %d", d.InputOffset())
}

// Append appends the compact JSON text of v to dst: members in order, numbers in
// their shortest form, nothing escaped that JSON does not require. Undefined
// members vanish and undefined elements are null; a non-finite number, and
// Undefined itself, are errors.
func Append(dst []byte, v any) ([]byte, error) { return appendValue(dst, v, "", "", 0) }

// JSON returns the compact JSON text of v (see Append).
func JSON(v any) (string, error) {
	b, err := Append(nil, v)
	return string(b), err
}

// AppendIndent is Append with every member and element on a line of its own,
// indented by two spaces a level; empty containers stay {} and [].
func AppendIndent(dst []byte, v any) ([]byte, error) { return appendValue(dst, v, "\n", "  ", 0) }

func appendValue(dst []byte, v any, newline, indent string, depth int) ([]byte, error) {
	if depth > MaxDepth {
		return dst, ErrDepth
	}
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case bool:
		return strconv.AppendBool(dst, v), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return dst, errors.New("a number that is not finite has no JSON form")
		}
		return append(dst, FormatNumber(v)...), nil
	case string:
		return AppendString(dst, v), nil
	case []any:
		if len(v) == 0 {
			return append(dst, "[]"...), nil
		}
		dst = append(dst, '[')
		var err error
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendBreak(dst, newline, indent, depth+1)
			if _, absent := e.(Undefined); absent {
				e = nil
			}
			if dst, err = appendValue(dst, e, newline, indent, depth+1); err != nil {
				return dst, err
			}
		}
		return append(appendBreak(dst, newline, indent, depth), ']'), nil
	case *Object:
		dst = append(dst, '{')
		first := true
		var err error
		for k, e := range v.All() {
			if _, absent := e.(Undefined); absent {
				continue
			}
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = AppendString(appendBreak(dst, newline, indent, depth+1), k)
			dst = append(dst, ':')
			if newline != "" {
				dst = append(dst, ' ')
			}
			if dst, err = appendValue(dst, e, newline, indent, depth+1); err != nil {
				return dst, err
			}
		}
		if !first {
			dst = appendBreak(dst, newline, indent, depth)
		}
		return append(dst, '}'), nil
	case Undefined:
		return dst, errors.New("undefined has no JSON form")
	}
	return dst, fmt.Errorf("%T has no JSON form", v)
}

func appendBreak(dst []byte, newline, indent string, depth int) []byte {
	dst = append(dst, newline...)
	if indent != "" {
		for range depth {
			dst = append(dst, indent...)
		}
	}
	return dst
}

const hex = "0123456789abcdef"

// AppendString appends s as a JSON string. Invalid UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(append(dst, s[start:i]...), "\ufffd"...)
				start = i + 1
			}
			i += size
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}
