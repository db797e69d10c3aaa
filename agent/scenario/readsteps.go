package scenario

import (
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"
)

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
