package scenario

import (
	"hash"
	"io/fs"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxNoise bounds the junk one step writes.
const maxNoise = 64 << 20

// A reader turns nodes into a scenario. Its methods return what is wrong with where.
type reader struct {
	options ParseOptions
	sum     hash.Hash
	known   map[string][]string // captures bound before the place being read

	releases bool // a step waits to be released
}

func (r *reader) scenario(source []byte) (*Scenario, *FileError) {
	root, err := decode(source)
	if err != nil {
		return nil, err
	}
	r.sum.Write(source)
	s := &Scenario{agentName: "xmd-fixture", agentVersion: "1", protocolVersion: 1, scripts: map[string][]stage{}}
	var sessions *yaml.Node
	has, err := mapping(root, "the scenario",
		key{"version", func(n *yaml.Node) *FileError {
			_, err := integer(n, "version", 1, 1)
			return err
		}},
		key{"agent", func(n *yaml.Node) *FileError {
			_, err := mapping(n, "agent", textKey("name", &s.agentName), textKey("version", &s.agentVersion))
			return err
		}},
		key{"capabilities", func(n *yaml.Node) *FileError {
			c := &s.capabilities
			_, err := mapping(n, "capabilities", boolKey("load", &c.load), boolKey("resume", &c.resume), boolKey("close", &c.close))
			return err
		}},
		key{"initialize", func(n *yaml.Node) *FileError {
			return s.initialize.read(n, "initialize", key{"protocolVersion", func(n *yaml.Node) (err *FileError) {
				s.protocolVersion, err = integer(n, "protocolVersion", 0, 1<<16-1)
				return err
			}})
		}},
		key{"new", func(n *yaml.Node) *FileError {
			return s.opening.read(n, "new", key{"modes", s.readModes}, key{"sessionId", func(n *yaml.Node) *FileError {
				id, err := text(n, "sessionId")
				s.sessionID = &id
				return err
			}})
		}},
		key{"close", func(n *yaml.Node) *FileError { return s.closing.read(n, "close") }},
		key{"requireComplete", func(n *yaml.Node) (err *FileError) {
			s.requireComplete, err = boolean(n, "requireComplete")
			return err
		}},
		key{"sessions", func(n *yaml.Node) *FileError {
			sessions = n
			return r.scripts(n, s.scripts)
		}},
	)
	silent := s.initialize.hang || s.initialize.fail != nil
	switch {
	case err != nil:
		return nil, err
	case has["version"] == nil:
		return nil, refuse(root, "the scenario has no version; write version: 1")
	case sessions == nil && !silent:
		return nil, refuse(root, "the scenario has no sessions; write sessions with at least one script")
	case sessions != nil && silent:
		return nil, refuse(has["sessions"], "no session is reached, because initialize never succeeds; remove one of the two")
	}
	return s, nil
}

func textKey(name string, into *string) key {
	return key{name, func(n *yaml.Node) (err *FileError) {
		*into, err = named(n, name)
		return err
	}}
}

func boolKey(name string, into *bool) key {
	return key{name, func(n *yaml.Node) (err *FileError) {
		*into, err = boolean(n, name)
		return err
	}}
}

func (h *handshake) read(n *yaml.Node, where string, more ...key) *FileError {
	has, err := mapping(n, where, append([]key{
		{"delay", func(n *yaml.Node) (err *FileError) {
			h.delay, err = duration(n, "delay")
			return err
		}},
		{"error", func(n *yaml.Node) (err *FileError) {
			h.fail, err = readError(n)
			return err
		}},
		{"hang", func(n *yaml.Node) *FileError {
			h.hang = true
			return yes(n, "hang")
		}},
	}, more...)...)
	if err == nil && h.hang && h.fail != nil {
		err = refuse(has["error"], "%s hangs, so its error is never sent; keep one", where)
	}
	return err
}

func readError(n *yaml.Node) (*rpcError, *FileError) {
	e := &rpcError{}
	has, err := mapping(n, "error", textKey("message", &e.Message), key{"code", func(n *yaml.Node) (err *FileError) {
		e.Code, err = integer(n, "code", -1<<31, 1<<31-1)
		return err
	}})
	if err == nil && (has["code"] == nil || has["message"] == nil) {
		err = refuse(n, "error needs code and message")
	}
	return e, err
}

func (s *Scenario) readModes(n *yaml.Node) *FileError {
	s.modes = &modes{}
	has, err := mapping(n, "modes", textKey("current", &s.modes.current), key{"available", func(n *yaml.Node) (err *FileError) {
		s.modes.available, err = texts(n, "available")
		return err
	}})
	if err == nil && (has["current"] == nil || has["available"] == nil) {
		err = refuse(n, "modes needs current and available")
	}
	return err
}

func (r *reader) scripts(n *yaml.Node, into map[string][]stage) *FileError {
	list, err := members(n, "sessions")
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return refuse(n, "sessions is empty; write at least one script")
	}
	for _, m := range list {
		items, err := elements(m.value, "a session")
		if err != nil {
			return err
		}
		r.known = map[string][]string{}
		stages := []stage{}
		var last fault
		for _, item := range items {
			if last != noFault {
				return refuse(item, "this stage is never reached, because the one before it always ends the peer; remove it")
			}
			s, end, err := r.stage(item)
			if err != nil {
				return err
			}
			stages, last = append(stages, s), end
		}
		into[m.name] = stages
	}
	return nil
}

