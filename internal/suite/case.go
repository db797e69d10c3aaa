package suite

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/value"
)

// The members of a case.
const (
	memberProfile      = "profile.yaml"
	memberAllow        = "allow"
	memberFragment     = "fragment.md"
	memberFragmentJSON = "fragment.json"
	memberResults      = "results"
	memberWant         = "want"
	memberOutput       = "want/output"
	memberOutputJSON   = "want/output.json"
	memberEffects      = "want/effects"
	memberFailure      = "want/failure"
)

// members lists them in the order in which a case is written.
func members() []string {
	return []string{memberProfile, memberAllow, memberFragment, memberFragmentJSON, memberResults,
		memberWant, memberOutput, memberOutputJSON, memberEffects, memberFailure}
}

// A Case is one archive, read. It does not change; the same Case may be judged more
// than once.
type Case struct {
	name     string
	archive  *txtar.Archive
	problems []string // why it cannot be judged
	fragment string
	profile  *capability.File // nil: the ordinary one
	allow    []capability.Class
	script   script // nil: the fragment is not evaluated
}

// Read reads one case. Whatever is wrong with it is a problem of its outcome, so
// that the other cases of a suite are judged all the same. data is not kept.
func Read(name string, data []byte) *Case {
	c := &Case{name: name, archive: txtar.Parse(bytes.Clone(data))}
	c.checkMembers()
	for _, read := range [...]func() error{c.readProfile, c.readAllow, c.readFragment, c.readResults} {
		if err := read(); err != nil {
			c.problem("%v", err)
		}
	}
	return c
}

func (c *Case) problem(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// member returns the text of a member.
func (c *Case) member(name string) (text string, ok bool) {
	for _, f := range c.archive.Files {
		if f.Name == name {
			return string(f.Data), true
		}
	}
	return "", false
}

func (c *Case) has(name string) bool {
	_, ok := c.member(name)
	return ok
}

// checkMembers refuses members a case does not have, and combinations that say two
// things at once.
func (c *Case) checkMembers() {
	seen := map[string]bool{}
	for _, f := range c.archive.Files {
		switch {
		case !slices.Contains(members(), f.Name):
			c.problem("it has a member %q, which no case has; its members are %s", f.Name, strings.Join(members(), ", "))
		case seen[f.Name]:
			c.problem("it has the member %s twice; keep one", f.Name)
		}
		seen[f.Name] = true
	}
	switch {
	case !seen[memberFragment] && !seen[memberFragmentJSON]:
		c.problem("it has no %s; write the fragment below a line -- %s --", memberFragment, memberFragment)
	case seen[memberFragment] && seen[memberFragmentJSON]:
		c.problem("it has both %s and %s; keep one", memberFragment, memberFragmentJSON)
	}
	if seen[memberOutput] && seen[memberOutputJSON] {
		c.problem("it has both %s and %s; keep one", memberOutput, memberOutputJSON)
	}
	for _, name := range [...]string{memberOutput, memberOutputJSON, memberEffects, memberFailure} {
		if seen[name] && !seen[memberResults] {
			c.problem("it has %s and no results, so nothing is evaluated; add results, {} where no operation returns anything", name)
		}
	}
}

func (c *Case) readProfile() error {
	text, ok := c.member(memberProfile)
	if !ok {
		return nil
	}
	var err error
	if c.profile, err = capability.ReadProfile([]byte(text)); err != nil {
		return fmt.Errorf("%s: %w", memberProfile, err)
	}
	return nil
}

func (c *Case) readAllow() error {
	text, ok := c.member(memberAllow)
	if !ok {
		text = string(capability.ReadClass)
	}
	c.allow = Classes(text)
	return nil
}

// Classes reads a selection as people write one: classes with commas between them.
// Which of them there are is for the profile to say.
func Classes(text string) []capability.Class {
	var classes []capability.Class
	for word := range strings.SplitSeq(text, ",") {
		classes = append(classes, capability.Class(strings.TrimSpace(word)))
	}
	return classes
}

func (c *Case) readFragment() error {
	text, ok := c.member(memberFragment)
	if ok {
		c.fragment = text
		return nil
	}
	if text, ok = c.member(memberFragmentJSON); !ok {
		return nil
	}
	v, err := value.Parse([]byte(text))
	if err != nil {
		return fmt.Errorf("%s: %w", memberFragmentJSON, err)
	}
	if c.fragment, err = spelled(v); err != nil {
		return fmt.Errorf("%s: %w", memberFragmentJSON, err)
	}
	return nil
}

// spelled is the text that a JSON value spells: a string, or a list of strings and
// of numbers from 0 to 255, which are bytes.
func spelled(v any) (string, error) {
	if s, ok := v.(string); ok {
		return s, nil
	}
	list, ok := v.([]any)
	if !ok {
		return "", errors.New("it must be a JSON string, or a list of strings and bytes")
	}
	var b strings.Builder
	for i, e := range list {
		switch e := e.(type) {
		case string:
			b.WriteString(e)
		case float64:
			if e < 0 || e > 255 || !value.IsInteger(e) {
				return "", fmt.Errorf("its item %d is no byte; write a number from 0 to 255", i+1)
			}
			b.WriteByte(byte(e))
		default:
			return "", fmt.Errorf("its item %d is neither a string nor a byte", i+1)
		}
	}
	return b.String(), nil
}

func (c *Case) readResults() error {
	text, ok := c.member(memberResults)
	if !ok {
		return nil
	}
	var err error
	if c.script, err = readScript(text); err != nil {
		return fmt.Errorf("results: %w", err)
	}
	return nil
}
