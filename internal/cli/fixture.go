package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/executable-markdown/xmd/agent/scenario"
	"github.com/executable-markdown/xmd/internal/host"
)

// A fixtureRequest is what xmd agent-fixture was asked for.
type fixtureRequest struct {
	scenario, session, state, report string
	effects                          bool
}

func (c *command) fixtureCommand() *cobra.Command {
	var r fixtureRequest
	cmd := &cobra.Command{
		Use:    "agent-fixture --scenario FILE",
		Short:  "Play an agent from a script, for tests",
		Hidden: true,
		Long: `Play an agent from a script, for tests. It speaks the Agent Client Protocol on
standard input and output. It has no model and opens no connection, and reads only
the scenario and the files it says.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.fixture(cmd.Context(), r) },
	}
	f := cmd.Flags()
	f.StringVar(&r.scenario, "scenario", "", "the `file` with the script, YAML or JSON")
	f.StringVar(&r.session, "session", "", "play the script of this session; default the unnamed one")
	f.StringVar(&r.state, "state", "", "keep the position in this `folder`, so that another process continues it")
	f.StringVar(&r.report, "report", "", "add what happens to this `file`, one line of JSON each")
	f.BoolVar(&r.effects, "allow-host-effects", false, "allow the steps write, read and spawn")
	return cmd
}

// fixture serves a scenario on the standard channels.
func (c *command) fixture(ctx context.Context, r fixtureRequest) (err error) {
	if r.scenario == "" {
		return usage("name the scenario: xmd agent-fixture --scenario FILE")
	}
	s, err := c.scenario(r)
	if err != nil {
		return err
	}
	peer := scenario.Peer{Scenario: s, Session: r.session, Start: c.fixtureStart(), Stderr: c.err}
	if r.effects {
		peer.Machine = host.Unguarded{Dir: c.Dir, Env: c.environment()}
	}
	if r.state == "" && s.WaitsForRelease() {
		return usage("the scenario waits for a release, which is a file in the folder of --state; give --state DIR")
	}
	if r.state != "" {
		folder, err := host.OpenFolder(c.path(r.state))
		if err != nil {
			return fmt.Errorf("the folder %s cannot be used: %w", r.state, err)
		}
		defer folder.Close()
		peer.State = folder
	}
	if r.report != "" {
		file, err := host.AppendTo(c.path(r.report))
		if err != nil {
			return fmt.Errorf("%s cannot be written: %w", r.report, err)
		}
		defer func() {
			if closing := file.Close(); err == nil {
				err = closing
			}
		}()
		peer.Report = file
	}
	// A script may ignore the request to end that ctx carries.
	ctx, end := obeying(ctx, &peer)
	defer end()
	// Standard input is not closed: a read that waits would not notice.
	err = peer.Serve(ctx, struct{ io.Reader }{c.Stdin}, c.Stdout)
	var crash *scenario.Crash
	if errors.As(err, &crash) {
		return &statusError{status: crash.Status}
	}
	return err
}

// obeying is a context that ends with ctx until the peer ignores it.
func obeying(ctx context.Context, peer *scenario.Peer) (context.Context, func()) {
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	peer.IgnoreTerm = func() { stop() }
	return own, func() {
		stop()
		cancel(nil)
	}
}

// scenario reads the scenario of a request.
func (c *command) scenario(r fixtureRequest) (*scenario.Scenario, error) {
	path := c.path(r.scenario)
	text, err := host.NewSources(c.Dir).ReadSource(path)
	if err != nil {
		return nil, usage("the scenario %s cannot be read: %s", r.scenario, host.Phrase(err))
	}
	beside, err := host.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, usage("the folder of the scenario cannot be opened: %v", err)
	}
	defer beside.Close()
	s, err := scenario.Parse(r.scenario, text, scenario.ParseOptions{
		HostEffects: r.effects,
		File: func(name string) ([]byte, error) {
			content, err := beside.ReadFile(name)
			if err != nil {
				return nil, errors.New(host.Phrase(err))
			}
			return content, nil
		},
	})
	if err != nil {
		return nil, usage("%v", err)
	}
	return s, nil
}

func (c *command) fixtureStart() *scenario.Start {
	standing := host.Stand(c.Dir)
	return &scenario.Start{
		Cwd: c.Dir, Entries: standing.Entries, Environment: slices.Sorted(maps.Keys(c.Env)),
		ProcessGroup: standing.Group, GroupLeader: standing.Leader, NoNewPrivs: standing.NoNewPrivs,
	}
}

// environment is the snapshot as programs are given it.
func (c *command) environment() []string {
	list := []string{}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		list = append(list, name+"="+c.Env[name])
	}
	return list
}
