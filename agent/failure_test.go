package agent

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEveryCodeHasASentenceAndAnExit(t *testing.T) {
	exits := map[Code]int{
		ErrNoProvider: 1, ErrUnknownProvider: 1, ErrNoDefaultAgent: 1, ErrUnavailable: 1, ErrAuthRequired: 1,
		ErrSessionForeign: 1, ErrSessionMismatch: 1, ErrSessionBusy: 1,
		ErrSessionNotResumable: 3, ErrSessionUnresumable: 3, ErrSessionMissing: 3, ErrSessionConflict: 3,
		ErrSessionIncompatible: 3, ErrSessionAmbiguous: 3, ErrSessionDamaged: 4,
		ErrCeiling: 3, ErrCeilingInterference: 3,
		ErrToolPermissionRefused: 1, ErrToolActivity: 1, ErrCapabilityUsed: 1, ErrModeChanged: 1,
		ErrPromptTimeout: 1, ErrPeerGone: 1, ErrProtocol: 1, ErrStopReason: 1, ErrProcessLeak: 1, ErrTeardown: 1,
	}
	require.Len(t, exits, 27)
	for code, exit := range exits {
		require.Equal(t, exit, code.Exit(), code)
		require.NotContains(t, code.Error(), "agent failure", code)
	}
	require.Equal(t, "agent failure new", Code("new").Error())
}

func TestErrorAnswersForItsCodeAndItsCause(t *testing.T) {
	err := fmt.Errorf("a.md:1:1: %w", &Error{Code: ErrPromptTimeout, Agent: "claude", Err: context.DeadlineExceeded})
	require.ErrorIs(t, err, ErrPromptTimeout)
	require.NotErrorIs(t, err, ErrPeerGone)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	var e *Error
	require.True(t, errors.As(err, &e))
	require.Equal(t, "claude", e.Agent)
}

func TestMessages(t *testing.T) {
	for want, err := range map[string]error{
		`agent "x" is unavailable [timeout]: it said nothing for 30s`:                        Unavailable("x", ReasonTimeout, "it said nothing for 30s", nil),
		`agent "x" is unavailable [exited]: check its installation, or choose another agent`: Unavailable("x", ReasonExited, "", nil),
		`Unknown agent provider "x"`:                       UnknownProvider("x"),
		`unknown or stale agent session "k"`:               Foreign("k"),
		`agent "b" does not match session "k" (agent "a")`: Mismatched("b", "k", "a"),
		ErrNoDefaultAgent.Error():                          &Error{Code: ErrNoDefaultAgent},
		"the agent left the room":                          &Error{Code: ErrPeerGone, Message: "the agent left the room"},
	} {
		require.EqualError(t, err, want)
	}
	require.Equal(t, "the agent asked for permission to use a native tool, which this host grants to no agent; "+
		"the request was denied and the turn it belongs to failed", (&Error{Code: ErrToolPermissionRefused}).Error())
	for code, name := range map[Code]string{ErrPromptTimeout: "AgentPromptTimeout", ErrToolPermissionRefused: "AgentToolPermissionRefused",
		ErrToolActivity: "AgentToolActivityObserved", ErrPeerGone: ""} {
		require.Equal(t, name, (&Error{Code: code}).Name())
	}
}

type stubProvider struct{ Provider }

func TestRegion(t *testing.T) {
	_, err := Region{}.Installed()
	require.ErrorIs(t, err, ErrNoProvider)
	outer := Region{
		Provider: stubProvider{}, DefaultAgent: "a", PinnedAgent: "b", PinnedSession: &Session{Key: "k"}, Timeout: time.Second,
		Mode: ApproveReads, Policy: AskAlways, FailPrompts: true,
	}
	p, err := outer.Installed()
	require.NoError(t, err)
	require.Equal(t, stubProvider{}, p)
	before := outer
	other := &stubProvider{}
	inner := outer.Provided(other, "c", 0)
	require.Equal(t, Region{Provider: other, DefaultAgent: "c", Mode: ApproveReads, Policy: AskAlways, FailPrompts: true}, inner,
		"pins are cleared; permissions and the rule for failed prompts stay")
	require.Equal(t, before, outer)
	outcome, err := Region{}.Answers().Decide(t.Context(), PermissionRequest{Options: options(AllowOnce, RejectOnce)})
	require.NoError(t, err)
	require.Equal(t, "reject_once-1", outcome.OptionID)
}
