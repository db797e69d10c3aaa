package scenario

import (
	"encoding/json"
	"hash"
	"io/fs"
	"strings"
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

// steps reads a list of steps, and how its last one ends the turn.
func (r *reader) steps(n *yaml.Node) (list []step, ends *ending, err *FileError) {
	items, err := elements(n, "a list of steps")
	if err != nil {
		return nil, nil, err
	}
	for _, item := range items {
		if ends != nil {
			return nil, nil, refuse(item, "this step is never reached, because the one before it ends the turn; remove it")
		}
		s, err := r.step(item)
		if err != nil {
			return nil, nil, err
		}
		switch s := s.(type) {
		case answer:
			ends = &s.ending
		case hang:
			ends = &ending{fault: neverAnswers}
		}
		list = append(list, s)
	}
	return list, ends, nil
}

func (r *reader) step(n *yaml.Node) (step, *FileError) {
	list, err := members(n, "a step")
	if err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, refuse(n, "a step has exactly one key, which says what it does")
	}
	m := list[0]
	read, known := map[string]func(*yaml.Node) (step, *FileError){
		"say": r.say,
		"thought": func(n *yaml.Node) (step, *FileError) {
			s, err := text(n, "thought")
			return tell{chunk(thoughtChunk, s)}, err
		},
		"notice": func(n *yaml.Node) (step, *FileError) {
			s, err := text(n, "notice")
			u := chunk(messageChunk, s)
			u.Meta = json.RawMessage(noticeMeta)
			return tell{u}, err
		},
		"plan":       readPlan,
		"usage":      readUsage,
		"toolCall":   func(n *yaml.Node) (step, *FileError) { return readTool(n, toolCallNew) },
		"toolUpdate": func(n *yaml.Node) (step, *FileError) { return readTool(n, toolCallNext) },
		"permission": r.permission,
		"request":    readRequest,
		"mode": func(n *yaml.Node) (step, *FileError) {
			s, err := named(n, "mode")
			return tell{update{Kind: modeUpdate, ModeID: s}}, err
		},
		"delay": func(n *yaml.Node) (step, *FileError) {
			d, err := duration(n, "delay")
			return delay(d), err
		},
		"waitCancel":   func(n *yaml.Node) (step, *FileError) { return waitCancel{}, yes(n, "waitCancel") },
		"waitRelease":  r.release,
		"ignoreCancel": func(n *yaml.Node) (step, *FileError) { return deafen{}, yes(n, "ignoreCancel") },
		"ignoreTerm":   func(n *yaml.Node) (step, *FileError) { return deafen{term: true}, yes(n, "ignoreTerm") },
		"hang":         func(n *yaml.Node) (step, *FileError) { return hang{}, yes(n, "hang") },
		"fail": func(n *yaml.Node) (step, *FileError) {
			s, err := named(n, "fail")
			return answer{ending{fail: &rpcError{Code: -32603, Message: s}}}, err
		},
		"error": func(n *yaml.Node) (step, *FileError) {
			e, err := readError(n)
			return answer{ending{fail: e}}, err
		},
		"stop": func(n *yaml.Node) (step, *FileError) {
			s, err := text(n, "stop")
			return answer{ending{stop: &s}}, err
		},
		"crash": func(n *yaml.Node) (step, *FileError) {
			status, err := integer(n, "crash", 0, 255)
			return answer{ending{fault: crashed, status: status}}, err
		},
		"closeOutput": func(n *yaml.Node) (step, *FileError) {
			return answer{ending{fault: outputClosed}}, yes(n, "closeOutput")
		},
		"stderr": func(n *yaml.Node) (step, *FileError) {
			s, err := text(n, "stderr")
			return noise{kind: stderrText, text: s}, err
		},
		"raw": func(n *yaml.Node) (step, *FileError) {
			s, err := text(n, "raw")
			if err == nil && strings.Contains(s, "\n") {
				err = refuse(n, "raw is one line; write a step for each")
			}
			return noise{kind: rawLine, text: s}, err
		},
		"garbage": func(n *yaml.Node) (step, *FileError) { return readNoise(n, garbage) },
		"bigLine": func(n *yaml.Node) (step, *FileError) { return readNoise(n, bigLine) },
		"write":   func(n *yaml.Node) (step, *FileError) { return r.effect(m.key, n, "write") },
		"read":    func(n *yaml.Node) (step, *FileError) { return r.effect(m.key, n, "read") },
		"spawn":   func(n *yaml.Node) (step, *FileError) { return r.effect(m.key, n, "spawn") },
	}[m.name]
	if !known {
		return nil, refuse(m.key, "there is no step %.40q", m.name)
	}
	return read(m.value)
}

