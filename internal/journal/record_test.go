package journal

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/value"
)

// golden are records as they stand on disk; each is read and written back byte
// for byte.
var golden = []string{
	`{"type":"yield","coroutineId":"root","description":{"type":"import_component","name":"__root__"},"result":{"status":"ok","value":{"kind":"repository","path":"d.md","content":"# T\n\npassword: see vault\n"}}}`,
	`{"type":"yield","coroutineId":"root","description":{"type":"exec","name":"exec:echo hi ","command":["bash","-c","echo hi\n"],"executablemd.source-position":{"path":"d.md","offset":137,"line":11,"column":1}},"result":{"status":"ok","value":{"exitCode":0,"stdout":"hi\n","stderr":""}}}`,
	`{"type":"yield","coroutineId":"root","description":{"type":"eval","name":"eval:eval:root:1","language":"js"},"result":{"status":"ok","value":{"value":{"answer":42}}}}`,
	`{"type":"yield","coroutineId":"root.0","description":{"type":"elicit","name":"elicit:e.md:5:1","input":"19874fa4e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b","executablemd.expansion":"9fceb02d0ae598e95dc970b74767f19372d61af8e3b0c44298fc1c149afbf4c8","executablemd.binding":"ok"},"result":{"status":"ok","value":null}}`,
	`{"type":"yield","coroutineId":"root.10.3","description":{"type":"fetch","name":"fetch:fbb1ad91e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b","input":{"url":"http://127.0.0.1:58101/x","method":"GET","headers":{},"timeout":5000}},"result":{"status":"ok"}}`,
	`{"type":"yield","coroutineId":"root","description":{"type":"import_component","name":"Missing","executablemd.source-position":{"generatedSource":"sha256-ab","offset":0,"line":1,"column":1},"executablemd.opens":"ab"},"result":{"status":"err","error":{"message":"<no> & \"such\" thing","name":"Unresolved"}}}`,
	`{"type":"close","coroutineId":"root.1","result":{"status":"cancelled"}}`,
	`{"type":"close","coroutineId":"root","result":{"status":"ok","value":{"status":"err","output":"...","error":{"name":"DocumentationError","message":"Command failed (exit 3)","segment":{"message":"Command failed (exit 3)","source":"exit 3\n"}}}}}`,
	`{"type":"close","coroutineId":"root","result":{"status":"err","error":{"message":""}}}`,
}

func TestGoldenRecordsSurviveARoundTrip(t *testing.T) {
	for _, text := range golden {
		e, err := ParseLine([]byte(text))
		require.NoError(t, err, text)
		line, err := AppendLine([]byte("before"), e)
		require.NoError(t, err)
		require.Equal(t, "before"+text+"\n", string(line))
		again, err := ParseLine(line[len("before"):])
		require.NoError(t, err)
		require.Equal(t, e, again)
	}
}

func TestEveryTruncationIsRefused(t *testing.T) {
	for _, text := range golden {
		for end := range len(text) {
			_, err := ParseLine([]byte(text[:end]))
			var malformed *MalformedError
			require.ErrorAs(t, err, &malformed, text[:end])
		}
	}
}

func TestAbsentAndNullValuesDiffer(t *testing.T) {
	null, err := ParseLine([]byte(golden[3]))
	require.NoError(t, err)
	require.Equal(t, Ok(nil), null.Result)
	absent, err := ParseLine([]byte(golden[4]))
	require.NoError(t, err)
	require.Equal(t, Result{Status: StatusOk}, absent.Result)
}

func TestStackIsReadAndNeverWritten(t *testing.T) {
	e, err := ParseLine([]byte(`{"type":"close","coroutineId":"root","result":{"status":"err","error":{"stack":"at /home/x","message":"m"}}}`))
	require.NoError(t, err)
	line, err := AppendLine(nil, e)
	require.NoError(t, err)
	require.NotContains(t, string(line), "stack")
}

