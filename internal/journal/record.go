package journal

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/value"
)

// MaxRecord bounds one record, in bytes with its line feed, on writing and on
// reading.
const MaxRecord = 64 << 20

// MaxNesting bounds the segments of a coroutine id.
const MaxNesting = 1024

// ErrRecordSize is the error for an event whose record would exceed MaxRecord.
var ErrRecordSize = errors.New("the record of this effect exceeds 64 MiB: let it produce less output")

// Members of a description that are stored beside the identity and never
// compared.
const (
	MemberPosition  = "executablemd.source-position" // where the effect was authored
	MemberExpansion = "executablemd.expansion"       // the expansion it belongs to
	MemberOpens     = "executablemd.opens"           // the expansion an import opens
	MemberBinding   = "executablemd.binding"         // the name its value is bound to
)

const rootID = "root"

// AppendLine appends the record of an event: compact JSON and one line feed. An
// event that breaks the protocol is a *MalformedError, one that is too large
// ErrRecordSize, and a value that has no JSON form an error that says so; dst is
// returned unchanged then.
func AppendLine(dst []byte, e Event) ([]byte, error) {
	if err := e.check(); err != nil {
		return dst, err
	}
	record := value.NewObject(4)
	record.Set("type", e.Type)
	record.Set("coroutineId", e.CoroutineID)
	if e.Description != nil {
		record.Set("description", e.Description)
	}
	record.Set("result", resultValue(e.Result))
	line, err := value.Append(dst, record)
	if err != nil {
		return dst, fmt.Errorf("the effect cannot be recorded: %w", err)
	}
	line = append(line, '\n')
	if len(line)-len(dst) > MaxRecord {
		return dst, ErrRecordSize
	}
	return line, nil
}

func resultValue(r Result) *value.Object {
	o := value.NewObject(2)
	o.Set("status", r.Status)
	if r.HasValue {
		o.Set("value", r.Value)
	}
	if r.Error != nil {
		failure := value.Of("message", r.Error.Message)
		if r.Error.Name != "" {
			failure.Set("name", r.Error.Name)
		}
		o.Set("error", failure)
	}
	return o
}

// ParseLine reads one record, without or with its line feed, and rebuilds the
// event from checked members. The error is a *MalformedError.
func ParseLine(line []byte) (Event, error) {
	if len(line) > MaxRecord {
		return Event{}, malformed("$", fmt.Sprintf("exceeds %d MiB", MaxRecord>>20))
	}
	v, err := value.Parse(line)
	if err != nil {
		return Event{}, malformed("$", err.Error())
	}
	record, ok := v.(*value.Object)
	if !ok {
		return Event{}, malformed("$", "not an object")
	}
	var e Event
	for name, v := range record.All() {
		switch name {
		case "type":
			e.Type, ok = v.(string)
		case "coroutineId":
			e.CoroutineID, ok = v.(string)
		case "description":
			e.Description, ok = v.(*value.Object)
		case "result":
			if e.Result, err = parseResult(v); err != nil {
				return Event{}, err
			}
		default:
			return Event{}, malformed("$.*", "unknown member")
		}
		if !ok {
			return Event{}, malformed("$."+name, "the wrong JSON type")
		}
	}
	if err := e.check(); err != nil {
		return Event{}, err
	}
	return e, nil
}

func parseResult(v any) (Result, error) {
	members, ok := v.(*value.Object)
	if !ok {
		return Result{}, malformed("$.result", "not an object")
	}
	var r Result
	for name, v := range members.All() {
		var err error
		switch name {
		case "status":
			if r.Status, ok = v.(string); !ok {
				return Result{}, malformed("$.result.status", "not a string")
			}
		case "value":
			r.HasValue, r.Value = true, v
		case "error":
			if r.Error, err = parseFailure(v); err != nil {
				return Result{}, err
			}
		default:
			return Result{}, malformed("$.result.*", "unknown member")
		}
	}
	return r, nil
}

func parseFailure(v any) (*Failure, error) {
	members, ok := v.(*value.Object)
	if !ok {
		return nil, malformed("$.result.error", "not an object")
	}
	if !members.Has("message") {
		return nil, malformed("$.result.error.message", "missing")
	}
	f := &Failure{}
	for name, v := range members.All() {
		text, ok := v.(string)
		switch name {
		case "message":
			f.Message = text
		case "name":
			f.Name = text
		case "stack": // read, never kept: it would carry paths of a machine
		default:
			return nil, malformed("$.result.error.*", "unknown member")
		}
		if !ok {
			return nil, malformed("$.result.error."+name, "not a string")
		}
	}
	return f, nil
}

