package expr

import (
	"sync/atomic"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
)

// An interpreter is one JavaScript runtime with the globals of decision D-7.
type interpreter struct {
	vm       *goja.Runtime
	hasOwn   goja.Callable // Object.prototype.hasOwnProperty
	errors   map[string]*goja.Object
	array    *goja.Object // the original constructor behind the guarded one
	plain    *goja.Object // Object.prototype
	stopping atomic.Bool  // the evaluation was interrupted; native functions look here
	depth    int          // guarded native functions inside one another
}

// maxNative bounds guarded native functions inside one another (an array that
// joins arrays that join arrays ...), which would otherwise exhaust the stack.
const maxNative = 1000

// globals are the names of D-7, and the three values that are literals in all but
// grammar.
func globals() []string {
	return []string{
		"Math", "JSON", "Object", "Array", "String", "Number", "Boolean", "RegExp",
		"Map", "Set", "Error", "parseInt", "parseFloat", "isNaN", "isFinite",
		"encodeURIComponent", "decodeURIComponent", "undefined", "NaN", "Infinity",
	}
}

// walkers are the methods of arrays whose time depends on the length alone.
func walkers() []string {
	return []string{
		"concat", "copyWithin", "every", "fill", "filter", "find", "findIndex", "findLast",
		"findLastIndex", "flat", "flatMap", "forEach", "includes", "indexOf", "join", "keys",
		"lastIndexOf", "map", "reduce", "reduceRight", "reverse", "shift", "slice", "some",
		"sort", "splice", "toLocaleString", "toReversed", "toSorted", "toSpliced", "toString",
		"unshift", "values", "entries", "with",
	}
}

func newInterpreter() *interpreter {
	vm := goja.New()
	vm.SetParserOptions(parser.WithDisableSourceMaps)
	vm.SetMaxCallStackSize(MaxCalls)
	js := &interpreter{vm: vm, errors: make(map[string]*goja.Object)}
	js.plain = prototype(js.get("Object"))
	js.hasOwn = function(js.plain.Get("hasOwnProperty"))
	for _, name := range []string{"RangeError", "SyntaxError", "TypeError"} {
		js.errors[name] = js.get(name)
	}
	js.closeEscapes()
	js.guardText()
	js.guardArrays()
	js.guardPatterns()
	js.setGlobals()
	return js
}

// setGlobals leaves the interpreter with the globals of D-7 and nothing else. They
// cannot be assigned, and they inherit no names.
func (js *interpreter) setGlobals() {
	object := js.vm.CreateObject(nil)
	for _, name := range globals() {
		must(object.DefineDataProperty(name, js.vm.Get(name), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE))
	}
	js.vm.SetGlobalObject(object)
}

func (js *interpreter) get(name string) *goja.Object { return js.vm.Get(name).(*goja.Object) }

func prototype(constructor *goja.Object) *goja.Object {
	return constructor.Get("prototype").(*goja.Object)
}

func function(v goja.Value) goja.Callable {
	call, _ := goja.AssertFunction(v)
	return call
}

// must stops on a built-in that this version of the interpreter does not have in
// the expected form: a mistake of this package that no input can reach.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// closeEscapes removes the ways from an ordinary value to code from strings, to
// randomness and to constructors that are no globals here.
func (js *interpreter) closeEscapes() {
	for _, name := range []string{"Function", "Symbol", "BigInt"} {
		must(prototype(js.get(name)).Delete("constructor"))
	}
	must(js.get("Math").Delete("random"))
	must(prototype(js.get("Number")).Delete("toLocaleString")) // depends on the machine
	must(prototype(js.get("RegExp")).Delete("compile"))
	must(js.plain.Delete("__proto__"))
}

// load runs the function that t is compiled to and returns it.
func (js *interpreter) load(t *tree, parameters []string) (goja.Callable, error) {
	compiled, err := t.function(parameters)
	if err != nil {
		return nil, err
	}
	v, err := js.vm.RunProgram(compiled)
	if err != nil {
		return nil, err
	}
	return function(v), nil
}

// attempt runs f, which may throw.
func (js *interpreter) attempt(f func()) {
	_ = shielded(func() error {
		js.vm.Try(f)
		return nil
	})
}

// throw raises an error of the named class inside the running program.
func (js *interpreter) throw(class, reason string) {
	e, err := js.vm.New(js.errors[class], js.vm.ToValue(reason))
	must(err)
	panic(e)
}