func TestMalformedRecords(t *testing.T) {
	yield := func(description, rest string) string {
		return `{"type":"yield","coroutineId":"root","description":` + description + `,` + rest + `}`
	}
	const identity, ok = `{"type":"t","name":"n"}`, `"result":{"status":"ok"}`
	at := func(position string) string {
		return yield(`{"type":"t","name":"n","executablemd.source-position":`+position+`}`, ok)
	}
	const position = "$.description.executablemd.source-position"
	for text, path := range map[string]string{
		``:                                 "$",
		`[]`:                               "$",
		`{} {}`:                            "$",
		`{"type":1}`:                       "$.type",
		`{"type":"x"}`:                     "$.type",
		`{"zebra":1}`:                      "$.*",
		`{"type":"close","type":"close"}`:  "$",
		`{"type":"close","coroutineId":7}`: "$.coroutineId",
		`{"type":"close"}`:                 "$.coroutineId",
		`{"type":"close","coroutineId":"main",` + ok + `}`:                                "$.coroutineId",
		`{"type":"close","coroutineId":"root.",` + ok + `}`:                               "$.coroutineId",
		`{"type":"close","coroutineId":"rootx",` + ok + `}`:                               "$.coroutineId",
		`{"type":"close","coroutineId":"root.01",` + ok + `}`:                             "$.coroutineId",
		`{"type":"close","coroutineId":"root.-1",` + ok + `}`:                             "$.coroutineId",
		`{"type":"close","coroutineId":"root"}`:                                           "$.result.status",
		`{"type":"close","coroutineId":"root","description":` + identity + `,` + ok + `}`: "$.description",
		`{"type":"close","coroutineId":"root" "result":{}}`:                               "$",
		`{"type":"yield","coroutineId":"root",` + ok + `}`:                                "$.description",
		yield(`7`, ok):            "$.description",
		yield(`{"name":"n"}`, ok): "$.description.type",
		yield(`{"type":"t"}`, ok): "$.description.name",
		yield(`{"type":"t","name":"n","executablemd.binding":1}`, ok):                        "$.description.executablemd.binding",
		yield(identity, `"result":1`):                                                        "$.result",
		yield(identity, `"result":{"status":1}`):                                             "$.result.status",
		yield(identity, `"result":{"status":"maybe"}`):                                       "$.result.status",
		yield(identity, `"result":{"status":"ok","zebra":1}`):                                "$.result.*",
		yield(identity, `"result":{"status":"ok","value":1e999}`):                            "$",
		yield(identity, `"result":{"status":"ok","error":{"message":"m"}}`):                  "$.result.error",
		yield(identity, `"result":{"status":"cancelled","value":1}`):                         "$.result.value",
		yield(identity, `"result":{"status":"err"}`):                                         "$.result.error",
		yield(identity, `"result":{"status":"err","error":7}`):                               "$.result.error",
		yield(identity, `"result":{"status":"err","error":{}}`):                              "$.result.error.message",
		yield(identity, `"result":{"status":"err","error":{"message":7}}`):                   "$.result.error.message",
		yield(identity, `"result":{"status":"err","error":{"message":"m","name":7}}`):        "$.result.error.name",
		yield(identity, `"result":{"status":"err","error":{"message":"m","zebra":"zebra"}}`): "$.result.error.*",
		at(`7`):                                                                                      position,
		at(`{"offset":0,"line":1}`):                                                                  position + ".column",
		at(`{"offset":0,"line":0,"column":1}`):                                                       position + ".line",
		at(`{"offset":0.5,"line":1,"column":1}`):                                                     position + ".offset",
		at(`{"offset":-1,"line":1,"column":1}`):                                                      position + ".offset",
		at(`{"offset":1e300,"line":1,"column":1}`):                                                   position + ".offset",
		at(`{"path":"","offset":0,"line":1,"column":1}`):                                             position + ".path",
		at(`{"generatedSource":1,"offset":0,"line":1,"column":1}`):                                   position + ".generatedSource",
		at(`{"zebra":1,"offset":0,"line":1,"column":1}`):                                             position + ".*",
		at(`{"path":"zebra","generatedSource":"b","offset":0,"line":1,"column":1}`):                  position,
		`{"type":"close","coroutineId":"root` + strings.Repeat(".0", MaxNesting+1) + `",` + ok + `}`: "$.coroutineId",
	} {
		_, err := ParseLine([]byte(text))
		var malformed *MalformedError
		require.ErrorAs(t, err, &malformed, text)
		require.Equal(t, path, malformed.Path, text)
		require.NotContains(t, err.Error(), "zebra", "an error repeats the record")
	}
}

func TestPositionOfAnEvent(t *testing.T) {
	e, err := ParseLine([]byte(golden[1]))
	require.NoError(t, err)
	p, ok, err := e.Position()
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, document.Position{Source: "d.md", Offset: 137, Line: 11, Column: 1}, p)

	e, err = ParseLine([]byte(golden[7]))
	require.NoError(t, err)
	_, ok, err = e.Position()
	require.NoError(t, err)
	require.False(t, ok)
}

