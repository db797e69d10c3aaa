package audit

import "testing"

func BenchmarkJournal(b *testing.B) {
	data := honest(b).lines()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := InspectJournal(b.Context(), "h", data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkHTML(b *testing.B) {
	h := honest(b)
	j := h.inspect()
	for b.Loop() {
		if _, err := HTML(j); err != nil {
			b.Fatal(err)
		}
	}
}
