package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/elicit"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/value"
)

func TestParse(t *testing.T) {
	all, err := parse("\nDecision: revise\nWhat to change: one: two\n\n\nAge: 36")
	require.NoError(t, err)
	require.Equal(t, []answer{{{"Decision", "revise"}, {"What to change", "one: two"}}, {{"Age", "36"}}}, all)
	_, err = parse("Age: 36\nyes")
	require.ErrorContains(t, err, "line 2")
}

// TestPage answers a real question on its page.
func TestPage(t *testing.T) {
	addresses := make(chan string, 1)
	web := elicit.NewWeb(host.NewSite, func(address string) { addresses <- address })
	defer web.Close()
	definition, err := value.Parse([]byte(`{"type":"object","properties":{
		"decision":{"type":"string","title":"Decision","enum":["approve","abort"]},"age":{"type":"integer"}},"required":["decision","age"]}`))
	require.NoError(t, err)
	type outcome struct {
		answer any
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		answer, err := web.Ask(t.Context(), engine.Question{Message: "label\n<b>pre</b>", Schema: definition})
		done <- outcome{answer, err}
	}()
	p, err := open(t.Context(), <-addresses)
	require.NoError(t, err)
	require.Equal(t, "label\n<b>pre</b>", p.message)
	require.ErrorContains(t, p.answer(t.Context(), answer{{"Decision", "approve"}}), "not taken")
	require.ErrorContains(t, p.answer(t.Context(), answer{{"Decision", "revise"}}), "not offered, but approve, abort")
	require.ErrorContains(t, p.answer(t.Context(), answer{{"Mood", "good"}}), `no field "Mood"`)
	require.NoError(t, p.answer(t.Context(), answer{{"Decision", "approve"}, {"age", "36"}}))
	got := <-done
	require.NoError(t, got.err)
	require.Equal(t, value.Of("decision", "approve", "age", 36.0), got.answer)
}
