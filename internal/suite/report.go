package suite

import (
	"encoding/xml"
	"fmt"
	"strings"
	"unicode"

	"github.com/executable-markdown/xmd/internal/value"
)

// Summary is one line: how many cases there are and how they did.
func (r *Report) Summary() string {
	failed := r.Failed()
	cases := "cases"
	if len(r.Outcomes) == 1 {
		cases = "case"
	}
	return fmt.Sprintf("%d %s: %d passed, %d failed", len(r.Outcomes), cases, len(r.Outcomes)-failed, failed)
}

// String is one line that names what is in the coverage.
func (c Coverage) String() string {
	var parts []string
	for _, group := range [...]struct {
		name  string
		items []string
	}{{"classes", c.Classes}, {"features", c.Features}, {"ceilings", c.Ceilings}} {
		if len(group.items) > 0 {
			parts = append(parts, group.name+" "+strings.Join(group.items, ", "))
		}
	}
	if parts == nil {
		return "nothing"
	}
	return strings.Join(parts, "; ")
}

// JSON is the report for a program (version 1).
func (r *Report) JSON() *value.Object {
	cases := make([]any, len(r.Outcomes))
	for i, o := range r.Outcomes {
		status := "passed"
		if !o.Passed() {
			status = "failed"
		}
		c := value.Of("case", o.Name, "status", status)
		if o.Decision != "" {
			c.Set("decision", o.Decision)
		}
		c.Set("evaluated", o.Evaluated)
		if !o.Passed() {
			c.Set("problems", list(o.Problems))
		}
		cases[i] = c
	}
	missing := r.Uncovered()
	return value.Of(
		"version", 1.0,
		"cases", cases,
		"passed", float64(len(r.Outcomes)-r.Failed()),
		"failed", float64(r.Failed()),
		"uncovered", value.Of("classes", list(missing.Classes), "features", list(missing.Features), "ceilings", list(missing.Ceilings)),
	)
}

func list(texts []string) []any {
	l := make([]any, len(texts))
	for i, s := range texts {
		l[i] = s
	}
	return l
}

// TAP is the report in version 13 of the Test Anything Protocol. Why a case failed is
// the YAML below its line, in strings that are JSON, too.
func (r *Report) TAP() string {
	var b strings.Builder
	fmt.Fprintf(&b, "TAP version 13\n1..%d\n", len(r.Outcomes))
	for i, o := range r.Outcomes {
		result := "ok"
		if !o.Passed() {
			result = "not ok"
		}
		fmt.Fprintf(&b, "%s %d - %s\n", result, i+1, tapName(o.Name))
		if o.Passed() {
			continue
		}
		b.WriteString("  ---\n  problems:\n")
		for _, p := range o.Problems {
			fmt.Fprintf(&b, "    - %s\n", value.AppendString(nil, p))
		}
		b.WriteString("  ...\n")
	}
	fmt.Fprintf(&b, "# %s\n# uncovered: %s\n", r.Summary(), r.Uncovered())
	return b.String()
}

// tapName is a name that ends no line and begins no directive.
func tapName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.NewReplacer(`\`, `\\`, "#", `\#`).Replace(name))
}

// The elements of a JUnit report.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Failure *junitFailure `xml:"failure"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit is the report as an XML file of the kind that JUnit writes: one suite for each
// directory of cases. No time is told: a report says the same of the same suite.
func (r *Report) JUnit() ([]byte, error) {
	all := junitSuites{Tests: len(r.Outcomes), Failures: r.Failed()}
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		dir, name := "", o.Name
		if slash := strings.LastIndexByte(name, '/'); slash >= 0 {
			dir, name = name[:slash], name[slash+1:]
		}
		if n := len(all.Suites); n == 0 || all.Suites[n-1].Name != dir {
			all.Suites = append(all.Suites, junitSuite{Name: dir})
		}
		s := &all.Suites[len(all.Suites)-1]
		c := junitCase{Class: dir, Name: strings.TrimSuffix(name, ".txtar")}
		if !o.Passed() {
			first, _, _ := strings.Cut(o.Problems[0], "\n")
			c.Failure = &junitFailure{Message: strings.TrimSuffix(first, ":"), Text: strings.Join(o.Problems, "\n")}
			s.Failures++
		}
		s.Tests++
		s.Cases = append(s.Cases, c)
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	return append(append([]byte(xml.Header), text...), '\n'), err
}