func (r *reader) stage(n *yaml.Node) (s stage, last fault, err *FileError) {
	var captures []string
	var asAt, do *yaml.Node
	has, err := mapping(n, "a stage",
		key{"prompt", func(n *yaml.Node) (err *FileError) {
			s.match, captures, err = r.matcher(n)
			return err
		}},
		key{"as", func(n *yaml.Node) (err *FileError) {
			asAt = n
			s.as, err = named(n, "as")
			return err
		}},
		key{"do", func(n *yaml.Node) *FileError {
			do = n
			return nil
		}},
		key{"stop", func(n *yaml.Node) *FileError {
			reason, err := text(n, "stop")
			s.stop = &reason
			return err
		}},
	)
	switch {
	case err != nil:
		return s, 0, err
	case has["prompt"] == nil:
		return s, 0, refuse(n, "a stage has no prompt; write what it expects, or prompt: {any: true}")
	case len(captures) > 0 && s.as == "":
		return s, 0, refuse(has["prompt"], "the prompt captures and the stage has no name; write as: NAME")
	case s.as != "" && len(captures) == 0:
		return s, 0, refuse(asAt, "as names captures and the prompt has none; remove it")
	case s.as != "" && identifier(s.as) != len(s.as):
		return s, 0, refuse(asAt, "as must be a name of letters, digits and _ that does not begin with a digit")
	case r.known[s.as] != nil:
		return s, 0, refuse(asAt, "an earlier stage is called %q already", s.as)
	}
	if s.as != "" {
		r.known[s.as] = captures
	}
	if do == nil {
		return s, 0, nil
	}
	var ends *ending
	if s.do, ends, err = r.steps(do); err != nil {
		return s, 0, err
	}
	if ends != nil && s.stop != nil {
		return s, 0, refuse(has["stop"], "stop is never reached, because a step ends the turn; remove one of the two")
	}
	if ends != nil {
		last = ends.fault
	}
	return s, last, nil
}

func (r *reader) matcher(n *yaml.Node) (m matcher, captures []string, err *FileError) {
	if isText(n) {
		t, err := r.template(n, "prompt", true)
		return t, t.captures(), err
	}
	_, err = mapping(n, "prompt",
		key{"equals", func(n *yaml.Node) *FileError {
			s, err := text(n, "equals")
			m = equals(s)
			return err
		}},
		key{"contains", func(n *yaml.Node) *FileError {
			s, err := texts(n, "contains")
			m = contains(s)
			return err
		}},
		key{"any", func(n *yaml.Node) *FileError {
			m = anything{}
			return yes(n, "any")
		}})
	if err == nil && len(n.Content) != 2 {
		err = refuse(n, "prompt is a text or a mapping with one of equals, contains and any")
	}
	return m, nil, err
}

// template reads a text with holes; only a prompt may capture.
func (r *reader) template(n *yaml.Node, where string, captures bool) (template, *FileError) {
	s, err := text(n, where)
	if err != nil {
		return nil, err
	}
	t, bad := parseTemplate(s)
	if bad != nil {
		return nil, refuse(n, "%s cannot be read: %v", where, bad)
	}
	for _, p := range t {
		switch {
		case p.capture != "" && !captures:
			return nil, refuse(n, "%s captures {?%s}; only a prompt can", where, p.capture)
		case p.ref != "" && !r.binds(p.of, p.ref):
			return nil, refuse(n, "%s uses {%s.%s}, which no stage before it captures", where, p.of, p.ref)
		}
	}
	return t, nil
}

func (r *reader) binds(of, ref string) bool {
	for _, name := range r.known[of] {
		if name == ref {
			return true
		}
	}
	return false
}

// file reads a file a step says.
func (r *reader) file(n *yaml.Node) (template, *FileError) {
	name, err := named(n, "file")
	if err != nil {
		return nil, err
	}
	if r.options.File == nil {
		return nil, refuse(n, "this scenario stands beside no files, so it cannot say one")
	}
	if !fs.ValidPath(name) || name == "." {
		return nil, refuse(n, "file must be a relative path with slashes that stays beside the scenario")
	}
	content, bad := r.options.File(name)
	switch {
	case bad != nil:
		return nil, refuse(n, "the file %.200q cannot be read: %v", name, bad)
	case len(content) > MaxSize:
		return nil, refuse(n, "the file %.200q is larger than %d bytes", name, MaxSize)
	case !utf8.Valid(content):
		return nil, refuse(n, "the file %.200q is not UTF-8", name)
	}
	r.sum.Write(content)
	return template{{literal: string(content)}}, nil
}