func TestDescriptionMembersStandInOrder(t *testing.T) {
	o, err := Description{
		Type: "t", Name: "n", Expansion: "e", Opens: "o", Binding: "b",
		Position: document.Position{Generated: "g", Offset: 3, Line: 2, Column: 4},
		Members:  []Member{{"input", 1.0}, {"gone", value.Undefined{}}, {"list", []any{value.Undefined{}}}},
	}.object()
	require.NoError(t, err)
	text, err := value.JSON(o)
	require.NoError(t, err)
	require.Equal(t, `{"type":"t","name":"n","input":1,"list":[null],`+
		`"executablemd.source-position":{"generatedSource":"g","offset":3,"line":2,"column":4},`+
		`"executablemd.expansion":"e","executablemd.opens":"o","executablemd.binding":"b"}`, text)

	_, err = Description{Type: "t", Name: "n", Members: []Member{{"name", "other"}}}.object()
	require.ErrorContains(t, err, "two members")
}

func TestStoredIsWhatTheRecordGivesBack(t *testing.T) {
	in := value.Of("a", "\xffx\xc3", "b", math.Copysign(0, -1), "c", value.Undefined{},
		"d", []any{value.Undefined{}, true, nil}, "\xfe", "key")
	out, err := stored(in, 0)
	require.NoError(t, err)
	text, err := value.JSON(in)
	require.NoError(t, err)
	parsed, err := value.Parse([]byte(text))
	require.NoError(t, err)
	require.Equal(t, parsed, out)
	b, _ := out.(*value.Object).Get("b")
	require.False(t, math.Signbit(b.(float64)))

	for _, bad := range []any{math.NaN(), math.Inf(-1), value.Undefined{}, 7, []any{struct{}{}}, value.Of("x", math.NaN()), value.Of("\xfe", 1.0, "\xff", 2.0)} {
		_, err := stored(bad, 0)
		require.Error(t, err)
	}
	cycle := value.NewObject(1)
	cycle.Set("self", cycle)
	_, err = stored(cycle, 0)
	require.ErrorIs(t, err, value.ErrDepth)
}

// What is deep enough to be written is shallow enough to be read.
func TestDepthIsTheSameOnBothSides(t *testing.T) {
	nest := func(depth int) any {
		var v any = "x"
		for range depth {
			v = []any{v}
		}
		return v
	}
	for depth := value.MaxDepth - 5; depth < value.MaxDepth+5; depth++ {
		e := sampleEvent()
		e.Result = Ok(nest(depth))
		line, err := AppendLine(nil, e)
		_, storedErr := stored(nest(depth), 2)
		require.Equal(t, err == nil, storedErr == nil, "depth %d", depth)
		if err == nil {
			_, err = ParseLine(line)
			require.NoError(t, err, "depth %d", depth)
		}
	}
}

func TestRecordSizeIsBounded(t *testing.T) {
	e := sampleEvent()
	e.Result = Ok(strings.Repeat("x", MaxRecord))
	before := []byte("before")
	line, err := AppendLine(before, e)
	require.ErrorIs(t, err, ErrRecordSize)
	require.Equal(t, "before", string(line))
	_, err = ParseLine(make([]byte, MaxRecord+1))
	var malformed *MalformedError
	require.ErrorAs(t, err, &malformed)
}

func TestAnUnprotocolEventIsNotWritten(t *testing.T) {
	for _, e := range []Event{
		{},
		{Type: TypeYield, CoroutineID: "root", Result: Ok(1.0)},
		{Type: TypeClose, CoroutineID: "root", Result: Ok(value.Undefined{})},
		{Type: TypeClose, CoroutineID: "root", Result: Ok(math.NaN())},
		{Type: TypeClose, CoroutineID: `root"`, Result: Ok(1.0)},
		{Type: TypeClose, CoroutineID: "root", Result: Result{Status: "err"}},
	} {
		line, err := AppendLine(nil, e)
		require.Error(t, err)
		require.Empty(t, line)
	}
}

// FuzzParseLine holds ParseLine to three promises: it never panics, what it
// accepts survives a round trip, and what it wrote is refused when any of its end
// is missing.
func FuzzParseLine(f *testing.F) {
	for _, text := range golden {
		f.Add([]byte(text))
	}
	f.Add([]byte(`{"type":"close","coroutineId":"root","result":{"status":"ok","value":{"\ud83d\ude00":[1e-7,-0,1e21]}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := ParseLine(data)
		if err != nil {
			var malformed *MalformedError
			require.ErrorAs(t, err, &malformed)
			return
		}
		line, err := AppendLine(nil, e)
		require.NoError(t, err)
		require.True(t, json.Valid(line))
		again, err := ParseLine(line)
		require.NoError(t, err)
		require.Equal(t, e, again)
		text := line[:len(line)-1]
		for _, cut := range []int{1, 2, len(text) / 2, len(text) - 1} {
			_, err := ParseLine(text[:len(text)-cut])
			require.Error(t, err)
		}
	})
}