func malformed(path, reason string) *MalformedError {
	return &MalformedError{Path: path, Reason: reason}
}

// check holds an event against the protocol, whether it was read or is about to
// be written.
func (e Event) check() error {
	switch e.Type {
	case TypeYield:
		if e.Description == nil {
			return malformed("$.description", "missing")
		}
		if err := checkDescription(e.Description); err != nil {
			return err
		}
	case TypeClose:
		if e.Description != nil {
			return malformed("$.description", "a close has none")
		}
	default:
		return malformed("$.type", "neither yield nor close")
	}
	if err := checkID(e.CoroutineID); err != nil {
		return err
	}
	r := e.Result
	switch r.Status {
	case StatusOk, StatusErr, StatusCancelled:
	default:
		return malformed("$.result.status", "neither ok, err nor cancelled")
	}
	if _, absent := r.Value.(value.Undefined); absent && r.HasValue {
		return malformed("$.result.value", "undefined has no JSON form")
	}
	if r.HasValue && r.Status != StatusOk {
		return malformed("$.result.value", "only an ok result has one")
	}
	if (r.Error != nil) != (r.Status == StatusErr) {
		return malformed("$.result.error", "an err result has one, and no other")
	}
	return nil
}

func checkDescription(d *value.Object) error {
	for _, name := range [...]string{"type", "name"} {
		if _, ok := d.String(name); !ok {
			return malformed("$.description."+name, "missing or not a string")
		}
	}
	for _, name := range [...]string{MemberExpansion, MemberOpens, MemberBinding} {
		if v, ok := d.Get(name); ok {
			if _, ok := v.(string); !ok {
				return malformed("$.description."+name, "not a string")
			}
		}
	}
	_, _, err := parsePosition(d)
	return err
}

// checkID accepts root and its descendants: decimal indices without leading
// zeros.
func checkID(id string) error {
	rest, ok := strings.CutPrefix(id, rootID)
	if !ok {
		return malformed("$.coroutineId", "not a coroutine id")
	}
	for depth := 0; rest != ""; depth++ {
		if depth == MaxNesting {
			return malformed("$.coroutineId", fmt.Sprintf("more than %d segments", MaxNesting))
		}
		digits := 1
		for digits < len(rest) && '0' <= rest[digits] && rest[digits] <= '9' {
			digits++
		}
		if rest[0] != '.' || digits == 1 || digits > 10 || digits > 2 && rest[1] == '0' {
			return malformed("$.coroutineId", "not a coroutine id")
		}
		rest = rest[digits:]
	}
	return nil
}

// Position returns where the effect of a yield was authored. ok is false when
// the event carries no position, as the root import and every close do.
func (e Event) Position() (p document.Position, ok bool, err error) {
	return parsePosition(e.Description)
}

func parsePosition(d *value.Object) (p document.Position, ok bool, err error) {
	v, ok := d.Get(MemberPosition)
	if !ok {
		return p, false, nil
	}
	const path = "$.description." + MemberPosition
	p, member, reason := document.ParsePosition(v)
	switch {
	case reason == "":
		return p, true, nil
	case member == "":
		return p, false, malformed(path, reason)
	}
	return p, false, malformed(path+"."+member, reason)
}

// stored returns the value that reading v's record gives back: a deep copy in
// which undefined members are gone and undefined elements null, and text is
// valid UTF-8. A value JSON cannot hold is an error.
func stored(v any, depth int) (any, error) {
	if depth > value.MaxDepth {
		return nil, value.ErrDepth
	}
	switch v := v.(type) {
	case nil, bool:
		return v, nil
	case string:
		return validText(v), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, errors.New("a number that is not finite has no JSON form")
		}
		return v + 0, nil // never the negative zero
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			if _, absent := e.(value.Undefined); absent {
				continue
			}
			var err error
			if list[i], err = stored(e, depth+1); err != nil {
				return nil, err
			}
		}
		return list, nil
	case *value.Object:
		o := value.NewObject(v.Len())
		for name, e := range v.All() {
			if _, absent := e.(value.Undefined); absent {
				continue
			}
			e, err := stored(e, depth+1)
			if err != nil {
				return nil, err
			}
			name = validText(name)
			if o.Has(name) {
				return nil, errors.New("two members of an object have one name")
			}
			o.Set(name, e)
		}
		return o, nil
	case value.Undefined:
		return nil, errors.New("undefined has no JSON form")
	}
	return nil, fmt.Errorf("%T has no JSON form", v)
}

// validText replaces each byte of s that is no UTF-8, as writing a record does.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
