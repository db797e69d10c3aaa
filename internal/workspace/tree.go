package workspace

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/executable-markdown/xmd/internal/value"
)

// The kinds of an entry, as a tree spells them.
const (
	dirEntry  = "dir"
	fileEntry = "file"
	linkEntry = "link"
)

// The two modes a file can have.
const (
	plainMode      = 420 // 0o644
	executableMode = 493 // 0o755
)

// An entry is what one name of a directory is.
type entry struct {
	name   string
	kind   string
	hash   string // of a dir its tree, of a file its blob
	mode   int    // of a file
	size   int64  // of a file
	target string // of a link
}

func compareName(e entry, name string) int { return strings.Compare(e.name, name) }

// lookup finds a name in the entries of a directory.
func lookup(entries []entry, name string) (entry, bool) {
	at, found := slices.BinarySearchFunc(entries, name, compareName)
	if !found {
		return entry{}, false
	}
	return entries[at], true
}

// replaced returns the entries with e for what name was, or without it when e is nil.
func replaced(entries []entry, name string, e *entry) []entry {
	at, found := slices.BinarySearchFunc(entries, name, compareName)
	after := at
	if found {
		after++
	}
	changed := make([]entry, 0, len(entries)+1)
	changed = append(changed, entries[:at]...)
	if e != nil {
		changed = append(changed, *e)
	}
	return append(changed, entries[after:]...)
}

// encode writes the canonical JSON of a directory, whose entries are in order.
func encode(entries []entry) []byte {
	dst := []byte(`{"entries":[`)
	for i, e := range entries {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = value.AppendString(append(dst, '['), e.name)
		dst = append(append(append(dst, `,"`...), e.kind...), `",`...)
		switch e.kind {
		case dirEntry:
			dst = value.AppendString(dst, e.hash)
		case fileEntry:
			dst = append(strconv.AppendInt(dst, int64(e.mode), 10), ',')
			dst = append(value.AppendString(dst, e.hash), ',')
			dst = strconv.AppendInt(dst, e.size, 10)
		case linkEntry:
			dst = value.AppendString(dst, e.target)
		}
		dst = append(dst, ']')
	}
	return append(dst, `]}`...)
}

// parse reads a directory. It accepts exactly what encode writes for entries that
// keep the rules and limits of a tree (workflow 31); the problem with anything else
// is returned in words. It takes one pass.
func parse(data []byte) (entries []entry, problem string) {
	r := reader{rest: string(data)}
	r.expect(`{"entries":[`)
	for r.problem == "" && !r.skip(`]}`) {
		if len(entries) > 0 {
			r.expect(`,`)
		}
		e := r.entry()
		switch {
		case r.problem != "":
		case len(entries) > 0 && entries[len(entries)-1].name >= e.name:
			r.fail("its names are not in order, or one is there twice")
		case len(entries) == MaxEntries:
			r.fail(tooLarge)
		}
		entries = append(entries, e)
	}
	if r.rest != "" {
		r.fail("something follows its end")
	}
	if r.problem != "" {
		return nil, r.problem
	}
	return entries, ""
}

// A reader takes the text of a tree apart. After the first problem it only fails.
type reader struct {
	rest    string
	problem string
}

func (r *reader) fail(problem string) {
	if r.problem == "" {
		r.problem = problem
	}
}

func (r *reader) skip(literal string) bool {
	rest, ok := strings.CutPrefix(r.rest, literal)
	if ok {
		r.rest = rest
	}
	return ok
}

func (r *reader) expect(literal string) {
	if !r.skip(literal) {
		r.fail("it is not written in the one form of a tree")
	}
}

func (r *reader) entry() entry {
	r.expect(`[`)
	e := entry{name: r.text()}
	if !validName(e.name) {
		r.fail("a name in it is none")
	}
	switch {
	case r.skip(`,"dir",`):
		e.kind, e.hash = dirEntry, r.hash()
	case r.skip(`,"file",`):
		e.kind = fileEntry
		switch {
		case r.skip(`420,`):
			e.mode = plainMode
		case r.skip(`493,`):
			e.mode = executableMode
		default:
			r.fail("a file in it has another mode than 420 or 493")
		}
		e.hash = r.hash()
		r.expect(`,`)
		e.size = r.size()
	case r.skip(`,"link",`):
		e.kind, e.target = linkEntry, r.text()
		if e.target == "" || len(e.target) > MaxPath || strings.IndexByte(e.target, 0) >= 0 {
			r.fail("a link in it leads to what is no path")
		}
	default:
		r.fail("an entry of it is no dir, file or link")
	}
	r.expect(`]`)
	return e
}

func (r *reader) text() string {
	r.expect(`"`)
	escaped := false
	end := 0
	for ; end < len(r.rest) && r.rest[end] != '"'; end++ {
		switch c := r.rest[end]; {
		case c == '\\':
			escaped = true
			end++
		case c < ' ':
			r.fail("a text in it is not written in the one form of it")
		}
	}
	if end >= len(r.rest) {
		r.fail("a text in it does not end")
	}
	if r.problem != "" {
		return ""
	}
	text := r.rest[:end]
	if escaped {
		literal := `"` + text + `"`
		if json.Unmarshal([]byte(literal), &text) != nil || string(value.AppendString(nil, text)) != literal {
			r.fail("a text in it is not written in the one form of it")
		}
	} else if !utf8.ValidString(text) {
		r.fail("a text in it is not UTF-8")
	}
	r.rest = r.rest[end+1:]
	return text
}

func (r *reader) hash() string {
	hash := r.text()
	if !validHash(hash) {
		r.fail("it names an object by what is no hash")
	}
	return hash
}

func (r *reader) size() int64 {
	digits := 0
	for digits < len(r.rest) && r.rest[digits] >= '0' && r.rest[digits] <= '9' {
		digits++
	}
	size, err := strconv.ParseInt(r.rest[:digits], 10, 64)
	if err != nil || size > MaxFile || digits > 1 && r.rest[0] == '0' {
		r.fail("a size in it is none that a file can have")
	}
	r.rest = r.rest[digits:]
	return size
}

// validName reports whether a name can be that of an entry.
func validName(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= MaxName && !strings.ContainsAny(name, "/\x00") && utf8.ValidString(name)
}

func validHash(hash string) bool {
	return len(hash) == 64 && strings.Trim(hash, "0123456789abcdef") == ""
}
