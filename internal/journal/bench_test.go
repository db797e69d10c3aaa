package journal

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/value"
)

type nowhere struct{ io.Writer }

func (nowhere) Sync() error { return nil }

func benchmarkAppend(b *testing.B, s Stream, gate *Gate) {
	j, err := Open(context.Background(), s, Options{Gate: gate})
	if err != nil {
		b.Fatal(err)
	}
	root := j.Root()
	d := sampleDescription()
	live := func(context.Context) (any, error) { return sampleValue(), nil }
	b.ReportAllocs()
	for b.Loop() {
		if _, err := root.Perform(context.Background(), d, live); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendMemory(b *testing.B) { benchmarkAppend(b, NewMemory(), nil) }
func BenchmarkAppendLines(b *testing.B)  { benchmarkAppend(b, NewLines(nowhere{io.Discard}), nil) }
func BenchmarkAppendGated(b *testing.B) {
	benchmarkAppend(b, NewLines(nowhere{io.Discard}), NewGate("correct-horse-battery"))
}

// BenchmarkReplay replays a history that is already parsed; BenchmarkParseLines
// is the other half of a continuation.
func BenchmarkReplay(b *testing.B) {
	const effects = 10_000
	events := make([]Event, effects)
	for i := range events {
		events[i] = sampleEvent()
	}
	d := sampleDescription()
	b.ReportAllocs()
	for b.Loop() {
		j, err := Open(context.Background(), NewMemory(events...), Options{})
		if err != nil {
			b.Fatal(err)
		}
		for range effects {
			if _, err := j.Root().Perform(context.Background(), d, nil); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.N)*effects/b.Elapsed().Seconds(), "events/s")
}

func BenchmarkParseLines(b *testing.B) {
	const effects = 1000
	line, err := AppendLine(nil, sampleEvent())
	if err != nil {
		b.Fatal(err)
	}
	data := bytes.Repeat(line, effects)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := ParseLines(data); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*effects/b.Elapsed().Seconds(), "events/s")
}

func BenchmarkGate(b *testing.B) {
	prose := "The password is kept in the vault; see `authorization: Bearer $TOKEN` and https://example.com/a?b=c. "
	shapes := map[string]string{
		"prose":    prose,
		"log":      "2026-01-02T03:04:05Z info request id=9fceb02d0ae598e95dc970b74767f19372d61af8 status=200 path=/api/keys\n",
		"json":     `{"name":"x","sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}` + "\n",
		"password": `password="password="`,
		"bearer":   "bearer bearer ",
		"jwt":      "eyJ.eyJ",
		"url":      "a://",
		"sk":       "sk-sk_",
		"pem":      "-----BEGIN ",
		"slash":    `\\\\\\\\`,
	}
	for _, size := range []int{2 << 10, 4 << 20} {
		for name, unit := range shapes {
			e := sampleEvent()
			e.Result = Ok(value.Of("stdout", strings.Repeat(unit, size/len(unit))))
			record, err := AppendLine(nil, e)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("%s/%dK", name, size>>10), func(b *testing.B) {
				g := NewGate("correct-horse-battery")
				if err := g.Check(record); err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(record)))
				for b.Loop() {
					_ = g.Check(record)
				}
			})
		}
	}
}

func sampleDescription() Description {
	return Description{
		Type: "exec", Name: "exec:echo hi ",
		Position: document.Position{Source: "d.md", Offset: 137, Line: 11, Column: 1},
		Members:  []Member{{"command", []any{"bash", "-c", "echo hi\n"}}},
	}
}

func sampleValue() any {
	return value.Of("exitCode", 0.0, "stdout", "hi\n", "stderr", "")
}

func sampleEvent() Event {
	d, err := sampleDescription().object()
	if err != nil {
		panic(err)
	}
	return Event{Type: TypeYield, CoroutineID: "root", Description: d, Result: Ok(sampleValue())}
}
