package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

type askerFunc func(ctx context.Context, r PermissionRequest) (PermissionOutcome, bool)

func (f askerFunc) Ask(ctx context.Context, r PermissionRequest) (PermissionOutcome, bool) {
	return f(ctx, r)
}

type policyFunc func(ctx context.Context, r PermissionRequest) (PermissionOutcome, error)

func (f policyFunc) Decide(ctx context.Context, r PermissionRequest) (PermissionOutcome, error) {
	return f(ctx, r)
}

func options(kinds ...OptionKind) []PermissionOption {
	var list []PermissionOption
	for i, k := range kinds {
		list = append(list, PermissionOption{ID: fmt.Sprintf("%s-%d", k, i), Name: "n", Kind: k})
	}
	return list
}

// TestAG10_EveryModeRegionKindAndOptions states the whole table by hand: rows are the
// mode of the invocation and of the region, columns the kind of the tool.
func TestAG10_EveryModeRegionKindAndOptions(t *testing.T) {
	kinds := []string{"read", "search", "edit", "execute", "", "unheard-of"}
	table := map[Mode]map[Mode]string{ // A approve, ? ask, D deny; one letter a kind
		ApproveAll:   {"": "AAAAAA", ApproveAll: "AAAAAA", ApproveReads: "AA????", AskAlways: "??????", DenyAll: "DDDDDD"},
		ApproveReads: {"": "AA????", ApproveAll: "AA????", ApproveReads: "AA????", AskAlways: "??????", DenyAll: "DDDDDD"},
		AskAlways:    {"": "??????", ApproveAll: "??????", ApproveReads: "??????", AskAlways: "??????", DenyAll: "DDDDDD"},
		DenyAll:      {"": "DDDDDD", ApproveAll: "DDDDDD", ApproveReads: "DDDDDD", AskAlways: "DDDDDD", DenyAll: "DDDDDD"},
		"":           {"": "DDDDDD", ApproveAll: "DDDDDD", ApproveReads: "DDDDDD", AskAlways: "DDDDDD", DenyAll: "DDDDDD"},
		"yes":        {"": "DDDDDD", ApproveAll: "DDDDDD", ApproveReads: "DDDDDD", AskAlways: "DDDDDD", DenyAll: "DDDDDD"},
	}
	sets := []struct {
		options       []PermissionOption
		approve, deny string
	}{
		{options(AllowAlways, RejectAlways, AllowOnce, RejectOnce), "allow_once-2", "reject_once-3"},
		{options(RejectAlways, AllowAlways, AllowAlways), "allow_always-1", "reject_always-0"},
		{options(AllowAlways, AllowOnce), "allow_once-1", ""},
		{options(RejectOnce, RejectAlways), "reject_once-0", "reject_once-0"},
		{options("allow_forever", "reject_softly"), "", ""},
		{nil, "", ""},
	}
	for host, row := range table {
		for region, verdicts := range row {
			for i, kind := range kinds {
				for _, set := range sets {
					for _, person := range []bool{true, false} {
						asked := 0
						var asker Asker
						if person {
							asker = askerFunc(func(_ context.Context, r PermissionRequest) (PermissionOutcome, bool) {
								asked++
								if len(r.Options) == 0 {
									return PermissionOutcome{}, false
								}
								return PermissionOutcome{r.Options[0].ID}, true
							})
						}
						want, wantAsked := set.deny, 0
						switch verdicts[i] {
						case 'A':
							want = set.approve
						case '?':
							if person {
								wantAsked = 1
								if offered := Offered(set.options); len(offered) > 0 {
									want = offered[0].ID
								}
							}
						}
						where := fmt.Sprintf("%q in %q, kind %q, %v, person %v", region, host, kind, set.options, person)
						r := PermissionRequest{Tool: ToolCall{ID: "t", Title: "read", Kind: kind}, Options: set.options}
						got, err := Settle(t.Context(), Region{Mode: host, Policy: region, Asker: asker}.Answers(), r)
						require.NoError(t, err, where)
						require.Equal(t, want, got.OptionID, where)
						require.Equal(t, wantAsked, asked, where)
					}
				}
			}
		}
	}
}

func TestAG10_KindIsRememberedAndNeverTakenFromATitle(t *testing.T) {
	var kinds ToolKinds
	answer := func(call ToolCall) string {
		r := PermissionRequest{Tool: kinds.Complete(call), Options: options(AllowOnce, RejectOnce)}
		outcome, err := Settle(t.Context(), Answers(ApproveReads, "", nil), r)
		require.NoError(t, err)
		return outcome.OptionID
	}
	call := ToolCall{ID: "t1", Title: "read"}
	require.Equal(t, "reject_once-1", answer(call))
	kinds.Report("t2", "read")
	require.Equal(t, "reject_once-1", answer(call), "another call's kind")
	kinds.Report("t1", "read")
	kinds.Report("t1", "")
	require.Equal(t, "allow_once-0", answer(call))
	require.Equal(t, "reject_once-1", answer(ToolCall{ID: "t1", Kind: "execute"}), "its own kind counts")
	kinds.Report("t1", "edit")
	require.Equal(t, "reject_once-1", answer(call), "the last kind counts")
}

