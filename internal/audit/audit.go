// Package audit says what generated text was granted, what it did with it, and what
// a change of the grant would let it do more.
//
// There are five questions, and each has a report:
//
//	Profile   what does this profile allow, and where is it wide?
//	Fragment  what would this fragment do at most under it?
//	Journal   did everything this history holds stay inside what was admitted?
//	Diff      does this profile allow anything that one did not?
//	Agent     what holds the agent that writes generated text?
//
// What enters are bytes somebody else wrote: profile files, fragments, compiled
// modules, histories. What leaves is a plain report with its [Finding]s, which Text,
// HTML, JSON and SARIF write down. A report knows no format and a format knows no
// question: a report lays itself out as a page, and every format but JSON shows
// that.
//
// The one invariant: an audit believes nothing it is told. A recorded decision is
// made again from its recorded source, under a profile built anew from the recorded
// policy; an effect is inside its grant only if the operations of this binary, bound
// to no machine, would let it pass. What cannot be shown to be inside is reported as
// outside, and what cannot be shown to be narrower as widened. Everything shown is
// shown with its control, bidirectional and invisible characters written out.
//
// Time and memory grow linearly with what is read. Matching the paths of a history
// against the patterns of its own policy is bounded apart (maxWork), because a
// hostile policy makes it dear.
//
// The package performs nothing: it opens no file, no directory and no connection,
// and the profiles it captures have no machine behind them. It refuses to know how
// a command line is spelled and what an exit status is.
package audit

import (
	"fmt"

	"github.com/executable-markdown/xmd/internal/value"
)

// Version is the version of the JSON form of every report.
const Version = 1

// A Level is how much a finding weighs. The texts are those of SARIF.
type Level string

const (
	Error   Level = "error"   // something lies outside what was granted, or more is granted than before
	Warning Level = "warning" // a ceiling is wide; a person should want it so
	Note    Level = "note"    // worth knowing
)

// A Place is where in a file something is. Without a file it is nowhere in one;
// Line 0 stands for the file as a whole.
type Place struct {
	File   string
	Line   int // from 1
	Column int // from 1, in the units the file's own reader counts
}

// String is file:line:column, as far as it is known.
func (p Place) String() string {
	switch {
	case p.File == "" || p.Line == 0:
		return p.File
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// A Finding is one thing a report draws attention to.
type Finding struct {
	Level   Level
	Code    string // its kind; the texts are contract
	Message string // may repeat what was read; whoever shows it escapes it
	Where   Place
}

// A Report is what an audit came to: *Profile, *Fragment, *Compiled, *Journal, *Diff or
// *Agent.
type Report interface {
	// Found lists what the report draws attention to, in the order it was met.
	Found() []Finding
	page() page
	json() *value.Object
}

// A rule is one kind of finding.
type rule struct {
	Code  string
	Level Level
	Text  string // one sentence that is true of every finding of the kind
}

// rules lists every kind of finding there is.
var rules = [...]rule{
	{"wide-read", Warning, "A read entry covers every file below the root."},
	{"wide-list", Note, "A list entry covers every file below the root."},
	{"wide-write", Warning, "A write entry covers every path below the root."},
	{"broad-pattern", Warning, "A pattern of a write entry reaches into every directory."},
	{"many-requests", Warning, "A Fetch entry states more requests than a person reads."},
	{"plain-http", Warning, "A request is sent without encryption."},
	{"private-address", Warning, "A request reaches a loopback, link-local or private address."},
	{"credential-header", Warning, "A request carries what looks like a credential."},
	{"root-of-system", Warning, "The selected root is the whole file system."},
	{"root-unused", Note, "A root that is not selected is reached by no entry."},
	{"limit-raised", Note, "A limit is above its default."},

	{"fragment-refused", Error, "The fragment is not admitted under this profile."},

	{"decision-malformed", Error, "A decision does not have the form of one."},
	{"decision-unreadable", Error, "The record of a decision cannot be read."},
	{"decision-repeated", Error, "Two decisions have one name."},
	{"policy-unlike", Error, "The policy a decision was asked under is not the one it records."},
	{"policy-unusable", Error, "No profile of this binary has the policy a decision records."},
	{"source-refused", Error, "The recorded source is not admitted under the recorded policy."},
	{"source-unlike", Error, "The elements a decision records are not those of its source."},
	{"module-unlike", Error, "The module a decision records is not what its source compiles to."},
	{"foreign-entry", Note, "A policy has an entry this binary does not know."},
	{"fragment-unknown", Error, "An effect names a fragment about which the history holds no decision."},
	{"fragment-later", Error, "An effect precedes the decision that would admit it."},
	{"fragment-elsewhere", Error, "An effect lies outside the coroutine its fragment was admitted in."},
	{"fragment-not-admitted", Error, "An effect names a fragment that was not admitted."},
	{"effect-homeless", Error, "An effect of generated text names no fragment."},
	{"effect-foreign", Error, "An event of this type is no effect of generated text."},
	{"effect-malformed", Error, "An effect does not say what was asked in the form of its type."},
	{"identity-not-granted", Error, "An effect was performed under an identity that was not granted."},
	{"element-unknown", Error, "No element of the admitted source has the position and identity of an effect."},
	{"outside-ceiling", Error, "An effect lies outside the ceiling of its entry."},
	{"unlike-source", Error, "An effect is not the one its element asks for."},
	{"too-often", Error, "An element took effect more often than its source can make it."},
	{"result-outside", Error, "A result lies outside the ceiling of its entry."},
	{"result-unlike", Error, "A result is not one its entry returns."},
	{"unverified", Error, "An effect could not be held against its ceiling."},
	{"torn-tail", Note, "The history ends in an unfinished record."},

	{"widened", Error, "The second profile allows something the first does not."},

	{"agent-uncontained", Warning, "The kernel contains nothing of the agent."},
	{"agent-survives", Note, "A process of the agent can outlive it."},
	{"agent-network", Warning, "The kernel does not restrict the connections of the agent."},
	{"tools-unmeasured", Warning, "The adapter was not measured to leave its model no tool."},
	{"adapter-unmeasured", Warning, "The adapter has another version than the ones that were measured."},
}

// finding makes a finding of a rule.
func finding(code string, where Place, format string, args ...any) Finding {
	f := Finding{Code: code, Message: fmt.Sprintf(format, args...), Where: where}
	for i := range rules {
		if rules[i].Code == code {
			f.Level = rules[i].Level
		}
	}
	return f
}

// Worst is the heaviest level found; empty when nothing was.
func Worst(found []Finding) Level {
	worst := Level("")
	for _, f := range found {
		switch {
		case f.Level == Error:
			return Error
		case f.Level == Warning || worst == "":
			worst = f.Level
		}
	}
	return worst
}
