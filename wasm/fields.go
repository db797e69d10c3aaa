package wasm

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// A field is one import that carries no authority. A letter of params says what an
// i32 is:
//
//	h  a handle: 0, or what an import returned
//	s  a constant index into the strings
//	e  a constant index into the element table, of a structural element
//	c  a constant index into the element table, of an element of the capability
//	k  a constant number of a spawn
//	u  a constant UnaryOp
//	o  a constant BinaryOp
//	i  a count or a truth value
type field struct {
	module, name string
	params       string
	results      int
}

// A fieldID is a place in fields.
type fieldID int32

const (
	textEmit fieldID = iota
	textShow
	textRender
	textPush
	textPop
	textTrim
	valueLiteral
	valueGet
	valueIndex
	valueUnary
	valueBinary
	valueTruthy
	valueNullish
	valueArray
	valueAppend
	valueObject
	valueSet
	valueItems
	valueLength
	valueAt
	valueCount
	scopeOpen
	scopeClose
	scopeBind
	scopeRead
	answerOpen
	answerAdd
	answerBegin
	answerClose
	taskSpawn
	taskJoin
	taskLoop
	taskDone
)

// fields is the whole vocabulary of a module beside its capabilities, in the order
// of the import section (fragments 8). None of it reaches anything outside the
// evaluation (F4).
var fields = [...]field{
	textEmit:     {"xmd:text", "emit", "s", 0},
	textShow:     {"xmd:text", "show", "s", 0},
	textRender:   {"xmd:text", "render", "h", 0},
	textPush:     {"xmd:text", "push", "", 0},
	textPop:      {"xmd:text", "pop", "", 1},
	textTrim:     {"xmd:text", "trim", "h", 1},
	valueLiteral: {"xmd:value", "literal", "s", 1},
	valueGet:     {"xmd:value", "get", "hs", 1},
	valueIndex:   {"xmd:value", "index", "hh", 1},
	valueUnary:   {"xmd:value", "unary", "uh", 1},
	valueBinary:  {"xmd:value", "binary", "ohh", 1},
	valueTruthy:  {"xmd:value", "truthy", "h", 1},
	valueNullish: {"xmd:value", "nullish", "h", 1},
	valueArray:   {"xmd:value", "array", "", 1},
	valueAppend:  {"xmd:value", "append", "hh", 0},
	valueObject:  {"xmd:value", "object", "", 1},
	valueSet:     {"xmd:value", "set", "hsh", 0},
	valueItems:   {"xmd:value", "items", "h", 1},
	valueLength:  {"xmd:value", "length", "h", 1},
	valueAt:      {"xmd:value", "at", "hi", 1},
	valueCount:   {"xmd:value", "count", "h", 1},
	scopeOpen:    {"xmd:scope", "open", "ei", 0},
	scopeClose:   {"xmd:scope", "close", "", 0},
	scopeBind:    {"xmd:scope", "bind", "sh", 0},
	scopeRead:    {"xmd:scope", "read", "s", 1},
	// The matchers of a region are evaluated before it answers anything: open, add
	// once an answer, begin, what is answered, close.
	answerOpen:  {"xmd:answer", "open", "eh", 0},
	answerAdd:   {"xmd:answer", "add", "ehh", 0},
	answerBegin: {"xmd:answer", "begin", "", 0},
	answerClose: {"xmd:answer", "close", "", 0},
	taskSpawn:   {"xmd:task", "spawn", "k", 0},
	taskJoin:    {"xmd:task", "join", "", 0},
	// done is told how many iterations were begun.
	taskLoop: {"xmd:task", "loop", "ei", 0},
	taskDone: {"xmd:task", "done", "eii", 0},
}

// A use is one of the three fields an identity may be imported with.
type use uint8

const (
	useInvoke use = iota
	useEnter
	useLeave
)

// uses are those fields, in the order of the import section.
var uses = [...]struct {
	name, params string
	results      int
}{
	useInvoke: {"invoke", "ch", 1},
	useEnter:  {"enter", "ch", 0},
	useLeave:  {"leave", "ch", 1},
}

// usesOf are those an element of a capability calls, by its form (F3).
func usesOf(f Form) [len(uses)]bool {
	if f == Paired {
		return [...]bool{useEnter: true, useLeave: true}
	}
	return [...]bool{useInvoke: true, useLeave: false}
}

// A grant is an identity and the uses the element table makes of it.
type grant struct {
	identity string
	uses     [len(uses)]bool
}

// grants reads off the element table what a module must import for it: every
// identity in order of first appearance. It is the whole of a module's authority
// (F4).
func grants(elements []Element) []grant {
	var all []grant
	place := map[string]int{}
	for _, el := range elements {
		if el.Identity == "" {
			continue
		}
		at, known := place[el.Identity]
		if !known {
			at = len(all)
			place[el.Identity] = at
			all = append(all, grant{identity: el.Identity})
		}
		for u, used := range usesOf(el.Form) {
			all[at].uses[u] = all[at].uses[u] || used
		}
	}
	return all
}

// isIdentity reports whether s has the shape origin/key@revision. No module of
// fields has it, so an identity can never pass for one of them.
func isIdentity(s string) bool {
	origin, rest, _ := strings.Cut(s, "/")
	key, revision, _ := strings.Cut(rest, "@")
	n, err := strconv.ParseInt(revision, 10, 32)
	return utf8.ValidString(s) && origin != "" && key != "" &&
		err == nil && n > 0 && strconv.FormatInt(n, 10) == revision
}
