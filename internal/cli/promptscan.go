package cli

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/executable-markdown/xmd/plan"
)

// A promptLine is the words of xmd prompt, told apart before anything is read. What
// an individual property takes is said by a document that does not exist yet, so the
// words are scanned once, by rules of their own, and never again (prompt 2.1).
type promptLine struct {
	request   string
	fixed     []string // what an ordinary parser may see
	words     []plan.Word
	aggregate *string // --props; nil: none
	help      bool
}

// scanPrompt tells the words apart. table declares the options there are. The result
// depends on nothing else. A request for help wins over every refusal. A table without
// props is of a command that takes no properties: they are options it does not have.
func scanPrompt(args []string, table *pflag.FlagSet) (*promptLine, error) {
	s := promptScan{table: table, args: args}
	for s.at < len(args) {
		s.next()
	}
	switch {
	case s.line.help:
		return &s.line, nil
	case s.refused == nil && !s.asked:
		s.refuse("exactly one request is required: xmd %[1]s \"ask for my name and greet me\"; see xmd %[1]s --help", table.Name())
	case s.refused == nil && strings.IndexFunc(s.line.request, func(r rune) bool { return !unicode.IsSpace(r) }) < 0:
		s.refuse("the request needs a non-whitespace character: say what the document is to do")
	case s.refused == nil && !utf8.ValidString(s.line.request):
		s.refuse("the request is not UTF-8 text")
	}
	return &s.line, s.refused
}

// A promptScan is the scan under way. After a refusal it goes on looking for help.
type promptScan struct {
	table   *pflag.FlagSet
	args    []string
	at      int
	line    promptLine
	asked   bool // there is a request
	ended   bool // a -- was read
	refused error
}

func (s *promptScan) refuse(format string, args ...any) {
	if s.refused == nil {
		s.refused = usage(format, args...)
	}
}

// properties reports whether the command takes properties of a document at all.
func (s *promptScan) properties() bool { return s.table.Lookup("props") != nil }

// next reads one word and what belongs to it.
func (s *promptScan) next() {
	word := s.args[s.at]
	s.at++
	name, value, inline := strings.Cut(word, "=")
	switch {
	case s.ended || !strings.HasPrefix(word, "-") || word == "-":
		s.positional(word)
	case word == "--":
		s.ended = true
	case name == "--props" && s.properties():
		if !inline {
			var ok bool
			if value, ok = s.take(); !ok {
				s.refuse("--props needs a JSON object: --props '{\"name\": \"Ada\"}'")
				return
			}
		}
		s.line.aggregate = &value
	case strings.HasPrefix(name, "--props-") && s.properties():
		s.property(name, value, inline)
	case strings.HasPrefix(name, "--no-props") && s.properties():
		s.refuse("%s is no option: properties have no negated form; write --props-NAME=false", name)
	default:
		s.option(word, name, inline)
	}
}

func (s *promptScan) positional(word string) {
	if s.asked {
		s.refuse("unexpected argument %q; the command takes one request, so quote it as a whole", word)
		return
	}
	s.asked, s.line.request = true, word
}

// take consumes the next word, whatever it looks like.
func (s *promptScan) take() (string, bool) {
	if s.at == len(s.args) {
		return "", false
	}
	s.at++
	return s.args[s.at-1], true
}

// property records an occurrence of an individual property. Whether the word after it
// is its value, only a document can tell; a word that spells an option of the table
// never is (prompt 2.2).
func (s *promptScan) property(name, value string, inline bool) {
	w := plan.Word{Option: name, Value: value, Form: plan.Bare}
	switch {
	case inline:
		w.Form = plan.Inline
	case s.at < len(s.args) && !s.known(s.args[s.at]):
		w.Value, _ = s.take()
		w.Form = plan.Provisional
	}
	if !s.asked {
		s.refuse("%s must follow the request, because the document it belongs to is written for the request: xmd prompt \"…\" %s …", name, name)
		return
	}
	s.line.words = append(s.line.words, w)
}

// known reports whether a word is -- or spells an option of the table.
func (s *promptScan) known(word string) bool {
	name, _, _ := strings.Cut(word, "=")
	return name == "--" || name == "--props" || strings.HasPrefix(name, "--props-") || strings.HasPrefix(name, "--no-props") ||
		strings.HasPrefix(name, "-") && lookup(s.table, name) != nil
}

// option reads an option of the table and hands it on.
func (s *promptScan) option(word, name string, inline bool) {
	f := lookup(s.table, name)
	switch {
	case f == nil:
		s.unknown(name)
	case f.Name == "help" && !inline:
		s.line.help = true
	case f.NoOptDefVal != "" && inline:
		s.refuse("%s takes no value; write it alone or leave it out", name)
	case f.NoOptDefVal != "" || inline:
		s.line.fixed = append(s.line.fixed, word)
	default:
		_, plain := f.Value.(*agentWord) // a name is no option
		if plain && s.at < len(s.args) && strings.HasPrefix(s.args[s.at], "-") {
			s.refuse("%s needs a name", name)
			return
		}
		value, ok := s.take()
		if !ok {
			s.refuse("%s needs %s", name, needed(f))
			return
		}
		s.line.fixed = append(s.line.fixed, word, value)
	}
}

// needed says what an option takes.
func needed(f *pflag.Flag) string {
	switch f.Name {
	case "save":
		return "a path"
	case "session", "agent-provider", "default-agent":
		return "a name"
	}
	what, _ := pflag.UnquoteUsage(f)
	return "a value (" + what + ")"
}

// unknown refuses an option that is not in the table.
func (s *promptScan) unknown(name string) {
	if slices.Contains([]string{"-e", "--eval"}, name) {
		s.refuse("%s belongs to xmd run: a prompt runs the document that is written for its request", "--eval")
		return
	}
	if s.refused == nil {
		s.refused = unknownOption(s.table, name)
	}
}
