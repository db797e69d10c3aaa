//go:build unix

package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/workflow"
)

// TestMain also is the processes that are killed: their part is named in the environment.
func TestMain(m *testing.M) {
	part, dir := os.Getenv("XMD_TEST_PART"), os.Getenv("XMD_TEST_RUNS")
	if part == "" {
		os.Exit(m.Run())
	}
	s := store{dir}
	ctx := context.Background()
	var err error
	switch part {
	case "append":
		err = appendForEver(ctx, s)
	case "create":
		err = createAndHold(ctx, s, os.Getenv("XMD_TEST_RUN"))
	case "leave":
		err = leaveAChild(ctx, s)
	case "limited":
		err = appendUntilFull(ctx, s)
	case "journey":
		left, _ := strconv.Atoi(os.Getenv("XMD_TEST_PLACES"))
		fault = func(transaction, place string) {
			if left--; left < 0 {
				fmt.Println(transaction, place)
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		}
		if err = journey(ctx, s); err == nil {
			_, err = s.Delete(ctx, "r")
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child starts this program as one of the processes above.
func child(t *testing.T, s store, part string, env ...string) (cmd *exec.Cmd, in io.WriteCloser, out *bufio.Scanner) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd = exec.Command(self)
	cmd.Env = append(os.Environ(), append(env, "XMD_TEST_PART="+part, "XMD_TEST_RUNS="+s.dir)...)
	cmd.Stderr = os.Stderr
	in, err = cmd.StdinPipe()
	require.NoError(t, err)
	pipe, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // where the test failed
	return cmd, in, bufio.NewScanner(pipe)
}

// appendForEver makes one effect after the other and says which were acknowledged.
func appendForEver(ctx context.Context, s store) error {
	x, err := s.Acquire(ctx, "r")
	if err == nil {
		err = x.Begin(ctx, false)
	}
	for n := 0; err == nil; n++ {
		if err = writeFile(ctx, x, fmt.Sprint("f", n%7), strconv.Itoa(n), n); err == nil {
			fmt.Println(n)
		}
	}
	return err
}

// TestF2_KilledAtAnyTime: what was acknowledged is there, nothing twice, nothing between,
// and the root of every event is whole; the lock is free at once.
func TestF2_KilledAtAnyTime(t *testing.T) {
	rounds := 50
	if testing.Short() {
		rounds = 8
	}
	s, _ := made(t, 0)
	for round := range rounds {
		cmd, _, lines := child(t, s, "append")
		acknowledged := -1
		var err error
		for acknowledged < round*3%17 && lines.Scan() {
			acknowledged, err = strconv.Atoi(lines.Text())
			require.NoError(t, err)
		}
		_, err = s.Acquire(t.Context(), "r")
		requireCondition(t, workflow.Live, err)
		require.NoError(t, cmd.Process.Kill())
		for lines.Scan() {
			acknowledged, err = strconv.Atoi(lines.Text())
			require.NoError(t, err)
		}
		_ = cmd.Wait() // it was killed

		snap, err := s.Inspect(t.Context(), "r", true)
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(snap.Events), acknowledged+1)
		require.LessOrEqual(t, len(snap.Events), acknowledged+2, "at most one that was not acknowledged yet")
		for n, e := range snap.Events {
			require.Equal(t, event(n), e.Event)
		}
		require.Equal(t, snap.Events[len(snap.Events)-1].Root, snap.Root)
		_, err = s.Delete(t.Context(), "r")
		require.NoError(t, err)
		x, err := s.Create(t.Context(), identity("r"), sources)
		require.NoError(t, err)
		require.NoError(t, x.Settle(t.Context(), workflow.Interrupted, workflow.Reason{Code: workflow.ExecutorInterrupted}))
		require.NoError(t, x.Release())
	}
}

// The journey of a run: two effects, a question, its answer, another effect, the end.
const journeyEvents = 4

// journey carries a run from wherever it stands to its end, as a command does that knows
// nothing of what came before, and logs each effect it carries out.
func journey(ctx context.Context, s store) error {
	for {
		x, err := s.Create(ctx, identity("r"), sources)
		made := err == nil
		if conflict := new(workflow.StoreError); errors.As(err, &conflict) && conflict.Condition == workflow.Conflict {
			x, err = s.Acquire(ctx, "r")
		}
		if err != nil {
			return err
		}
		over, question, err := travel(ctx, x, made)
		if err = errors.Join(err, x.Release()); err != nil || over {
			return err
		}
		if err := s.Deliver(ctx, "r", answerTo(question), func(snap workflow.Snapshot) error {
			if snap.Status != workflow.Suspended {
				return errors.New("it does not wait")
			}
			return nil
		}); err != nil {
			return err
		}
	}
}

func travel(ctx context.Context, x workflow.Executor, made bool) (over bool, question string, err error) {
	snap, err := x.Snapshot(ctx)
	if err != nil {
		return false, "", err
	}
	if !made {
		if snap.Status == workflow.Completed { // and is shown once more
			err := x.Begin(ctx, true)
			if err == nil {
				err = x.Settle(ctx, workflow.Completed, workflow.Reason{})
			}
			return true, "", err
		}
		if snap.Executions[len(snap.Executions)-1].Stopped.IsZero() {
			if err := x.Reconcile(ctx, workflow.Interrupted, workflow.Reason{Code: workflow.ExecutorInterrupted}); err != nil {
				return false, "", err
			}
		}
		if err := x.Begin(ctx, false); err != nil {
			return false, "", err
		}
	}
	for n := len(snap.Events); n < journeyEvents; n++ {
		if n == 2 && len(snap.Answers) == 0 {
			question := snap.Events[1].ID
			return false, question, x.Settle(ctx, workflow.Suspended, workflow.Reason{Event: question})
		}
		e := event(n)
		if n == 2 {
			_, err = x.Transact(ctx, func(tx workflow.Tx) (*journal.Event, error) {
				_, ok, err := tx.Consume("s1", snap.Events[1].ID)
				if err == nil && !ok {
					err = errors.New("the answer is gone")
				}
				return &e, err
			})
		} else {
			err = writeFile(ctx, x, fmt.Sprint("f", n), "text", n)
		}
		if err == nil {
			snap, err = x.Snapshot(ctx)
		}
		if err != nil {
			return false, "", err
		}
	}
	return true, "", x.Settle(ctx, workflow.Completed, workflow.Reason{})
}

// TestF1_KilledAtEveryPlace: the run is one of the states that were committed, and is
// carried on from there to the same end; a killed removal can be finished.
func TestF1_KilledAtEveryPlace(t *testing.T) {
	golden := store{filepath.Join(t.TempDir(), "golden")}
	require.NoError(t, journey(t.Context(), golden))
	want, err := golden.Inspect(t.Context(), "r", true)
	require.NoError(t, err)
	require.Len(t, want.Events, journeyEvents)

	places := map[string]bool{}
	step := 1
	if testing.Short() {
		step = 4
	}
	killed := func(s store, place int) (where string) {
		cmd, _, lines := child(t, s, "journey", fmt.Sprint("XMD_TEST_PLACES=", place))
		for lines.Scan() {
			where = lines.Text()
		}
		if err := cmd.Wait(); err == nil {
			return "" // it came to the end
		}
		require.NotEmpty(t, where)
		places[strings.Fields(where)[0]] = true
		return where
	}
	for _, already := range []bool{false, true} { // whether a process was killed before
		for place := 0; ; place += step {
			s := store{filepath.Join(t.TempDir(), "runs")}
			if already {
				require.Equal(t, "effect committed", killed(s, 5))
			}
			where := killed(s, place)
			if where == "" {
				break
			}
			snap, err := s.Inspect(t.Context(), "r", true)
			if err == nil {
				require.NotEqual(t, "delete renamed", where)
				require.LessOrEqual(t, len(snap.Events), journeyEvents, where)
				for n, e := range snap.Events {
					require.Equal(t, event(n), e.Event, where)
					require.Equal(t, want.Events[n].Root, e.Root, where)
				}
				if n := len(snap.Events); n > 0 {
					require.Equal(t, snap.Events[n-1].Root, snap.Root, where)
				}
				for _, a := range snap.Answers {
					require.Equal(t, len(snap.Events) > 2, a.Consumed, "%s: an answer is taken with its event", where)
				}
			} else {
				requireCondition(t, workflow.NotFound, err)
				require.Contains(t, []string{"create written", "delete renamed"}, where)
			}
			require.NoError(t, journey(t.Context(), s), where)
			snap, err = s.Inspect(t.Context(), "r", true)
			require.NoError(t, err)
			require.Equal(t, workflow.Completed, snap.Status)
			require.Equal(t, want.Root, snap.Root)
			require.Len(t, snap.Events, journeyEvents)
			for n, e := range snap.Events {
				require.Equal(t, want.Events[n].Event, e.Event)
			}
			require.Len(t, files(t, s.dir), 2, "%s: the run and its lock", where)
			for _, e := range snap.Executions {
				require.False(t, e.Stopped.IsZero())
			}
			_, err = s.Delete(t.Context(), "r")
			require.NoError(t, err)
			require.Len(t, files(t, s.dir), 1)
		}
	}
	if !testing.Short() {
		for _, kind := range []string{"create", "begin", "effect", "settle", "reconcile", "answer", "delete"} {
			require.True(t, places[kind], kind)
		}
	}
}

func createAndHold(ctx context.Context, s store, run string) error {
	fmt.Println("ready")
	if _, err := fmt.Scanln(new(string)); err != nil {
		return err
	}
	x, err := s.Create(ctx, identity(run), sources)
	if refusal := new(workflow.StoreError); errors.As(err, &refusal) {
		fmt.Println(refusal.Condition)
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Println("made")
	_, _ = fmt.Scanln(new(string)) // until the input ends
	return x.Release()
}

// TestF7_TwoStartAtOnce: one makes the run, the other is refused at once.
func TestF7_TwoStartAtOnce(t *testing.T) {
	pairs := 20
	if testing.Short() {
		pairs = 4
	}
	s := store{filepath.Join(t.TempDir(), "runs")}
	for pair := range pairs {
		run := fmt.Sprint("r", pair)
		var said [2]string
		var cmds [2]*exec.Cmd
		var ins [2]io.WriteCloser
		var outs [2]*bufio.Scanner
		for i := range 2 {
			cmds[i], ins[i], outs[i] = child(t, s, "create", "XMD_TEST_RUN="+run)
			require.True(t, outs[i].Scan())
		}
		for i := range 2 {
			_, err := io.WriteString(ins[i], "go\n")
			require.NoError(t, err)
		}
		for i := range 2 {
			require.True(t, outs[i].Scan())
			said[i] = outs[i].Text()
		}
		_, err := s.Acquire(t.Context(), run)
		requireCondition(t, workflow.Live, err)
		for i := range 2 {
			require.NoError(t, ins[i].Close())
			require.NoError(t, cmds[i].Wait())
		}
		slices.Sort(said[:])
		require.Equal(t, "made", said[1])
		require.Contains(t, []string{string(workflow.Live), string(workflow.Conflict)}, said[0])
		snap, err := s.Inspect(t.Context(), run, true)
		require.NoError(t, err)
		require.Len(t, snap.Executions, 1)
	}
}

// TestF7_AnswersAtOnce: of several answers one waits, also while the run is taken up.
func TestF7_AnswersAtOnce(t *testing.T) {
	for range 10 {
		s, _ := made(t, 1)
		snap, err := s.Inspect(t.Context(), "r", false)
		require.NoError(t, err)
		accept := func(now workflow.Snapshot) error {
			switch {
			case len(now.Answers) > 0:
				return &workflow.StoreError{Condition: workflow.Refused, Message: "there is one"}
			case now.Status == workflow.Running:
				return &workflow.StoreError{Condition: workflow.Refused, Message: "it runs"}
			}
			return nil
		}
		var wait sync.WaitGroup
		errs := make([]error, 3)
		for i := range errs {
			wait.Go(func() { errs[i] = s.Deliver(t.Context(), "r", answerTo(snap.Events[0].ID), accept) })
		}
		var x workflow.Executor
		wait.Go(func() {
			var err error
			if x, err = s.Acquire(t.Context(), "r"); err == nil {
				err = x.Begin(t.Context(), false)
			}
			if err != nil {
				t.Error(err)
			}
		})
		wait.Wait()
		accepted := 0
		for _, err := range errs {
			if err == nil {
				accepted++
			} else {
				requireCondition(t, workflow.Refused, err)
			}
		}
		require.LessOrEqual(t, accepted, 1)
		now, err := x.Snapshot(t.Context())
		require.NoError(t, err)
		require.Len(t, now.Answers, accepted)
		require.NoError(t, x.Settle(t.Context(), workflow.Completed, workflow.Reason{}))
		require.NoError(t, x.Release())
	}
}

// TestF8_AStoppedExecutorKeepsItsRun: nothing breaks its lock, and it goes on.
func TestF8_AStoppedExecutorKeepsItsRun(t *testing.T) {
	s, _ := made(t, 0)
	cmd, _, lines := child(t, s, "append")
	require.True(t, lines.Scan())
	require.NoError(t, cmd.Process.Signal(syscall.SIGSTOP))
	_, err := s.Acquire(t.Context(), "r")
	requireCondition(t, workflow.Live, err)
	_, err = s.Delete(t.Context(), "r")
	requireCondition(t, workflow.Live, err)
	_, err = s.Create(t.Context(), identity("r"), sources)
	requireCondition(t, workflow.Conflict, err)
	snap, err := s.Inspect(t.Context(), "r", true)
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Signal(syscall.SIGCONT))
	for last := -1; last <= len(snap.Events); {
		require.True(t, lines.Scan())
		last, err = strconv.Atoi(lines.Text())
		require.NoError(t, err)
	}
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
}

func leaveAChild(ctx context.Context, s store) error {
	x, err := s.Acquire(ctx, "r")
	if err == nil {
		err = x.Begin(ctx, false)
	}
	if err != nil {
		return err
	}
	left := exec.Command("sleep", "60")
	if err := left.Start(); err != nil {
		return err
	}
	fmt.Println(left.Process.Pid)
	select {}
}

// TestF9_WhatAnExecutorLeftBehindHoldsNoLock: a program it started goes on without it.
func TestF9_WhatAnExecutorLeftBehindHoldsNoLock(t *testing.T) {
	s, _ := made(t, 0)
	cmd, _, lines := child(t, s, "leave")
	require.True(t, lines.Scan())
	left, err := strconv.Atoi(lines.Text())
	require.NoError(t, err)
	defer func() { _ = syscall.Kill(left, syscall.SIGKILL) }()
	_, err = s.Acquire(t.Context(), "r")
	requireCondition(t, workflow.Live, err)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	require.NoError(t, syscall.Kill(left, 0), "it still runs")
	x, err := s.Acquire(t.Context(), "r")
	require.NoError(t, err)
	require.NoError(t, x.Release())
}

// appendUntilFull makes effects until no file may grow any more.
func appendUntilFull(ctx context.Context, s store) error {
	signal.Ignore(unix.SIGXFSZ)
	x, err := s.Acquire(ctx, "r")
	if err == nil {
		err = x.Begin(ctx, false)
	}
	if err == nil {
		err = unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 300 << 10, Max: unix.RLIM_INFINITY})
	}
	for n := 0; err == nil; n++ {
		if err = writeFile(ctx, x, "f", strings.Repeat(strconv.Itoa(n), 1000), n); err == nil {
			fmt.Println(n)
		}
	}
	if full := new(workflow.StoreError); errors.As(err, &full) && full.Condition == workflow.Refused {
		err = x.Settle(ctx, workflow.Interrupted, workflow.Reason{Code: workflow.ExecutorInterrupted})
		fmt.Println("refused", err == nil, full.Message)
		_ = x.Release()
		return nil
	}
	return fmt.Errorf("it never was full: %w", err)
}

