package expr

import (
	"context"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"github.com/executable-markdown/xmd/internal/value"
)

// A Ref is one value held by reference within one run. It starts as plain JSON
// (package value) or as the result of an evaluation; two names bound to one Ref,
// or to results that are the same JavaScript object, are identical. A Ref is safe
// for concurrent use; reading one that an evaluation has touched waits for its turn
// unless the value is a primitive.
type Ref struct {
	rt   *Runtime
	prim any // nil, bool, float64, string or value.Undefined; elsewhere for the rest

	// Guarded by rt.mu. Exactly one of them is set unless prim is the value.
	held any        // an array or object no evaluation has touched
	js   goja.Value // the value of every evaluation since the first
}

// elsewhere marks a Ref whose value is not a primitive.
type elsewhere struct{}

// Ref wraps a JSON value, which the caller must not change any more.
func (rt *Runtime) Ref(v any) *Ref {
	switch v.(type) {
	case nil, bool, float64, string, value.Undefined:
		return &Ref{rt: rt, prim: v}
	}
	return &Ref{rt: rt, prim: elsewhere{}, held: v}
}

// result holds the value of an evaluation. The caller holds rt.mu.
func (rt *Runtime) result(v goja.Value) (*Ref, error) {
	switch {
	case textLength(v) > MaxText:
		return nil, &Error{Reason: "the result is longer than " + number(MaxText) + " characters"}
	case isArray(v) && v.(*goja.Object).Get("length").ToInteger() > MaxLength:
		return nil, &Error{Reason: "the result is longer than " + number(MaxLength) + " elements"}
	}
	r := &Ref{rt: rt, prim: elsewhere{}, js: v}
	switch {
	case v == nil || goja.IsUndefined(v):
		r.prim, r.js = value.Undefined{}, goja.Undefined()
	case goja.IsNull(v):
		r.prim = nil
	case goja.IsString(v):
		r.prim = v.String()
	case goja.IsNumber(v):
		r.prim = v.ToFloat()
	case !isObject(v):
		if b, ok := v.Export().(bool); ok {
			r.prim = b
		}
	}
	return r, nil
}

func isObject(v goja.Value) bool {
	_, ok := v.(*goja.Object)
	return ok
}

func isArray(v goja.Value) bool {
	o, ok := v.(*goja.Object)
	return ok && o.ClassName() == "Array"
}

// values converts refs for the interpreter, each at most once. The caller holds
// rt.mu.
func (rt *Runtime) values(refs []*Ref) ([]goja.Value, error) {
	out := make([]goja.Value, len(refs))
	for i, r := range refs {
		switch {
		case r == nil:
			out[i] = goja.Undefined()
		case r.rt != rt:
			return nil, &Error{Reason: "Error: a value of another run cannot be used here"}
		default:
			out[i] = r.convert()
		}
	}
	return out, nil
}

// convert returns the JavaScript value, making it if need be.
func (r *Ref) convert() goja.Value {
	if r.js == nil {
		if v, ok := r.primitive(); ok {
			r.js = r.rt.js.fromJSON(v)
		} else {
			r.js, r.held = r.rt.js.fromJSON(r.held), nil
		}
	}
	return r.js
}

func (r *Ref) primitive() (any, bool) {
	_, other := r.prim.(elsewhere)
	return r.prim, !other
}

// read gives the value to one of two readers: plain gets JSON, js gets what the
// interpreter holds and runs under the bounds of an evaluation, because it may run
// getters and conversions of the program.
func (r *Ref) read(plain func(any) error, js func(*interpreter, goja.Value) error) error {
	if v, ok := r.primitive(); ok {
		return plain(v)
	}
	r.rt.mu.Lock()
	defer r.rt.mu.Unlock()
	if r.js == nil {
		return plain(r.held)
	}
	return r.rt.guard(context.Background(), func() error {
		var err error
		if thrown := r.rt.js.vm.Try(func() { err = js(r.rt.js, r.js) }); thrown != nil {
			return thrown
		}
		return err
	})
}

// Bool returns the value when it is a boolean.
func (r *Ref) Bool() (b, ok bool) {
	b, ok = r.prim.(bool)
	return b, ok
}

// Str returns the value when it is a string.
func (r *Ref) Str() (s string, ok bool) {
	s, ok = r.prim.(string)
	return s, ok
}

// Truthy reports whether the value counts as true in a condition.
func (r *Ref) Truthy() bool {
	switch v := r.prim.(type) {
	case nil, value.Undefined:
		return false
	case bool:
		return v
	case float64:
		return v != 0 && v == v
	case string:
		return v != ""
	}
	r.rt.mu.Lock()
	defer r.rt.mu.Unlock()
	return r.js == nil || r.js.ToBoolean() // only a big integer can be false here
}

// StrictEqual reports whether r === o: primitives by value, NaN never, everything
// else by identity.
func (r *Ref) StrictEqual(o *Ref) bool {
	a, primitive := r.primitive()
	b, other := o.primitive()
	switch {
	case primitive != other:
		return false
	case primitive:
		return a == b
	case r == o:
		return true
	case r.rt != o.rt:
		return false
	}
	r.rt.mu.Lock()
	defer r.rt.mu.Unlock()
	return r.js != nil && o.js != nil && r.js.StrictEquals(o.js)
}

