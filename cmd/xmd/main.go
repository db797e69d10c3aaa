// Command xmd runs Executable Markdown.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/executable-markdown/xmd/internal/cli"
)

// version is stamped by the linker.
var version = ""

func main() { os.Exit(run()) }

func run() int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// A reader that goes away is a failed write and not the end of the process, so
	// that what the run started is still put away. Handled, not ignored: commands
	// would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	hurry, rush := context.WithCancel(context.Background())
	defer rush()
	go func() {
		<-signals
		cancel(cli.ErrInterrupted)
		<-signals
		rush()               // what is put away is not waited for any longer
		signal.Stop(signals) // a third signal ends the process at once
	}()
	process := cli.ThisProcess(stamp())
	process.Hurry = hurry
	return cli.Main(ctx, process)
}

// stamp is the linker's version, the module's, or "devel".
func stamp() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