func TestToolKindsAreBounded(t *testing.T) {
	var kinds ToolKinds
	for i := range maxToolCalls + 1 {
		kinds.Report(fmt.Sprint(i), "read")
	}
	kinds.Report("0", "edit")
	require.Equal(t, "edit", kinds.Complete(ToolCall{ID: "0"}).Kind)
	require.Equal(t, "", kinds.Complete(ToolCall{ID: fmt.Sprint(maxToolCalls)}).Kind)
}

func TestOfferedLeavesOutWhatCannotBeAnswered(t *testing.T) {
	got := Offered([]PermissionOption{
		{ID: "a", Kind: AllowOnce}, {ID: "b", Kind: "allow"}, {ID: "", Kind: RejectOnce},
		{ID: "a", Kind: RejectOnce}, {ID: "b", Kind: RejectOnce}, {ID: "c", Kind: RejectAlways},
	})
	require.Equal(t, []PermissionOption{{ID: "a", Kind: AllowOnce}, {ID: "c", Kind: RejectAlways}}, got)
}

func TestSettleCancelsEveryFault(t *testing.T) {
	r := PermissionRequest{Options: options(AllowOnce, RejectOnce)}
	ended, end := context.WithCancel(t.Context())
	end()
	boom := errors.New("boom")
	for name, test := range map[string]struct {
		ctx    context.Context
		policy policyFunc
		want   string
	}{
		"error": {t.Context(), func(context.Context, PermissionRequest) (PermissionOutcome, error) {
			return PermissionOutcome{"allow_once-0"}, boom
		}, "boom"},
		"panic": {t.Context(), func(context.Context, PermissionRequest) (PermissionOutcome, error) { panic(boom) }, "panicked"},
		"option": {t.Context(), func(context.Context, PermissionRequest) (PermissionOutcome, error) {
			return PermissionOutcome{"x"}, nil
		}, "not offered"},
		"ended": {ended, func(context.Context, PermissionRequest) (PermissionOutcome, error) {
			return PermissionOutcome{"allow_once-0"}, nil
		}, "canceled"},
	} {
		outcome, err := Settle(test.ctx, test.policy, r)
		require.ErrorContains(t, err, test.want, name)
		require.Equal(t, PermissionOutcome{}, outcome, name)
	}
	ctx, cancel := context.WithCancel(t.Context())
	outcome, err := Settle(ctx, policyFunc(func(context.Context, PermissionRequest) (PermissionOutcome, error) {
		cancel()
		return PermissionOutcome{"allow_once-0"}, nil
	}), r)
	require.ErrorIs(t, err, context.Canceled, "a turn that ended meanwhile allows nothing")
	require.Equal(t, PermissionOutcome{}, outcome)

	outcome, err = Settle(t.Context(), nil, r)
	require.NoError(t, err)
	require.Equal(t, "reject_once-1", outcome.OptionID)
	outcome, err = Settle(t.Context(), policyFunc(func(context.Context, PermissionRequest) (PermissionOutcome, error) {
		return PermissionOutcome{}, nil
	}), r)
	require.NoError(t, err, "cancelled is a decision a policy may make")
	require.Equal(t, PermissionOutcome{}, outcome)
}

func TestAskingEndsWithTheTurn(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	asker := askerFunc(func(ctx context.Context, _ PermissionRequest) (PermissionOutcome, bool) {
		cancel()
		<-ctx.Done()
		return PermissionOutcome{}, false
	})
	outcome, err := Answers(ApproveAll, AskAlways, asker).Decide(ctx, PermissionRequest{Options: options(RejectOnce)})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, PermissionOutcome{}, outcome, "no option is chosen on behalf of a turn that ended")
}

func TestPermissionsAreDecidedConcurrently(t *testing.T) {
	const requests = 64
	var all sync.WaitGroup
	arrived := make(chan struct{}, requests)
	open := make(chan struct{})
	asker := askerFunc(func(_ context.Context, r PermissionRequest) (PermissionOutcome, bool) {
		arrived <- struct{}{}
		<-open
		return PermissionOutcome{r.Options[0].ID}, true
	})
	policy := Answers(ApproveReads, "", asker)
	var kinds ToolKinds
	got := make([]string, requests)
	for i := range requests {
		all.Go(func() {
			id := fmt.Sprint(i)
			kinds.Report(id, "execute")
			r := PermissionRequest{Tool: kinds.Complete(ToolCall{ID: id}), Options: []PermissionOption{{ID: id, Kind: AllowOnce}}}
			outcome, err := Settle(t.Context(), policy, r)
			if err == nil {
				got[i] = outcome.OptionID
			}
		})
	}
	for range requests {
		<-arrived // all of them wait at once
	}
	close(open)
	all.Wait()
	for i := range requests {
		require.Equal(t, fmt.Sprint(i), got[i])
	}
}