func readNoise(n *yaml.Node, kind noiseKind) (step, *FileError) {
	size, err := integer(n, "the number of bytes", 1, maxNoise)
	return noise{kind: kind, bytes: size}, err
}

func (r *reader) say(n *yaml.Node) (step, *FileError) {
	if isText(n) {
		t, err := r.template(n, "say", false)
		return say{[]template{t}}, err
	}
	var s say
	_, err := mapping(n, "say",
		key{"chunks", func(n *yaml.Node) *FileError {
			list, err := elements(n, "chunks")
			if err != nil {
				return err
			}
			for _, item := range list {
				t, err := r.template(item, "a chunk", false)
				if err != nil {
					return err
				}
				s.chunks = append(s.chunks, t)
			}
			return nil
		}},
		key{"file", func(n *yaml.Node) *FileError {
			t, err := r.file(n)
			s.chunks = []template{t}
			return err
		}})
	if err == nil && len(n.Content) != 2 {
		err = refuse(n, "say is a text or a mapping with one of chunks and file")
	}
	return s, err
}

func readPlan(n *yaml.Node) (step, *FileError) {
	list, err := texts(n, "plan")
	u := update{Kind: planUpdate}
	for _, content := range list {
		u.Entries = append(u.Entries, planEntry{content, "medium", "pending"})
	}
	return tell{u}, err
}

func readUsage(n *yaml.Node) (step, *FileError) {
	var used, size int
	number := func(name string, into *int) key {
		return key{name, func(n *yaml.Node) (err *FileError) {
			*into, err = integer(n, name, 0, 1<<31-1)
			return err
		}}
	}
	_, err := mapping(n, "usage", number("used", &used), number("size", &size))
	return tell{update{Kind: usageUpdate, Used: &used, Size: &size}}, err
}

// readCall reads a tool call.
func readCall(n *yaml.Node, where string, u *update) *FileError {
	has, err := mapping(n, where,
		textKey("id", &u.ToolCallID), textKey("title", &u.Title), textKey("kind", &u.ToolKind), textKey("status", &u.Status),
		key{"rawInput", func(n *yaml.Node) (err *FileError) {
			u.RawInput, err = asJSON(n, "rawInput")
			return err
		}})
	if err == nil && has["id"] == nil {
		err = refuse(n, "%s has no id", where)
	}
	return err
}

func readTool(n *yaml.Node, kind string) (step, *FileError) {
	u := update{Kind: kind}
	err := readCall(n, "a tool call", &u)
	return tell{u}, err
}

func (r *reader) permission(n *yaml.Node) (step, *FileError) {
	list, err := members(n, "permission")
	if err != nil {
		return nil, err
	}
	if len(list) != 1 || list[0].name != "concurrent" {
		a, err := r.ask(n)
		return permit{[]ask{a}}, err
	}
	items, err := elements(list[0].value, "concurrent")
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return nil, refuse(n, "concurrent is an empty list")
	}
	var p permit
	for _, item := range items {
		a, err := r.ask(item)
		if err != nil {
			return nil, err
		}
		p.asks = append(p.asks, a)
	}
	return p, nil
}

func (r *reader) ask(n *yaml.Node) (a ask, err *FileError) {
	var on, expect *yaml.Node
	has, err := mapping(n, "permission",
		key{"toolCall", func(n *yaml.Node) (err *FileError) {
			if isText(n) {
				a.call.ToolCallID, err = named(n, "toolCall")
				return err
			}
			return readCall(n, "toolCall", &a.call)
		}},
		key{"options", func(n *yaml.Node) (err *FileError) {
			a.options, err = readOptions(n)
			return err
		}},
		key{"expect", func(n *yaml.Node) *FileError {
			expect = n
			return nil
		}},
		key{"on", func(n *yaml.Node) *FileError {
			on = n
			return nil
		}})
	switch {
	case err != nil:
		return a, err
	case has["toolCall"] == nil || has["options"] == nil:
		return a, refuse(n, "permission needs toolCall and options")
	}
	if expect != nil {
		if err := a.readExpect(expect); err != nil {
			return a, err
		}
	}
	if on == nil {
		return a, nil
	}
	branches, err := members(on, "on")
	if err != nil {
		return a, err
	}
	a.on = map[string][]step{}
	for _, b := range branches {
		outcome := b.name
		switch {
		case a.offers(outcome):
		case outcome == "cancelled":
			outcome = ""
		default:
			return a, refuse(b.key, "on names %.40q, which is no option of the request, so it is never reached", b.name)
		}
		if a.on[outcome], _, err = r.steps(b.value); err != nil {
			return a, err
		}
	}
	return a, nil
}