// Kind names the type of the value: null, boolean, number, string, array, object
// and undefined as in a schema, or function, symbol or bigint.
func (r *Ref) Kind() string {
	if v, ok := r.primitive(); ok {
		return value.Kind(v)
	}
	r.rt.mu.Lock()
	defer r.rt.mu.Unlock()
	return r.kind()
}

// kind is Kind for a caller that holds rt.mu.
func (r *Ref) kind() string {
	if v, ok := r.primitive(); ok {
		return value.Kind(v)
	}
	switch {
	case r.js == nil:
		return value.Kind(r.held)
	case isArray(r.js):
		return "array"
	case isFunction(r.js):
		return "function"
	case isObject(r.js):
		return "object"
	case goja.IsBigInt(r.js):
		return "bigint"
	}
	return "symbol"
}

func isFunction(v goja.Value) bool {
	_, ok := goja.AssertFunction(v)
	return ok
}

// Text is the string conversion of interpolation (language 3.5): form B for null
// and undefined. A value whose own conversion fails shows as [object Object].
func (r *Ref) Text() string {
	text := unconvertible
	_ = r.read(func(v any) error {
		text = value.Text(v)
		return nil
	}, func(_ *interpreter, v goja.Value) error {
		text = textOf(v)
		return nil
	})
	return text
}

const unconvertible = "[object Object]"

// textOf converts v the way String does. It may run the program's own conversions
// and is called inside vm.Try.
func textOf(v goja.Value) string {
	if s, ok := v.(*goja.Symbol); ok {
		return "Symbol(" + s.String() + ")"
	}
	return v.String()
}

// Member resolves a dotted path of own members (language 3.4.2) and returns its
// text. ok is false when the reference stays verbatim: something before the last
// name is missing or is no object. A missing last member shows as undefined. Arrays
// have a length; strings have no members here.
func (r *Ref) Member(path []string) (text string, ok bool) {
	if len(path) == 0 {
		return r.Text(), true
	}
	err := r.read(func(v any) error {
		for i, name := range path {
			member, found := plainMember(v, name)
			if !found && (i < len(path)-1 || !container(v)) {
				return nil
			}
			v = member
		}
		text, ok = value.Text(v), true
		return nil
	}, func(js *interpreter, v goja.Value) error {
		for i, name := range path {
			member, found := js.member(v, name)
			if !found && (i < len(path)-1 || !isObject(v) || isFunction(v)) {
				return nil
			}
			v = member
		}
		text = textOf(v)
		ok = true
		return nil
	})
	return text, ok && err == nil
}

// Property resolves a dotted path of own members the way form A does (language
// 3.3): missing, undefined and null are empty, a top-level array is joined with
// ", ". Names may hold anything; digits index arrays.
func (r *Ref) Property(path []string) string {
	var text string
	err := r.read(func(v any) error {
		for _, name := range path {
			v, _ = plainMember(v, name)
		}
		switch list, array := v.([]any); {
		case array:
			text = value.Join(list, ", ")
		case v != nil && v != any(value.Undefined{}):
			text = value.Text(v)
		}
		return nil
	}, func(js *interpreter, v goja.Value) error {
		for _, name := range path {
			v, _ = js.member(v, name)
		}
		switch {
		case isArray(v):
			text = js.join(v.(*goja.Object), ", ")
		case !absent(v):
			text = textOf(v)
		}
		return nil
	})
	if err != nil {
		return unconvertible
	}
	return text
}

// join converts the elements of an array and joins them.
func (js *interpreter) join(list *goja.Object, sep string) string {
	var b strings.Builder
	for i := range js.boundLength(list) {
		if i > 0 {
			b.WriteString(sep)
		}
		if e := list.Get(strconv.FormatInt(i, 10)); !absent(e) {
			b.WriteString(textOf(e))
		}
	}
	return b.String()
}

func absent(v goja.Value) bool { return v == nil || goja.IsUndefined(v) || goja.IsNull(v) }

// member returns the own member of an object that is no function.
func (js *interpreter) member(v goja.Value, name string) (goja.Value, bool) {
	o, ok := v.(*goja.Object)
	if !ok || isFunction(v) {
		return goja.Undefined(), false
	}
	own, err := js.hasOwn(o, js.vm.ToValue(name))
	if err != nil {
		panic(err)
	}
	if !own.ToBoolean() {
		return goja.Undefined(), false
	}
	return o.Get(name), true
}

func container(v any) bool {
	switch v.(type) {
	case []any, *value.Object:
		return true
	}
	return false
}

// plainMember returns an own member of a JSON value.
func plainMember(v any, name string) (any, bool) {
	switch v := v.(type) {
	case *value.Object:
		if m, ok := v.Get(name); ok {
			return m, true
		}
	case []any:
		if name == "length" {
			return float64(len(v)), true
		}
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(v) && strconv.Itoa(i) == name {
			return v[i], true
		}
	}
	return value.Undefined{}, false
}

// Snapshot returns a Ref for a concurrent child: plain data is copied, undefined
// and non-finite numbers included; anything that holds a function, a cycle or
// another object that is no data is shared.
func (r *Ref) Snapshot() *Ref {
	if _, ok := r.primitive(); ok {
		return r
	}
	v, err := r.cross(copying)
	if err != nil {
		return r
	}
	return r.rt.Ref(v)
}
