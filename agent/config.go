package agent

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/executable-markdown/xmd/internal/closedyaml"
)

// MaxConfigFile is the largest configuration file, in bytes.
const MaxConfigFile = 64 << 10

// A Config is the person's agents.yaml (agents 9.3). The zero Config says nothing, as
// a file that is absent does.
type Config struct {
	DefaultAgent string           // empty: the file states none
	Agents       map[string]Entry // each replaces the built-in entry of its name
}

// An Entry is how one agent is run.
type Entry struct {
	Command  []string          // argument vector, never empty
	Adapter  string            // adapter profile; empty: none
	Env      map[string]string // set for the agent
	PassEnv  []string          // copied from the invoker, in written order
	Timeouts Timeouts          // zero where the file says nothing
}

// Timeouts bound the opening of a conversation.
type Timeouts struct {
	Initialize time.Duration // from spawning to the answer of initialize
	Session    time.Duration // for a new, loaded or resumed session
}

// A ConfigError is a configuration file that cannot be used. The file is the person's
// own, so the message may quote it; it says what to do.
type ConfigError = closedyaml.Error

// ConfigPath is where the configuration file is: what XMD_AGENTS_FILE names, which
// must be absolute, else xmd/agents.yaml beneath the person's configuration directory.
// It is empty when neither is given.
func ConfigPath(named, directory string) (string, error) {
	switch {
	case named != "" && !filepath.IsAbs(named):
		return "", fmt.Errorf("XMD_AGENTS_FILE is %.40q, which is not absolute; write the whole path of the file", named)
	case named != "" || directory == "":
		return named, nil
	}
	return filepath.Join(directory, "xmd", "agents.yaml"), nil
}

// CheckConfigFile refuses a configuration file that somebody else could have written:
// it must be a regular file of the invoking user or of root, and writable by its owner
// alone. The file names programs to run.
func CheckConfigFile(mode fs.FileMode, owner, invoker uint32) error {
	switch {
	case !mode.IsRegular():
		return fmt.Errorf("the agent configuration is not a regular file; make it one")
	case owner != invoker && owner != 0:
		return fmt.Errorf("the agent configuration belongs to another user; make it your own, for it names programs to run")
	case mode.Perm()&0o022 != 0:
		return fmt.Errorf("the agent configuration can be written by others; run chmod go-w on it, for it names programs to run")
	}
	return nil
}

