package admission

// A Class is the kind of a refusal (fragments 5). Its text is part of records,
// suites and command output.
type Class string

// The classes.
const (
	Block         Class = "block"         // an executable code block
	Expression    Class = "expression"    // a prop expression outside the dialect or the scope
	Interpolation Class = "interpolation" // a reference in text outside the dialect or the scope
	Binding       Class = "binding"       // a name that may not be bound here
	Component     Class = "component"     // a name that is not granted
	Content       Class = "content"       // content for an entry without
	FormClass     Class = "form"          // self-closing use of an entry with content
	Structure     Class = "structure"     // structural syntax misplaced or malformed
	Encoding      Class = "encoding"      // bytes that readers disagree about
	Construct     Class = "construct"     // anything else outside the language of fragments
	Props         Class = "props"         // props an entry does not take
	RequestClass  Class = "request"       // a request no entry states
	PathClass     Class = "path"          // a path an entry does not cover
	Limit         Class = "limit"         // more than a bound allows
)

// sentence is the fixed diagnostic of a class; it is contract. ok is false for a
// text that names no class.
func (c Class) sentence() (text string, ok bool) {
	switch c {
	case Block:
		text = "a generated fragment carries an executable code block, which it may not."
	case Expression:
		text = "a generated fragment carries an expression prop, which it may not."
	case Interpolation:
		text = "a generated fragment reads a binding through interpolation, which it may not."
	case Binding:
		text = "a generated fragment binds a result with `as`, which it may not."
	case Component:
		text = "a generated fragment names a component this host did not admit."
	case Content:
		text = "a generated fragment gives content to a component this host admitted only in its self-closing form."
	case FormClass:
		text = "a generated fragment writes self-closing a component this host admitted only in its paired form."
	case Structure:
		text = "a generated fragment writes structural syntax where it does not belong."
	case Encoding:
		text = "a generated fragment is not plain text that every reader reads alike."
	case Construct:
		text = "a generated fragment carries a construct this evaluator does not admit."
	case Props:
		text = "a generated fragment gives a component props this host did not admit."
	case RequestClass:
		text = "a generated fragment asks for a request this host did not admit."
	case PathClass:
		text = "a generated fragment names a path this host did not admit."
	case Limit:
		text = "a generated fragment exceeds a limit this host stated."
	}
	return text, text != ""
}

// A Refusal says of which class a refused fragment is, and nothing else (F5): its
// text interpolates nothing, and it wraps no error.
type Refusal struct{ Class Class }

// Error is the fixed diagnostic of the class.
func (r *Refusal) Error() string {
	text, _ := r.Class.sentence()
	return text
}
