package expr

import (
	"math"
	"strconv"

	"github.com/dop251/goja"

	"github.com/executable-markdown/xmd/internal/value"
)

// A KindError says what kind of value could not cross to JSON, and where.
type KindError struct {
	Path string // $.a[0]
	Kind string // "a function", "a big integer", "a cycle", ...
}

func (e *KindError) Error() string { return e.Path + " is " + e.Kind }

// JSON projects the value to JSON (language 4.4.1): undefined at the root is
// value.Undefined with a nil error. A value without JSON text (a function, a
// symbol, a big integer, a cycle, one too deep or too large) is a *KindError; a
// toJSON or getter that throws is an *Error. The result shares nothing with r.
func (r *Ref) JSON() (any, error) { return r.cross(projecting) }

// Strict crosses to JSON and rejects with a *KindError what JSON cannot say
// (language 4.4.3): undefined, non-finite numbers, functions, missing elements,
// cycles and objects that are no plain data. The result is a copy.
func (r *Ref) Strict() (any, error) { return r.cross(strict) }

type mode int

const (
	projecting mode = iota // rewrite what JSON cannot say
	strict                 // reject it
	copying                // keep undefined and non-finite numbers, reject the rest
)

// A crossing carries one value over to JSON.
type crossing struct {
	mode  mode
	js    *interpreter
	open  map[*goja.Object]bool // the objects around the present one
	depth int                   // the containers around the present place
	size  int                   // bytes so far, roughly
}

// A place is where in the value a crossing is. Its text is made for errors only.
type place struct {
	up    *place
	key   string
	index int // -1 for a member
}

func (p *place) String() string {
	switch {
	case p == nil:
		return "$"
	case p.index >= 0:
		return p.up.String() + "[" + number(p.index) + "]"
	case asciiIdentifier(p.key):
		return p.up.String() + "." + p.key
	}
	return p.up.String() + "[" + strconv.Quote(p.key) + "]"
}

