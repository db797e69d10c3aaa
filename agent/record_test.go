package agent

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/value"
)

func encoded(t testing.TB, r *Record) string {
	t.Helper()
	text, err := value.JSON(r.Value())
	require.NoError(t, err)
	return text
}

func parsed(text string) (*Record, error) {
	v, err := value.Parse([]byte(text))
	if err != nil {
		return nil, err
	}
	return ParseRecord(v)
}

func TestAG7_RecordIsExactJSON(t *testing.T) {
	timeout := &Error{Code: ErrPromptTimeout, Message: "agent prompt timed out after 30s", Err: context.DeadlineExceeded}
	crash := &Error{Code: ErrPeerGone, Err: errors.New("exit status 3")}
	for name, test := range map[string]struct {
		record Record
		end    *Terminal
		err    error
		want   string
	}{
		"completed": {
			record: Record{Agent: "claude", SessionKey: "k", AgentSessionID: "s1", Text: "Fine.\n"},
			end:    &Terminal{Status: Completed, StopReason: "end_turn"},
			want: `{"sequence":0,"agent":"claude","sessionKey":"k","agentSessionId":"s1","status":"completed",` +
				`"stopReason":"end_turn","text":"Fine.\n"}`,
		},
		"raised is nothing on a completed record": {
			record: Record{Agent: "a", Raised: true},
			end:    &Terminal{Status: Completed},
			want:   `{"sequence":0,"agent":"a","sessionKey":"","status":"completed","text":""}`,
		},
		"max_tokens": {
			record: Record{Sequence: 3, Agent: "claude", SessionKey: "k", Text: "Par"},
			end:    &Terminal{Status: Failed, StopReason: "max_tokens"},
			want: `{"sequence":3,"agent":"claude","sessionKey":"k","status":"failed","stopReason":"max_tokens","text":"Par",` +
				`"error":{"message":"agent prompt failed with stop reason \"max_tokens\""}}`,
		},
		"cancelled": {
			record: Record{Agent: "claude", Raised: true},
			end:    &Terminal{Status: Cancelled},
			want: `{"sequence":0,"agent":"claude","sessionKey":"","status":"cancelled","text":"",` +
				`"error":{"message":"agent prompt cancelled"},"raised":true}`,
		},
		"timeout": {
			record: Record{Agent: "claude", SessionKey: "k"},
			end:    &Terminal{Status: Failed, Err: timeout},
			want: `{"sequence":0,"agent":"claude","sessionKey":"k","status":"failed","text":"",` +
				`"error":{"message":"agent prompt timed out after 30s","name":"AgentPromptTimeout","cause":"context deadline exceeded"}}`,
		},
		"crash before the turn started": {
			record: Record{Agent: "claude"},
			err:    crash,
			want: `{"sequence":0,"agent":"claude","sessionKey":"","status":"failed","text":"",` +
				`"error":{"message":"the agent ended before it answered; run again, and look at the agent's own log if it ends again","cause":"exit status 3"}}`,
		},
		"no terminal": {
			record: Record{Agent: "claude"},
			want: `{"sequence":0,"agent":"claude","sessionKey":"","status":"failed","text":"",` +
				`"error":{"message":"agent prompt stream closed without a terminal event"}}`,
		},
		"a status nobody knows is a failure": {
			record: Record{Agent: "claude"},
			end:    &Terminal{Status: "done"},
			want:   `{"sequence":0,"agent":"claude","sessionKey":"","status":"failed","text":"","error":{"message":"agent prompt failed"}}`,
		},
		"an error without a text": {
			record: Record{Agent: "claude"},
			end:    &Terminal{Status: Failed, Err: errors.New("")},
			want:   `{"sequence":0,"agent":"claude","sessionKey":"","status":"failed","text":"","error":{"message":"agent prompt failed"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := test.record
			r.Finish(test.end, test.err)
			require.Equal(t, test.want, encoded(t, &r))
			again, err := parsed(test.want)
			require.NoError(t, err)
			require.Equal(t, test.want, encoded(t, again))
		})
	}
}

func TestLongFailureIsCutAtACharacter(t *testing.T) {
	r := Record{}
	r.Finish(nil, errors.New("x"+strings.Repeat("é", maxMessage)+"\xff"))
	require.Equal(t, "x"+strings.Repeat("é", maxMessage/2-1), r.Failure.Message)
	r.Finish(nil, errors.New("a\xff\xfeb"))
	require.Equal(t, "a\ufffdb", r.Failure.Message)
}

const wholeRecord = `{"sequence":1,"agent":"a","sessionKey":"k","agentSessionId":"s","status":"failed","stopReason":"refusal",` +
	`"text":"T","error":{"message":"m","name":"n","cause":"c"},"permissions":[` +
	`{"toolCallId":"t1","title":"Run","kind":"execute","options":[{"optionId":"y","name":"Yes","kind":"allow_once"},` +
	`{"optionId":"n","name":"","kind":"reject_once"}],"outcome":{"outcome":"selected","optionId":"n"}},` +
	`{"toolCallId":"t2","options":[],"outcome":{"outcome":"cancelled"}},` +
	`{"toolCallId":"t3","kind":"read","options":[{"optionId":"y","kind":"allow_always"}],"outcome":{"outcome":"cancelled"}}],"raised":true}`

func TestAG7_MalformedRecordsAreRefused(t *testing.T) {
	r, err := parsed(wholeRecord)
	require.NoError(t, err)
	require.Equal(t, wholeRecord, encoded(t, r))
	require.False(t, r.Permissions[0].Sparse)
	require.True(t, r.Permissions[2].Sparse)

	for _, test := range []struct{ old, new, path string }{
		{`"sequence":1,`, ``, "$.sequence"},
		{`"sequence":1`, `"sequence":-1`, "$.sequence"},
		{`"sequence":1`, `"sequence":0.5`, "$.sequence"},
		{`"sequence":1`, `"sequence":"1"`, "$.sequence"},
		{`"sequence":1`, `"sequence":9007199254740992`, "$.sequence"},
		{`"agent":"a",`, ``, "$.agent"},
		{`"agent":"a"`, `"agent":null`, "$.agent"},
		{`"sessionKey":"k",`, ``, "$.sessionKey"},
		{`"agentSessionId":"s"`, `"agentSessionId":""`, "$.agentSessionId"},
		{`"agentSessionId":"s"`, `"agentSessionId":7`, "$.agentSessionId"},
		{`"status":"failed"`, `"status":"done"`, "$.status"},
		{`"status":"failed",`, ``, "$.status"},
		{`"status":"failed"`, `"status":"completed"`, "$.error"},
		{`"stopReason":"refusal"`, `"stopReason":null`, "$.stopReason"},
		{`"stopReason":"refusal"`, `"stopReason":""`, "$.stopReason"},
		{`"text":"T",`, ``, "$.text"},
		{`"text":"T"`, `"text":["T"]`, "$.text"},
		{`"error":{"message":"m","name":"n","cause":"c"},`, ``, "$.error"},
		{`{"message":"m","name":"n","cause":"c"}`, `"m"`, "$.error"},
		{`"message":"m",`, ``, "$.error.message"},
		{`"message":"m"`, `"message":""`, "$.error.message"},
		{`"name":"n"`, `"name":1`, "$.error.name"},
		{`"cause":"c"`, `"cause":{}`, "$.error.cause"},
		{`"cause":"c"`, `"stack":"c"`, "$.error"},
		{`"raised":true`, `"raised":false`, "$.raised"},
		{`"raised":true`, `"raised":"true"`, "$.raised"},
		{`"raised":true`, `"configuration":{}`, "$"},
		{`"raised":true`, `"rawInput":{}`, "$"},
		{`"permissions":[`, `"permissions":[7,`, "$.permissions[0]"},
		{`{"toolCallId":"t2"`, `{"rawInput":{},"toolCallId":"t2"`, "$.permissions[1]"},
		{`{"toolCallId":"t2",`, `{`, "$.permissions[1].toolCallId"},
		{`"title":"Run"`, `"title":""`, "$.permissions[0].title"},
		{`"kind":"execute"`, `"kind":null`, "$.permissions[0].kind"},
		{`"options":[],`, ``, "$.permissions[1].options"},
		{`"options":[],`, `"options":{},`, "$.permissions[1].options"},
		{`"kind":"allow_once"`, `"kind":"allow_twice"`, "$.permissions[0].options[0].kind"},
		{`"optionId":"y","name":"Yes"`, `"name":"Yes"`, "$.permissions[0].options[0].optionId"},
		{`"optionId":"y","name":"Yes"`, `"optionId":"n","name":"Yes"`, "$.permissions[0].options[1].optionId"},
		{`"name":"Yes",`, ``, "$.permissions[0].options[1].name"},
		{`"name":"",`, ``, "$.permissions[0].options[1].name"},
		{`{"toolCallId":"t3"`, `{"toolCallId":"t3","title":"Read"`, "$.permissions[2].title"},
		{`"outcome":"selected","optionId":"n"`, `"outcome":"selected","optionId":"z"`, "$.permissions[0].outcome.optionId"},
		{`"outcome":"selected","optionId":"n"`, `"outcome":"selected"`, "$.permissions[0].outcome.optionId"},
		{`"outcome":"selected","optionId":"n"`, `"outcome":"cancelled","optionId":"n"`, "$.permissions[0].outcome"},
		{`"outcome":"selected","optionId":"n"`, `"outcome":"timed_out"`, "$.permissions[0].outcome"},
		{`"outcome":"selected","optionId":"n"`, `"outcome":"selected","optionId":"n","by":"me"`, "$.permissions[0].outcome"},
	} {
		damaged := strings.Replace(wholeRecord, test.old, test.new, 1)
		require.NotEqual(t, wholeRecord, damaged, test.old)
		_, err := parsed(damaged)
		var refused *RecordError
		require.ErrorAs(t, err, &refused, test.new)
		require.Equal(t, test.path, refused.Path, "%s: %v", test.new, err)
	}
	for _, v := range []any{nil, "", []any{}, (*value.Object)(nil), value.Undefined{}, &value.Object{}} {
		_, err := ParseRecord(v)
		require.Error(t, err)
	}
	_, err = parsed(`{"sequence":0,"agent":"a","sessionKey":"","status":"completed","text":"","permissions":[]}`)
	require.ErrorContains(t, err, "$.permissions")
	r, err = parsed(`{"sequence":0,"agent":"a","sessionKey":"","status":"completed","text":"","raised":true}`)
	require.NoError(t, err)
	require.False(t, r.Raised)
}

func TestRecordErrorRepeatsNothing(t *testing.T) {
	_, err := parsed(strings.Replace(wholeRecord, `"raised"`, `"canary"`, 1))
	require.Error(t, err)
	require.NotContains(t, err.Error(), "canary")
}

func TestFailedPromptsJoinInSequence(t *testing.T) {
	live := &Error{Code: ErrPeerGone, Message: "gone"}
	var failed []*PromptError
	for _, sequence := range []int{4, 0, 2} {
		r := Record{Sequence: sequence, Agent: "claude", Text: "canary"}
		r.Finish(nil, live)
		failed = append(failed, r.PromptError([]string{"a.md:1:1", "", "b.md:2:1", "", ""}[sequence], live))
	}
	err := JoinPrompts(failed)
	require.EqualError(t, err, `3 agent prompt(s) failed: a.md:1:1: agent "claude": gone; b.md:2:1: agent "claude": gone; agent "claude": gone`)
	require.ErrorIs(t, err, ErrPeerGone)
	require.Equal(t, 4, failed[0].Sequence, "the list of the caller is left alone")
	var first *PromptError
	require.ErrorAs(t, err, &first)
	require.Equal(t, 0, first.Sequence)
	require.NoError(t, JoinPrompts(nil))
	require.Nil(t, (&Record{Status: Completed}).PromptError("", nil))

	r := Record{Agent: "claude"}
	r.Finish(nil, live)
	again, parseErr := parsed(encoded(t, &r))
	require.NoError(t, parseErr)
	require.Equal(t, r.PromptError("p", live).Error(), again.PromptError("p", nil).Error(), "a replay reads as the live failure did")
}

func FuzzParseRecord(f *testing.F) {
	f.Add(wholeRecord)
	f.Add(`{"sequence":0,"agent":"a","sessionKey":"","status":"completed","text":"","raised":true}`)
	f.Add(`{"permissions":[{"options":[{}],"outcome":{}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := value.Parse([]byte(text))
		if err != nil {
			return
		}
		r, err := ParseRecord(v)
		if err != nil {
			require.ErrorAs(t, err, new(*RecordError))
			return
		}
		written := r.Value()
		if r.Status != Completed { // raised is ignored on a completed record
			require.True(t, value.Equal(v, written), text)
		}
		again, err := ParseRecord(written)
		require.NoError(t, err)
		require.Equal(t, r, again)
	})
}
