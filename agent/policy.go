package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// A Mode says what becomes of permission requests. An invocation has one, and an
// element may state one for its content.
type Mode string

const (
	ApproveAll   Mode = "approve-all"
	ApproveReads Mode = "approve-reads" // read and search are approved, the rest is asked
	AskAlways    Mode = "ask"
	DenyAll      Mode = "deny-all"
)

// A Verdict is what a mode makes of one request; a lower one allows less.
type Verdict int

const (
	VerdictDeny Verdict = iota
	VerdictAsk
	VerdictApprove
)

// Verdict judges a request by the kind of its tool, which may be empty or unknown. A
// mode that is none of the four denies.
func (m Mode) Verdict(toolKind string) Verdict {
	switch m {
	case ApproveAll:
		return VerdictApprove
	case ApproveReads:
		if toolKind == "read" || toolKind == "search" {
			return VerdictApprove
		}
		return VerdictAsk
	case AskAlways:
		return VerdictAsk
	}
	return VerdictDeny
}

// An Asker puts a permission request to a person. It reports false when the person
// chose no option. It may be called concurrently and returns soon after the end of
// ctx.
type Asker interface {
	Ask(ctx context.Context, r PermissionRequest) (PermissionOutcome, bool)
}

// Answers returns the policy of an invocation's mode and of the innermost mode the
// document states, which is empty when it states none: the lower verdict of the two
// counts, so a document narrows and never widens (agents 7.1). With no asker, what
// would be asked is denied, without a wait.
func Answers(host, authored Mode, asker Asker) Policy { return answers{host, authored, asker} }

type answers struct {
	host, authored Mode
	asker          Asker
}

// Decide never fails but for the end of ctx.
func (a answers) Decide(ctx context.Context, r PermissionRequest) (PermissionOutcome, error) {
	verdict := a.host.Verdict(r.Tool.Kind)
	if a.authored != "" {
		verdict = min(verdict, a.authored.Verdict(r.Tool.Kind))
	}
	switch verdict {
	case VerdictApprove:
		if outcome, ok := Approve(r); ok {
			return outcome, nil
		}
	case VerdictAsk:
		if a.asker == nil {
			break
		}
		outcome, ok := a.asker.Ask(ctx, r)
		if err := ctx.Err(); err != nil {
			return PermissionOutcome{}, err
		}
		if ok {
			return outcome, nil
		}
	}
	return Deny(r), nil
}

// Deny is the answer that allows nothing: the first option that rejects once, else
// the first that rejects always, else cancelled.
func Deny(r PermissionRequest) PermissionOutcome {
	outcome, _ := first(r, RejectOnce, RejectAlways)
	return outcome
}

// Approve is the smallest answer that allows: the first option that allows once, else
// the first that allows always. It reports false when neither is offered.
func Approve(r PermissionRequest) (PermissionOutcome, bool) { return first(r, AllowOnce, AllowAlways) }

func first(r PermissionRequest, kinds ...OptionKind) (PermissionOutcome, bool) {
	for _, kind := range kinds {
		for _, o := range r.Options {
			if o.Kind == kind {
				return PermissionOutcome{o.ID}, true
			}
		}
	}
	return PermissionOutcome{}, false
}

// Offered returns the options a policy may choose from: those of the four kinds that
// have an id, each id once. Anything else a peer sends could not be answered without
// doubt about what the answer means.
func Offered(options []PermissionOption) []PermissionOption {
	offered := make([]PermissionOption, 0, len(options))
	seen := make(map[string]bool, len(options))
	for _, o := range options {
		if known(o.Kind) && o.ID != "" && !seen[o.ID] {
			offered = append(offered, o)
		}
		seen[o.ID] = true
	}
	return offered
}

func known(k OptionKind) bool {
	return k == AllowOnce || k == AllowAlways || k == RejectOnce || k == RejectAlways
}

// Settle puts a request to a policy and returns an answer whatever happens: with no
// policy the request is denied; when the policy fails, panics, or chooses what was
// not offered, and when ctx has ended, the answer is cancelled and the error says
// why. A request with an error was not decided and belongs in no audit (agents 5.3).
// Options are given to the policy as [Offered] leaves them.
func Settle(ctx context.Context, p Policy, r PermissionRequest) (outcome PermissionOutcome, err error) {
	defer func() {
		if v := recover(); v != nil {
			outcome, err = PermissionOutcome{}, fmt.Errorf("the permission policy panicked: %v", v)
		}
	}()
	r.Options = Offered(r.Options)
	if err := ctx.Err(); err != nil {
		return PermissionOutcome{}, err
	}
	if p == nil {
		return Deny(r), nil
	}
	outcome, err = p.Decide(ctx, r)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil && outcome.OptionID != "" &&
		!slices.ContainsFunc(r.Options, func(o PermissionOption) bool { return o.ID == outcome.OptionID }) {
		err = errors.New("the permission policy chose an option that was not offered")
	}
	if err != nil {
		return PermissionOutcome{}, err
	}
	return outcome, nil
}
