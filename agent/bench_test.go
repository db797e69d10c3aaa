package agent

import (
	"strings"
	"testing"
)

func BenchmarkRecord(b *testing.B) {
	r := Record{Agent: "claude", SessionKey: "k", Text: strings.Repeat("A line of a reply.\n", 1000)}
	for range 20 {
		r.Permissions = append(r.Permissions, Audit{Tool: ToolCall{ID: "t", Title: "Run", Kind: "execute"}, Options: options(AllowOnce, RejectOnce)})
	}
	r.Finish(&Terminal{Status: Completed, StopReason: "end_turn"}, nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseRecord(r.Value()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadConfig(b *testing.B) {
	data := []byte(strings.Replace(wholeConfig, "2 min", "2min", 1))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReadConfig(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSettle(b *testing.B) {
	policy := Answers(ApproveReads, ApproveAll, nil)
	r := PermissionRequest{Tool: ToolCall{ID: "t", Kind: "read"}, Options: options(AllowOnce, AllowAlways, RejectOnce, RejectAlways)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Settle(b.Context(), policy, r); err != nil {
			b.Fatal(err)
		}
	}
}
