package cli

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/property"
)

// arguments are the words of xmd run, told apart before anything is read: which
// document, which options of our own, which options the document will declare.
type arguments struct {
	help     bool
	inline   *string
	document string // reference, "-" for standard input; empty with inline
	known    []string
	props    []propsWord
	certain  bool // no word's meaning depends on what the document declares
}

// A propsWord is one --props or --props-NAME option as written.
type propsWord struct {
	option   string // --props-name
	value    string
	hasValue bool
}

// scan tells the words of a run apart (language 7.1, 9.2). declared is nil before
// the document is read: then an option it may declare is taken to consume the
// next word unless that looks like an option.
func scan(args []string, flags *pflag.FlagSet, declared *property.Set) (*arguments, error) {
	a := &arguments{certain: true}
	var early string // the first property option before the document
	for i := 0; i < len(args); i++ {
		word := args[i]
		name, value, joined := strings.Cut(word, "=")
		next := func(why string) (string, error) {
			if i++; i >= len(args) {
				return "", usage("%s needs a value: %s", name, why)
			}
			return args[i], nil
		}
		switch {
		case word == "--": // nothing after it is read
			i = len(args)
		case word == "-h" || word == "--help":
			a.help = true
		case name == "-e" || name == "--eval":
			if a.inline != nil {
				return nil, usage("--eval is given twice; one run has one document")
			}
			if name == "-e" && joined {
				return nil, usage("-e takes the next word: write -e TEXT or --eval=TEXT")
			}
			if !joined {
				var err error
				if value, err = next("write --eval TEXT with the document's text"); err != nil {
					return nil, err
				}
				if value == "-" {
					return nil, usage("--eval - has no meaning; to read standard input write xmd run -")
				}
			}
			a.inline = &value
		case name == "--props" || strings.HasPrefix(name, "--props-"):
			if a.document == "" && early == "" {
				early = name
			}
			w := propsWord{option: name, value: value, hasValue: joined}
			if !joined && a.consumes(name, args[i+1:], flags, declared) {
				var err error
				if w.value, err = next("write " + name + "=VALUE"); err != nil {
					return nil, err
				}
				w.hasValue = true
			}
			a.props = append(a.props, w)
		case strings.HasPrefix(name, "--no-props-"):
			return nil, usage("%s is no option: write --%s=false", name, strings.TrimPrefix(name, "--no-"))
		case strings.HasPrefix(word, "-") && word != "-":
			f := lookup(flags, name)
			if f == nil {
				return nil, unknownOption(flags, name)
			}
			if _, only := f.Value.(*onlySwitch); only && joined {
				hint := "write it alone or leave it out"
				if strings.HasSuffix(name, "secret-detection") {
					hint = "write --no-secret-detection to turn detection off"
				}
				return nil, usage("%s takes no value; %s", name, hint)
			}
			a.known = append(a.known, word)
			if f.NoOptDefVal == "" && !joined {
				v, err := next("see xmd run --help")
				if err != nil {
					return nil, err
				}
				a.known = append(a.known, v)
			}
		case a.document != "" || a.inline != nil:
			if near := nearCommand(a.document); near != "" {
				return nil, usage("%q is no command; did you mean %s?", a.document, near)
			}
			return nil, usage("%q is one argument too many: a run has one document", word)
		default:
			a.document = word
		}
	}
	switch {
	case a.inline != nil && a.document != "":
		return nil, usage("both %q and --eval name a document; give one", a.document)
	case a.inline == nil && a.document == "" && early != "" && !a.help:
		return nil, misplacedOption(early)
	case a.inline == nil && a.document == "" && !a.help:
		return nil, usage("name a document: xmd run FILE, xmd run -e TEXT, or xmd run - for standard input")
	case a.inline == nil && early != "" && !a.help:
		return nil, misplacedOption(early)
	}
	return a, nil
}

func misplacedOption(option string) error {
	return usage("%s stands before the document; options the document declares follow it: xmd run FILE %s …", option, option)
}

// nearCommand is the command a word may have been meant to be.
func nearCommand(word string) string {
	return engine.Nearest(word, []string{"admit", "audit", "check", "plan", "prompt", "run", "syntax", "version", "workflow", "completion"})
}

// consumes reports whether a property option without = takes the next word. Before
// the document is read that is a guess, which only has to find the document: a word
// that spells an option of ours is taken to be one.
func (a *arguments) consumes(option string, rest []string, flags *pflag.FlagSet, declared *property.Set) bool {
	switch {
	case declared != nil:
		o := declared.Find(option)
		return o == nil || !o.Switch()
	case option == "--props" || len(rest) == 0:
		return option == "--props"
	}
	name, _, _ := strings.Cut(rest[0], "=")
	if !strings.HasPrefix(name, "-") || name == "-" {
		return true
	}
	a.certain = false
	ours := name == "--" || name == "--props" || strings.HasPrefix(name, "--props-") || lookup(flags, name) != nil
	return !ours
}

// lookup finds one of our own options by the spelling of a word.
func lookup(flags *pflag.FlagSet, name string) *pflag.Flag {
	if long, ok := strings.CutPrefix(name, "--"); ok {
		return flags.Lookup(long)
	}
	if len(name) == 2 {
		return flags.ShorthandLookup(name[1:])
	}
	return nil
}

// unknownOption refuses an option, naming the nearest one there is (D-8).
func unknownOption(flags *pflag.FlagSet, name string) error {
	var known []string
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	if near := engine.Nearest(strings.TrimLeft(name, "-"), known); near != "" {
		return usage("%s is no option of this command; did you mean --%s?", name, near)
	}
	return usage("%s is no option of this command; see --help", name)
}