// TestF5_NoRoom: what does not fit is refused, all that was acknowledged is there, and
// with room again the run goes on.
func TestF5_NoRoom(t *testing.T) {
	s, _ := made(t, 0)
	cmd, _, lines := child(t, s, "limited")
	acknowledged, refused := -1, ""
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "refused") {
			refused = lines.Text()
			continue
		}
		var err error
		acknowledged, err = strconv.Atoi(lines.Text())
		require.NoError(t, err)
	}
	require.NoError(t, cmd.Wait())
	require.Contains(t, refused, "could not be written")
	require.Positive(t, acknowledged)
	snap, err := s.Inspect(t.Context(), "r", true)
	require.NoError(t, err)
	require.Len(t, snap.Events, acknowledged+1)
	x, err := s.Acquire(t.Context(), "r")
	require.NoError(t, err)
	if snap.Status == workflow.Running {
		require.NoError(t, x.Reconcile(t.Context(), workflow.Interrupted, workflow.Reason{Code: workflow.ExecutorInterrupted}))
	}
	require.NoError(t, x.Begin(t.Context(), false))
	require.NoError(t, writeFile(t.Context(), x, "f", "more", acknowledged+1))
	require.NoError(t, x.Settle(t.Context(), workflow.Completed, workflow.Reason{}))
	require.NoError(t, x.Release())
	require.Len(t, files(t, s.dir), 2)
}