// replace puts a guarded function in the place of a method. The guard may throw and
// may replace arguments; the original runs afterwards.
func (js *interpreter) replace(owner *goja.Object, name string, check func(*goja.FunctionCall)) {
	original, ok := owner.Get(name).(*goja.Object)
	if !ok {
		return
	}
	call := function(original)
	guarded := js.vm.ToValue(func(c goja.FunctionCall) goja.Value {
		if js.stopping.Load() {
			panic(&goja.InterruptedError{})
		}
		if js.depth++; js.depth > maxNative {
			js.throw("RangeError", "too much recursion; at most "+number(maxNative)+" built-in functions may be open")
		}
		defer func() { js.depth-- }()
		check(&c)
		v, err := call(c.This, c.Arguments...)
		if err != nil {
			panic(err)
		}
		return v
	}).(*goja.Object)
	js.disguise(guarded, original)
	must(owner.DefineDataProperty(name, guarded, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
}

// disguise gives a guarded function the name and length of the original.
func (js *interpreter) disguise(guarded, original *goja.Object) {
	for _, name := range []string{"name", "length"} {
		must(guarded.DefineDataProperty(name, original.Get(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	}
}

// wrap puts a guarded constructor in the place of a global one. Both share the
// prototype, so that instanceof and subclasses keep working.
func (js *interpreter) wrap(name string, check func([]goja.Value)) *goja.Object {
	original := js.get(name)
	construct, _ := goja.AssertConstructor(original)
	var guarded *goja.Object
	guarded = js.vm.ToValue(func(c goja.ConstructorCall) *goja.Object {
		check(c.Arguments)
		target := c.NewTarget
		if target == nil || target == guarded {
			target = original
		}
		o, err := construct(target, c.Arguments...)
		if err != nil {
			panic(err)
		}
		return o
	}).(*goja.Object)
	js.disguise(guarded, original)
	proto := prototype(original)
	must(guarded.DefineDataProperty("prototype", proto, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE))
	must(proto.DefineDataProperty("constructor", guarded, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	must(js.vm.Set(name, guarded))
	return guarded
}

// guardText bounds the text methods that multiply.
func (js *interpreter) guardText() {
	proto := prototype(js.get("String"))
	js.replace(proto, "repeat", func(c *goja.FunctionCall) {
		js.boundText(int64(textLength(c.This)), c.Argument(0).ToInteger())
	})
	for _, name := range []string{"padStart", "padEnd"} {
		js.replace(proto, name, func(c *goja.FunctionCall) {
			js.boundText(1, c.Argument(0).ToInteger())
		})
	}
}

// boundText refuses a text of count pieces of the given length.
func (js *interpreter) boundText(length, count int64) {
	if length > 0 && count > MaxText/length {
		js.throw("RangeError", "the text would be longer than "+number(MaxText)+" characters")
	}
}

// textLength is the length of a text in UTF-16 units; other values are short.
func textLength(v goja.Value) int {
	if s, ok := v.(goja.String); ok {
		return s.Length()
	}
	return 1
}

// guardArrays bounds the length of arrays that are made by number, and of whatever
// the array methods walk.
func (js *interpreter) guardArrays() {
	proto := prototype(js.get("Array"))
	for _, name := range walkers() {
		check := func(c *goja.FunctionCall) { js.boundLength(c.This) }
		if name == "join" {
			check = func(c *goja.FunctionCall) {
				js.boundText(int64(textLength(c.Argument(0))), js.boundLength(c.This))
			}
		}
		js.replace(proto, name, check)
	}
	original := js.get("Array")
	js.array = original
	guarded := js.wrap("Array", func(args []goja.Value) {
		if len(args) == 1 && goja.IsNumber(args[0]) && args[0].ToFloat() > MaxLength {
			js.throwLength()
		}
	})
	for _, name := range []string{"from", "of", "isArray"} {
		must(guarded.DefineDataProperty(name, original.Get(name), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	}
	js.replace(guarded, "from", func(c *goja.FunctionCall) {
		js.boundLength(c.Argument(0))
		js.unwrapThis(c, guarded)
	})
	js.replace(guarded, "of", func(c *goja.FunctionCall) { js.unwrapThis(c, guarded) })
}

// unwrapThis lets the original constructor build what the guarded one was asked for.
func (js *interpreter) unwrapThis(c *goja.FunctionCall, guarded *goja.Object) {
	if c.This == guarded {
		c.This = js.array
	}
}

// boundLength refuses an array, or an object like one, that is too long to walk.
func (js *interpreter) boundLength(v goja.Value) int64 {
	o, ok := v.(*goja.Object)
	if !ok {
		return 0
	}
	length := o.Get("length")
	if length == nil {
		return 0
	}
	n := length.ToInteger()
	if n > MaxLength {
		js.throwLength()
	}
	return n
}

func (js *interpreter) throwLength() {
	js.throw("RangeError", "the array is longer than "+number(MaxLength)+" elements")
}
