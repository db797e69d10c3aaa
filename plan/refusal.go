package plan

import (
	"context"
	"fmt"

	"github.com/executable-markdown/xmd/internal/host"
)

// refusing is the machine as the plan program sees it: every operation there is, and
// each of them refused by name (prompt 6.2). The program asks for none; a later edit
// of it cannot either.
func refusing() host.Host {
	return host.Host{Files: refusal{}, Sources: refusal{}, HTTP: refusal{}, Process: refusal{}}
}

type refusal struct{}

// refuse names the capability that was asked for.
func refuse(capability string) error {
	return fmt.Errorf("the plan profile grants no %s", capability)
}

func (refusal) CheckPath(string, string, string) error { return refuse("file path") }
func (refusal) ReadText(context.Context, string, string) (string, error) {
	return "", refuse("reading of files")
}
func (refusal) WriteText(context.Context, string, string, string) error {
	return refuse("writing of files")
}
func (refusal) Delete(context.Context, string, string) error { return refuse("deleting of files") }
func (refusal) Glob(context.Context, string, []string, []string) ([]string, error) {
	return nil, refuse("listing of files")
}
func (refusal) EnsureDir(context.Context, string, string) error { return refuse("directory") }
func (refusal) TempDir(context.Context) (string, func() error, error) {
	return "", nil, refuse("temporary directory")
}
func (refusal) ReadSource(string) ([]byte, error) { return nil, refuse("reading of sources") }
func (refusal) IsFile(string) (bool, error)       { return false, refuse("search for components") }
func (refusal) Do(context.Context, host.Request) (host.Response, error) {
	return host.Response{}, refuse("request over the network")
}
func (refusal) Run(context.Context, host.Command) (int, error) { return 0, refuse("process") }
func (refusal) Start(context.Context, host.Command) (host.Running, error) {
	return nil, refuse("process")
}
func (refusal) Port() (int, error) { return 0, refuse("service") }