func (a *ask) offers(id string) bool {
	for _, o := range a.options {
		if o.ID == id {
			return true
		}
	}
	return false
}

func (a *ask) readExpect(n *yaml.Node) *FileError {
	var outcome string
	_, err := mapping(n, "expect",
		key{"selected", func(n *yaml.Node) (err *FileError) {
			outcome, err = named(n, "selected")
			if err == nil && !a.offers(outcome) {
				err = refuse(n, "selected names %.40q, which is no option of the request", outcome)
			}
			return err
		}},
		key{"cancelled", func(n *yaml.Node) *FileError { return yes(n, "cancelled") }})
	if err == nil && len(n.Content) != 2 {
		err = refuse(n, "expect is a mapping with one of selected and cancelled")
	}
	a.expect = &outcome
	return err
}

func readOptions(n *yaml.Node) ([]option, *FileError) {
	items, err := elements(n, "options")
	if err != nil {
		return nil, err
	}
	options := []option{}
	for _, item := range items {
		var o option
		has, err := mapping(item, "an option", textKey("id", &o.ID), textKey("name", &o.Name), textKey("kind", &o.Kind))
		if err != nil {
			return nil, err
		}
		if len(has) != 3 {
			return nil, refuse(item, "an option needs id, name and kind")
		}
		options = append(options, o)
	}
	return options, nil
}

func readRequest(n *yaml.Node) (step, *FileError) {
	c := call{params: json.RawMessage("{}")}
	has, err := mapping(n, "request", textKey("method", &c.method),
		key{"params", func(n *yaml.Node) (err *FileError) {
			c.params, err = asJSON(n, "params")
			return err
		}},
		key{"expectError", func(n *yaml.Node) (err *FileError) {
			code := 0
			if n.ShortTag() == "!!bool" {
				err = yes(n, "expectError")
			} else {
				code, err = integer(n, "expectError", -1<<31, -1)
			}
			c.expect = &code
			return err
		}})
	if err == nil && has["method"] == nil {
		err = refuse(n, "request has no method")
	}
	return c, err
}

// release reads a name that can also be that of a file.
func (r *reader) release(n *yaml.Node) (step, *FileError) {
	r.releases = true
	name, err := named(n, "waitRelease")
	if err == nil && !validRelease(name) {
		err = refuse(n, "waitRelease must be a name of at most 100 letters, digits, _, - and . that does not begin with .")
	}
	return waitRelease(name), err
}

func validRelease(name string) bool {
	for _, c := range []byte(name) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && c != '_' && c != '-' && c != '.' {
			return false
		}
	}
	return name != "" && len(name) <= 100 && name[0] != '.'
}

func (r *reader) effect(at, n *yaml.Node, kind string) (step, *FileError) {
	if !r.options.HostEffects {
		return nil, refuse(at, "the step %s reaches the machine, which this scenario may not; allow host effects to let it", kind)
	}
	e := effect{kind: kind}
	keys := []key{textKey("path", &e.path)}
	switch kind {
	case "write":
		keys = append(keys, key{"content", func(n *yaml.Node) (err *FileError) {
			e.content, err = text(n, "content")
			return err
		}})
	case "spawn":
		keys = []key{{"argv", func(n *yaml.Node) (err *FileError) {
			e.argv, err = texts(n, "argv")
			return err
		}}}
	}
	has, err := mapping(n, kind, append(keys, key{"expect", func(n *yaml.Node) (err *FileError) {
		e.expect, err = text(n, "expect")
		if err == nil && e.expect != "ok" && e.expect != "denied" {
			err = refuse(n, "expect is ok or denied")
		}
		return err
	}})...)
	if err == nil && has[keys[0].name] == nil {
		err = refuse(n, "%s has no %s", kind, keys[0].name)
	}
	return e, err
}
