package audit

import (
	"path"
	"strconv"
	"strings"

	"github.com/executable-markdown/xmd/capability"
)

// manyRequests is how many requests of one entry a person still reads one by one.
const manyRequests = 16

// warnings lists where a profile is wide.
func (s *Stated) warnings(p *Profile) []Finding {
	var found []Finding
	add := func(code string, where Place, format string, args ...any) {
		found = append(found, finding(code, where, format, args...))
	}
	for _, r := range p.Roots {
		switch {
		case !r.Selected:
			add("root-unused", r.Where, "the root %s is not selected, so no entry reaches it; remove it or select it", r.Name)
		case path.Clean(r.Dir) == "/":
			add("root-of-system", r.Where, "the root is the whole file system; select a directory of the work at hand")
		}
	}
	index := map[string]int{}
	for _, e := range p.Entries {
		key := e.table() + "[" + strconv.Itoa(index[e.table()]) + "]"
		index[e.table()]++
		s.warnEntry(add, key, e)
	}
	for _, l := range p.Limits {
		if l.Value > l.Default {
			add("limit-raised", l.Where, "the limit %s is %s, above its default of %s", l.Name, l, l.written(l.Default))
		}
	}
	return found
}

func (s *Stated) warnEntry(add func(string, Place, string, ...any), key string, e Entry) {
	switch e.Ceiling.Reach {
	case ReachRoot:
		warnWide(add, e, e.Where, "has no paths, so it covers everything below the root; state the paths it needs")
	case ReachPaths:
		for i, pattern := range e.Ceiling.Paths {
			where := s.place(key+".paths["+strconv.Itoa(i)+"]", key)
			segments := segmentsOf(pattern)
			switch {
			case isEverything(segments):
				warnWide(add, e, where, "has the pattern "+pattern+", which covers everything below the root; state the paths it needs")
			case segments[0] == "**" && e.Class == string(capability.Write):
				add("broad-pattern", where, "<%s> (%s) has the pattern %s, which reaches into every directory; begin it with the directory it is about", e.Name, e.Identity, pattern)
			}
		}
	case ReachRequests:
		s.warnRequests(add, key, e)
	}
}

// warnWide reports an entry that covers the whole root.
func warnWide(add func(string, Place, string, ...any), e Entry, where Place, what string) {
	code := "wide-read"
	switch {
	case e.Class == string(capability.Write):
		code = "wide-write"
	case e.Identity == capability.Glob(nil).Identity.String():
		code = "wide-list"
	}
	add(code, where, "<%s> (%s) %s", e.Name, e.Identity, what)
}

func (s *Stated) warnRequests(add func(string, Place, string, ...any), key string, e Entry) {
	if n := len(e.Ceiling.Requests); n > manyRequests {
		add("many-requests", e.Where, "<%s> states %d requests; a person reads %d", e.Name, n, manyRequests)
	}
	for i, r := range e.Ceiling.Requests {
		where := s.place(key+".requests["+strconv.Itoa(i)+"]", key)
		normal, err := capability.NormalizeRequest(capability.Request{URL: r.URL}, 0)
		if err == nil && normal.Private {
			add("private-address", where, "%s %s reaches an address of this machine or of a private network", r.Method, r.URL)
		} else if strings.HasPrefix(r.URL, "http:") {
			add("plain-http", where, "%s %s is sent without encryption, so anybody on the way reads it and may answer it; state https", r.Method, r.URL)
		}
		for _, h := range r.Headers {
			if h.isCredential() {
				add("credential-header", where, "%s %s carries the header %s, which looks like a credential: whoever can read the profile can use it", r.Method, r.URL, h.Name)
			}
		}
	}
}

// segmentsOf cuts a pattern into its segments; a ** twice is once.
func segmentsOf(pattern string) []string {
	var out []string
	for segment := range strings.SplitSeq(pattern, "/") {
		if segment == "" || segment == "." || segment == "**" && len(out) > 0 && out[len(out)-1] == "**" {
			continue
		}
		out = append(out, segment)
	}
	if len(out) == 0 {
		return []string{"."}
	}
	return out
}

// isEverything reports whether a pattern covers every file below the root.
func isEverything(segments []string) bool {
	return segments[0] == "**" && (len(segments) == 1 || len(segments) == 2 && segments[1] == "*")
}
