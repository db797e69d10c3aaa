package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/agent/scenario"
)

func TestAFixtureObeysUntilItIsToldNotTo(t *testing.T) {
	for _, ignores := range []bool{false, true} {
		asked, cancel := context.WithCancelCause(t.Context())
		var peer scenario.Peer
		ctx, end := obeying(asked, &peer)
		if ignores {
			peer.IgnoreTerm()
		}
		cancel(ErrInterrupted)
		if ignores {
			require.NoError(t, ctx.Err())
		} else {
			<-ctx.Done()
			require.Equal(t, ErrInterrupted, context.Cause(ctx))
		}
		end()
		require.Error(t, ctx.Err())
	}
}

func TestFixtureRefusesBeforeItServes(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		return name
	}
	const head = "version: 1\nsessions: {\"\": [{prompt: x, do: ["
	for _, c := range []struct {
		name string
		r    fixtureRequest
		err  string
	}{
		{"no scenario", fixtureRequest{}, "name the scenario"},
		{"missing", fixtureRequest{scenario: "none.yaml"}, "none.yaml cannot be read"},
		{"wrong", fixtureRequest{scenario: write("wrong.yaml", "version: 2\n")}, "wrong.yaml:1:10: version must be"},
		{"effects", fixtureRequest{scenario: write("effect.yaml", head+"{read: {path: x}}]}]}")}, "effect.yaml:2:35: the step read"},
		{"file outside", fixtureRequest{scenario: write("outside.yaml", head+"{say: {file: link}}]}]}")}, "cannot be read"},
		{"release", fixtureRequest{scenario: write("release.yaml", head+"{waitRelease: go}]}]}")}, "give --state"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_ = os.Symlink("/etc/hostname", filepath.Join(dir, "link"))
			report := filepath.Join(dir, "report")
			c.r.report = report
			err := (&command{Process: Process{Dir: dir}}).fixture(t.Context(), c.r)
			var wrong *usageError
			require.ErrorContains(t, err, c.err)
			require.True(t, errors.As(err, &wrong))
			require.NoFileExists(t, report)
		})
	}
}
