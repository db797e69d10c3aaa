package plan

import (
	"fmt"

	"github.com/executable-markdown/xmd/internal/property"
)

// A WordForm is how the value of an individual property was written.
type WordForm int

const (
	Inline      WordForm = iota // --props-name=value
	Provisional                 // --props-name value, if the document declares it so
	Bare                        // --props-name, with nothing behind it
)

// A Word is one occurrence of an individual property on a command line that was told
// apart before any document existed (prompt 2.2).
type Word struct {
	Option, Value string
	Form          WordForm
}

// bind reads the words as a document declares its options (prompt 8.2, step 4). What
// the document makes of them cannot be mended by another draft.
func bind(declared *property.Set, supplied []Word) ([]property.Word, error) {
	words := make([]property.Word, len(supplied))
	for i, w := range supplied {
		o := declared.Find(w.Option)
		switch {
		case o == nil:
			return nil, &CallerError{declared.Undeclared(w.Option).Error()}
		case o.Switch() && w.Form == Provisional:
			return nil, &CallerError{fmt.Sprintf(
				"unexpected argument %q: the document declares %s as a switch, which takes no word; write %s=%s", w.Value, w.Option, w.Option, w.Value)}
		case o.Switch() && w.Form == Bare:
			w.Value = "true"
		case w.Form == Bare:
			return nil, &CallerError{fmt.Sprintf("%s needs a value: write %s=VALUE", w.Option, w.Option)}
		}
		words[i] = property.Word{Option: w.Option, Value: w.Value}
	}
	return words, nil
}

// A signature is all that decides how the words of an option are read. The type of the
// property is no part of it (prompt 9.3).
type signature struct {
	takesWord bool
	list      bool
}

func (s signature) String() string {
	switch {
	case !s.takesWord:
		return "a switch"
	case s.list:
		return "a repeated value"
	}
	return "one value"
}

// signatures are the frozen ones of an invocation, by option. They are added and never
// changed. An option nobody supplied has none.
type signatures map[string]signature

// compare refuses a document that would read a supplied option otherwise than an
// earlier one did. It looks at no value, so that no word is read in two ways even to
// say what is wrong with it (prompt 8.2, step 3).
func (frozen signatures) compare(declared *property.Set, supplied []Word) error {
	for _, w := range supplied {
		was, ok := frozen[w.Option]
		if !ok {
			continue
		}
		o := declared.Find(w.Option)
		if o == nil {
			return &CallerError{fmt.Sprintf(
				"%s was %s of an earlier draft, and the document that was written now does not declare it; leave it out, or say in the request that it stays", w.Option, was)}
		}
		if now := signatureOf(o); now != was {
			return &CallerError{fmt.Sprintf(
				"%s was %s of an earlier draft, and the document that was written now makes it %s; leave it out, or say in the request what it takes", w.Option, was, now)}
		}
	}
	return nil
}

// freeze settles what the supplied options take from here on.
func (frozen signatures) freeze(declared *property.Set, supplied []Word) {
	for _, w := range supplied {
		frozen[w.Option] = signatureOf(declared.Find(w.Option))
	}
}

func signatureOf(o *property.Option) signature { return signature{!o.Switch(), o.List} }
