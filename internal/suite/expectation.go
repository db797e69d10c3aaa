package suite

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/executable-markdown/xmd/internal/value"
)

// expectations are the members of a case that say what came of it, in their order.
func expectations(c *Case, f fact) []txtar.File {
	files := []txtar.File{{Name: memberWant, Data: []byte(wanted(f.decision))}}
	if f.run == nil {
		return files
	}
	if f.run.failure == nil {
		files = append(files, output(f.run.result.Output, c.has(memberOutputJSON)))
	}
	if len(f.run.effects) > 0 {
		files = append(files, txtar.File{Name: memberEffects, Data: []byte(strings.Join(f.run.effects, "\n") + "\n")})
	}
	if f.run.failure != nil {
		files = append(files, txtar.File{Name: memberFailure, Data: []byte(ended(failure(f.run.failure)))})
	}
	return files
}

// output is what was rendered, as text where an archive can hold it.
func output(text string, exact bool) txtar.File {
	f := txtar.File{Name: memberOutput, Data: []byte(ended(text))}
	if !exact && bytes.Equal(txtar.Parse(txtar.Format(&txtar.Archive{Files: []txtar.File{f}})).Files[0].Data, f.Data) {
		return f
	}
	return txtar.File{Name: memberOutputJSON, Data: append(value.AppendString(nil, text), '\n')}
}

// ended is a text with the final line end that an archive gives it.
func ended(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

func isExpectation(name string) bool {
	return name == memberWant || strings.HasPrefix(name, memberWant+"/")
}

// compare tells what in a case is not as it came, and how the case would read then.
func (c *Case) compare(o *Outcome, came []txtar.File) {
	if !c.has(memberWant) {
		o.Problems = append(o.Problems, "it has no want; write admitted or refused: CLASS below a line -- want --, or let --update write it")
	}
	for _, name := range members() {
		if !isExpectation(name) {
			continue
		}
		stated, wanted := c.member(name)
		is, present := "", false
		for _, f := range came {
			if f.Name == name {
				is, present = string(f.Data), true
			}
		}
		if wanted == present && (!wanted || same(name, stated, is)) {
			continue
		}
		lines := append([]string{"@@ " + name + " @@"}, diff(stated, is)...)
		o.Changes = append(o.Changes, lines...)
		if c.has(memberWant) {
			o.Problems = append(o.Problems, name+" is not as it came:\n"+strings.Join(lines[1:], "\n"))
		}
	}
	if len(o.Changes) > 0 {
		o.Archive = txtar.Format(c.with(came))
	}
}

// same reports whether an expectation is met. White space at the end counts in the
// output alone; JSON is compared as what it says.
func same(name, stated, is string) bool {
	switch name {
	case memberOutput:
		return stated == is
	case memberOutputJSON:
		v, err := value.Parse([]byte(stated))
		came, _ := value.Parse([]byte(is))
		return err == nil && value.Equal(v, came)
	}
	return strings.TrimRight(stated, " \t\r\n") == strings.TrimRight(is, "\n")
}

// with is the archive with other expectations, where the ones it had began.
func (c *Case) with(came []txtar.File) *txtar.Archive {
	a := &txtar.Archive{Comment: c.archive.Comment}
	at := -1
	for _, f := range c.archive.Files {
		if !isExpectation(f.Name) {
			a.Files = append(a.Files, f)
		} else if at < 0 {
			at = len(a.Files)
		}
	}
	if at < 0 {
		at = len(a.Files)
	}
	a.Files = slices.Insert(a.Files, at, came...)
	return a
}
