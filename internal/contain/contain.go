// Package contain has the kernel hold an agent that nothing else can hold.
//
// What enters is a command that is about to be started and the paths it needs; what
// leaves is the same command behind a shim. The shim is this program again, under its
// hidden command agent-exec: it gives up every privilege, bounds its resources, has
// Landlock refuse it every file that is not in one table, every TCP connection but
// those to the ports of its provider, and every signal to somebody else, has a filter of
// calls keep from it every other kind of socket and what Landlock is not asked about,
// such as the modes and times of files it cannot open, and only then becomes the agent.
// It is a process of its own because a process can restrict itself but never lift a
// restriction again. Where the kernel allows it, the agent gets namespaces of its own as
// well: it is then ended together with everything it ever started, however that tried
// to get away.
//
// The invariant: an agent whose command went through [Kernel.Contain] runs under all
// of what [Kernel.Level] says, or it does not run. What cannot be applied ends the
// shim with status [acp.ContainmentFailed] before the agent begins; nothing is applied
// as far as it goes.
//
// The shim only ever takes away, so that it is of no use to whoever calls it without
// being this program. The room refuses to know what an agent is, what it says, and
// why it is held.
package contain

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Command is the hidden command that is the shim, and SpecFlag its option for the
// number of the descriptor that its orders are read from.
const (
	Command  = "agent-exec"
	SpecFlag = "spec"
)

// A Kernel contains agents by what the running kernel offers. It is an
// [acp.Containment], made by New, and safe for concurrent use.
type Kernel struct {
	level func() (level, abi int) // probed when first asked, which takes some milliseconds
}

// New returns the containment of the running kernel. It asks nothing of it yet.
func New() *Kernel {
	return &Kernel{level: sync.OnceValues(probe)}
}

// Level is what the kernel enforces (agents 17.4): 0 nothing; 1 no new privileges and
// bounded resources; 2 Landlock of at least version 3 too; 3 namespaces of its own
// too. abi is the version of Landlock, 0 where there is none.
func (k *Kernel) Level() (level, abi int) { return k.level() }

// orders are what a shim is to do. They come over a pipe, so that the list of
// processes shows nothing of them.
type orders struct {
	Namespaces bool   `json:"namespaces,omitempty"` // the shim is the first process of its own
	Parent     int    `json:"parent"`               // who has to be there still
	ABI        int    `json:"abi"`                  // of Landlock; 0: none is applied
	Ports      []int  `json:"ports,omitempty"`      // that may be connected to
	Rules      []rule `json:"rules,omitempty"`
}

// maxOrders bounds what is read, in bytes.
const maxOrders = 1 << 20

// read reads orders to the end of r. Anything it does not know refuses them: it might
// be a restriction.
func read(r io.Reader) (orders, error) {
	var o orders
	d := json.NewDecoder(io.LimitReader(r, maxOrders))
	d.DisallowUnknownFields()
	if err := d.Decode(&o); err != nil {
		return o, fmt.Errorf("the orders cannot be read: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return o, errors.New("something follows the orders")
	}
	return o, nil
}