func (r *Ref) cross(m mode) (any, error) {
	c := &crossing{mode: m}
	var out any
	err := r.read(func(v any) (err error) {
		out, err = c.plain(v, nil)
		return err
	}, func(js *interpreter, v goja.Value) (err error) {
		c.js, c.open = js, make(map[*goja.Object]bool)
		out, err = c.value(v, nil, "")
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (c *crossing) refuse(p *place, kind string) error {
	return &KindError{Path: p.String(), Kind: kind}
}

// grow counts one value of n bytes.
func (c *crossing) grow(n int) error {
	if c.size += n + 8; c.size > MaxJSON {
		return c.refuse(nil, "larger than "+number(MaxJSON)+" bytes")
	}
	return nil
}

// undefined is what becomes of an absent value or one without JSON text. Inside an
// object value.Undefined means that the member vanishes.
func (c *crossing) undefined(p *place, kind string) (any, error) {
	switch {
	case c.mode == projecting && kind != "undefined" && p == nil:
		return nil, c.refuse(p, kind)
	case c.mode == projecting, c.mode == copying && kind == "undefined":
		return value.Undefined{}, nil
	}
	return nil, c.refuse(p, kind)
}

func (c *crossing) number(f float64, p *place) (any, error) {
	if !math.IsNaN(f) && !math.IsInf(f, 0) || c.mode == copying {
		return f, nil
	}
	if c.mode == strict {
		return nil, c.refuse(p, value.FormatNumber(f))
	}
	return nil, nil
}

// plain crosses a value that is JSON but for undefined and non-finite numbers.
func (c *crossing) plain(v any, p *place) (any, error) {
	switch v := v.(type) {
	case float64:
		return c.number(v, p)
	case value.Undefined:
		return c.undefined(p, "undefined")
	case []any:
		if err := c.enter(); err != nil {
			return nil, err
		}
		defer c.leave()
		out := make([]any, len(v))
		for i, e := range v {
			e, err := c.plain(e, &place{p, "", i})
			if err != nil {
				return nil, err
			}
			out[i] = c.element(e)
		}
		return out, nil
	case *value.Object:
		if err := c.enter(); err != nil {
			return nil, err
		}
		defer c.leave()
		out := value.NewObject(v.Len())
		for k, e := range v.All() {
			e, err := c.plain(e, &place{p, k, -1})
			if err != nil {
				return nil, err
			}
			c.member(out, k, e)
		}
		return out, nil
	}
	return v, nil
}

// enter counts one container around the present place; leave ends it.
func (c *crossing) enter() error {
	if c.depth++; c.depth > value.MaxDepth {
		return c.refuse(nil, "nested deeper than "+number(value.MaxDepth)+" levels")
	}
	return nil
}

func (c *crossing) leave() { c.depth-- }

// element is what an array holds in the place of e.
func (c *crossing) element(e any) any {
	if _, absent := e.(value.Undefined); absent && c.mode == projecting {
		return nil
	}
	return e
}

func (c *crossing) member(o *value.Object, key string, e any) {
	if _, absent := e.(value.Undefined); absent && c.mode == projecting {
		return
	}
	o.Set(key, e)
}

// value crosses what the interpreter holds; key is the member name for toJSON.
func (c *crossing) value(v goja.Value, p *place, key string) (any, error) {
	if o, ok := v.(*goja.Object); ok && c.mode == projecting {
		if convert, ok := goja.AssertFunction(o.Get("toJSON")); ok {
			converted, err := convert(o, c.js.vm.ToValue(key))
			if err != nil {
				return nil, err
			}
			v = converted
		}
	}
	switch {
	case v == nil || goja.IsUndefined(v):
		return c.undefined(p, "undefined")
	case goja.IsNull(v):
		return nil, c.grow(0)
	case goja.IsString(v):
		s := v.String()
		return s, c.grow(len(s))
	case goja.IsNumber(v):
		if err := c.grow(0); err != nil {
			return nil, err
		}
		return c.number(v.ToFloat(), p)
	case goja.IsBigInt(v):
		return nil, c.refuse(p, "a big integer")
	}
	switch v := v.(type) {
	case *goja.Symbol:
		return c.undefined(p, "a symbol")
	case *goja.Object:
		return c.object(v, p)
	}
	return v.ToBoolean(), nil
}

func (c *crossing) object(o *goja.Object, p *place) (any, error) {
	if isFunction(o) {
		return c.undefined(p, "a function")
	}
	if c.open[o] {
		return nil, c.refuse(p, "a cycle")
	}
	if err := c.enter(); err != nil {
		return nil, err
	}
	defer c.leave()
	c.open[o] = true
	defer delete(c.open, o)
	if isArray(o) {
		return c.list(o, p)
	}
	if c.mode == projecting {
		switch o.ClassName() { // new Number(1) is written as 1
		case "Number":
			return c.value(o.ToNumber(), p, "")
		case "String":
			return c.value(o.ToString(), p, "")
		case "Boolean":
			return o.Export(), nil
		case "BigInt":
			return nil, c.refuse(p, "a big integer")
		}
	} else if kind := c.js.instance(o); kind != "" {
		return nil, c.refuse(p, kind)
	}
	keys := o.Keys()
	out := value.NewObject(len(keys))
	for _, key := range keys {
		if err := c.grow(len(key)); err != nil {
			return nil, err
		}
		e, err := c.value(o.Get(key), &place{p, key, -1}, key)
		if err != nil {
			return nil, err
		}
		c.member(out, key, e)
	}
	return out, nil
}

func (c *crossing) list(o *goja.Object, p *place) (any, error) {
	length := c.js.boundLength(o)
	if c.mode != projecting && int64(len(o.Keys())) < length {
		if i := firstHole(o, length); i >= 0 {
			return nil, c.refuse(&place{p, "", i}, "a missing element")
		}
	}
	out := make([]any, 0, min(length, 1024))
	for i := range int(length) {
		key := number(i)
		e, err := c.value(o.Get(key), &place{p, "", i}, key)
		if err != nil {
			return nil, err
		}
		if err := c.grow(0); err != nil {
			return nil, err
		}
		out = append(out, c.element(e))
	}
	return out, nil
}

// firstHole returns the index of the first element that o does not have, or -1.
func firstHole(o *goja.Object, length int64) int {
	own := make(map[string]bool)
	for _, key := range o.Keys() {
		own[key] = true
	}
	for i := range int(length) {
		if !own[number(i)] {
			return i
		}
	}
	return -1
}

// instance names what makes an object no plain data, or returns "".
func (js *interpreter) instance(o *goja.Object) string {
	proto := o.Prototype()
	if proto == nil || proto == js.plain {
		return ""
	}
	if constructor, ok := o.Get("constructor").(*goja.Object); ok {
		if name, ok := constructor.Get("name").(goja.String); ok && name.Length() > 0 && name.String() != "Object" {
			return "an instance of " + name.String()
		}
	}
	return "an object with a prototype of its own"
}

// fromJSON makes the JavaScript value of a JSON value. Members are own members
// whatever they are called.
func (js *interpreter) fromJSON(v any) goja.Value {
	switch v := v.(type) {
	case nil:
		return goja.Null()
	case value.Undefined:
		return goja.Undefined()
	case []any:
		items := make([]any, len(v))
		for i, e := range v {
			items[i] = js.fromJSON(e)
		}
		return js.vm.NewArray(items...)
	case *value.Object:
		o := js.vm.NewObject()
		for k, e := range v.All() {
			must(o.DefineDataProperty(k, js.fromJSON(e), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE))
		}
		return o
	}
	return js.vm.ToValue(v)
}