// ReadConfig reads a configuration file, which is YAML of a closed shape: unknown and
// repeated keys, anchors, aliases, tags, merge keys and a second YAML document are
// refused, as are files larger than MaxConfigFile. The error is a *ConfigError.
func ReadConfig(data []byte) (*Config, error) {
	if len(data) > MaxConfigFile {
		return nil, &ConfigError{Line: 1, Column: 1, Message: fmt.Sprintf("the file has %d bytes and the limit is %d", len(data), MaxConfigFile)}
	}
	if !utf8.Valid(data) {
		return nil, &ConfigError{Line: 1, Column: 1, Message: "the file is not UTF-8; save it as UTF-8"}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var root, second yaml.Node
	switch err := decoder.Decode(&root); {
	case err == io.EOF || err == nil && len(root.Content) != 1:
		return nil, &ConfigError{Line: 1, Column: 1, Message: "the file is empty; begin with version: 1"}
	case err != nil:
		return nil, closedyaml.Syntax(err)
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		return nil, closedyaml.Refuse(&second, "the file holds a second YAML document; keep one")
	case err != io.EOF:
		return nil, closedyaml.Syntax(err)
	}
	c := &Config{}
	if err := c.read(root.Content[0]); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Config) read(n *yaml.Node) error {
	version := false
	err := closedyaml.ReadMapping(n, "the file", []closedyaml.Key{
		{Name: "version", Read: func(n *yaml.Node) error { version = true; return readVersion(n) }},
		{Name: "defaultAgent", Read: func(n *yaml.Node) error {
			if err := readText(n, "defaultAgent", &c.DefaultAgent); err != nil {
				return err
			}
			return checkAgentName(n, c.DefaultAgent)
		}},
		{Name: "agents", Read: c.readAgents},
	})
	if err == nil && !version {
		return closedyaml.Refuse(n, "the file has no version; begin with version: 1")
	}
	return err
}

func readVersion(n *yaml.Node) error {
	if text, err := closedyaml.Scalar(n, "version"); err != nil {
		return err
	} else if text != "1" || n.ShortTag() != "!!int" {
		return closedyaml.Refuse(n, "version is %.40q, and this binary reads version 1 only; write version: 1", text)
	}
	return nil
}

func checkAgentName(n *yaml.Node, name string) error {
	if !plainName(name) {
		return closedyaml.Refuse(n, "%.40q is no name of an agent; use letters, digits, and . _ + - after the first character", name)
	}
	return nil
}

func (c *Config) readAgents(n *yaml.Node) error {
	list, err := closedyaml.Members(n, "agents")
	if err != nil {
		return err
	}
	c.Agents = make(map[string]Entry, len(list))
	for _, m := range list {
		if err := checkAgentName(m.Key, m.Name); err != nil {
			return err
		}
		e, err := readEntry(m.Value, "agents."+m.Name)
		if err != nil {
			return err
		}
		c.Agents[m.Name] = e
	}
	return nil
}

func readEntry(n *yaml.Node, where string) (Entry, error) {
	var e Entry
	var adapter *yaml.Node
	err := closedyaml.ReadMapping(n, where, []closedyaml.Key{
		{Name: "command", Read: func(n *yaml.Node) error { return readCommand(n, where+".command", &e.Command) }},
		{Name: "adapter", Read: func(n *yaml.Node) error { adapter = n; return readText(n, where+".adapter", &e.Adapter) }},
		{Name: "env", Read: func(n *yaml.Node) error { return e.readEnv(n, where+".env") }},
		{Name: "passEnv", Read: func(n *yaml.Node) error { return e.readPassEnv(n, where+".passEnv") }},
		{Name: "timeouts", Read: func(n *yaml.Node) error { return e.Timeouts.read(n, where+".timeouts") }},
	})
	switch {
	case err != nil:
		return e, err
	case e.Command == nil:
		return e, closedyaml.Refuse(n, "%s has no command; write command: [program, argument]", where)
	case e.Adapter != "" && !slices.Contains(adapters(), e.Adapter):
		return e, closedyaml.Refuse(adapter, "%s.adapter is %.40q; known adapters are %s", where, e.Adapter, strings.Join(adapters(), ", "))
	case e.Adapter == FixtureAdapter && !fixtureArgs(e.Command):
		return e, closedyaml.Refuse(adapter, "%s.adapter is fixture, which is for xmd agent-fixture alone; leave adapter out", where)
	}
	return e, nil
}

func readCommand(n *yaml.Node, where string, into *[]string) error {
	items, err := closedyaml.Elements(n, where)
	if err != nil {
		return err
	}
	if len(items) == 0 {
		return closedyaml.Refuse(n, "%s is empty; write the program and its arguments", where)
	}
	argv := make([]string, len(items))
	for i, item := range items {
		if argv[i], err = plainText(item, fmt.Sprintf("%s[%d]", where, i)); err != nil {
			return err
		}
	}
	if argv[0] == "" {
		return closedyaml.Refuse(items[0], "%s[0] is empty; name the program", where)
	}
	*into = argv
	return nil
}

func (e *Entry) readEnv(n *yaml.Node, where string) error {
	list, err := closedyaml.Members(n, where)
	if err != nil {
		return err
	}
	e.Env = make(map[string]string, len(list))
	for _, m := range list {
		if err := checkVariable(m.Key, where, m.Name); err != nil {
			return err
		}
		if e.Env[m.Name], err = plainText(m.Value, where+"."+m.Name); err != nil {
			return err
		}
	}
	return nil
}

func (e *Entry) readPassEnv(n *yaml.Node, where string) error {
	items, err := closedyaml.Elements(n, where)
	if err != nil {
		return err
	}
	seen := make(map[string]bool, len(items))
	for i, item := range items {
		name, err := plainText(item, fmt.Sprintf("%s[%d]", where, i))
		if err != nil {
			return err
		}
		if err := checkVariable(item, where, name); err != nil {
			return err
		}
		if seen[name] {
			return closedyaml.Refuse(item, "%s names %s twice; keep one", where, name)
		}
		seen[name] = true
		e.PassEnv = append(e.PassEnv, name)
	}
	return nil
}

func checkVariable(n *yaml.Node, where, name string) error {
	switch {
	case !variableName(name):
		return closedyaml.Refuse(n, "%s has %.40q, which is no name of a variable; use letters, digits and _", where, name)
	case ForbiddenVariable(name):
		return closedyaml.Refuse(n, "%s sets %s, which changes what a program loads or runs; remove it", where, name)
	}
	return nil
}

func variableName(name string) bool {
	for i := range len(name) {
		if c := name[i]; c != '_' && !isLetter(c) && (i == 0 || !isDigit(c)) {
			return false
		}
	}
	return name != ""
}

// ForbiddenVariable reports whether a variable may not be given to an agent by a
// configuration, because it makes programs load or run something else (agents 9.3).
// Case does not count.
func ForbiddenVariable(name string) bool {
	switch upper := strings.ToUpper(name); upper {
	case "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "NODE_OPTIONS", "BASH_ENV", "ENV", "PYTHONSTARTUP":
		return true
	default:
		return strings.HasPrefix(upper, "DYLD_")
	}
}

func (t *Timeouts) read(n *yaml.Node, where string) error {
	duration := func(name string, into *time.Duration) closedyaml.Key {
		return closedyaml.Key{Name: name, Read: func(n *yaml.Node) error {
			text, err := closedyaml.Scalar(n, where+"."+name)
			if err != nil {
				return err
			}
			if *into, err = ParseDuration(where+"."+name, text); err != nil {
				return closedyaml.Refuse(n, "%v", err)
			}
			return nil
		}}
	}
	return closedyaml.ReadMapping(n, where, []closedyaml.Key{duration("initialize", &t.Initialize), duration("session", &t.Session)})
}
