package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAG11_AuditKeepsArrivalOrder(t *testing.T) {
	r := Record{Agent: "claude", Text: "T"}
	r.Finish(&Terminal{Status: Completed}, nil)
	arrivals := NewArrivals(func(a Audit) { r.Permissions = append(r.Permissions, a) })
	request := func(id string) PermissionRequest {
		return PermissionRequest{
			Tool:    ToolCall{ID: id, Title: "Title " + id, Kind: "execute", RawInput: json.RawMessage(`{"secret":"canary"}`)},
			Options: append(options(AllowOnce, "forever"), options(RejectOnce)...),
		}
	}
	one, two, three := arrivals.Arrive(), arrivals.Arrive(), arrivals.Arrive()
	decide := func(settle func(*Audit), id string) {
		a := NewAudit(request(id), Deny(request(id)), false)
		settle(&a)
		settle(&a) // only the first call counts
	}
	decide(three, "t3")
	two(nil) // never decided: no member
	require.Empty(t, r.Permissions, "what arrived first is told first")
	decide(one, "t1")

	member := func(id string) string {
		return `{"toolCallId":"` + id + `","title":"Title ` + id + `","kind":"execute","options":[{"optionId":"allow_once-0","name":"n","kind":"allow_once"},` +
			`{"optionId":"reject_once-0","name":"n","kind":"reject_once"}],"outcome":{"outcome":"selected","optionId":"reject_once-0"}}`
	}
	text := encoded(t, &r)
	require.Equal(t, `{"sequence":0,"agent":"claude","sessionKey":"","status":"completed","text":"T","permissions":[`+
		member("t1")+","+member("t3")+`]}`, text)
	require.NotContains(t, text, "canary")
	again, err := parsed(text)
	require.NoError(t, err)
	require.Equal(t, r.Permissions, again.Permissions)
}

func TestStrictAuditHoldsNoTextOfTheAgent(t *testing.T) {
	request := PermissionRequest{
		Tool:    ToolCall{ID: "t", Title: "canary title", Kind: "execute", RawInput: json.RawMessage(`"canary"`)},
		Options: []PermissionOption{{ID: "n", Name: "canary name", Kind: RejectOnce}},
	}
	r := Record{Status: Completed, Permissions: []Audit{NewAudit(request, Deny(request), true)}}
	text := encoded(t, &r)
	require.Contains(t, text, `"permissions":[{"toolCallId":"t","kind":"execute","options":[{"optionId":"n","kind":"reject_once"}],`+
		`"outcome":{"outcome":"selected","optionId":"n"}}]`)
	require.NotContains(t, text, "canary")
	again, err := parsed(text)
	require.NoError(t, err)
	require.Equal(t, r.Permissions, again.Permissions)
	require.Equal(t, "canary name", request.Options[0].Name, "the request is not changed")
}

func TestArrivalsAreConcurrent(t *testing.T) {
	const requests = 200
	var told []string
	arrivals := NewArrivals(func(a Audit) { told = append(told, a.Tool.ID) })
	var settles [requests]func(*Audit)
	for i := range settles {
		settles[i] = arrivals.Arrive()
	}
	var all sync.WaitGroup
	for i, settle := range settles {
		all.Go(func() { settle(&Audit{Tool: ToolCall{ID: fmt.Sprint(i)}}) })
	}
	all.Wait()
	require.Len(t, told, requests)
	for i, id := range told {
		require.Equal(t, fmt.Sprint(i), id)
	}
	NewArrivals(nil).Arrive()(&Audit{}) // nobody listens
}

func TestShown(t *testing.T) {
	require.Equal(t, "rm -rf[31m é", Shown("rm\n -rf\x1b[31m\u202e \u200bé\u2028"))
	require.Equal(t, strings.Repeat("é", 200), Shown(strings.Repeat("é", 201)))
}
