package contain

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"

	"github.com/executable-markdown/xmd/agent/acp"
)

// self is this very program, also when its file was replaced meanwhile.
const self = "/proc/self/exe"

// leastABI is the first version of Landlock that controls the truncation of files.
const leastABI = 3

// probe asks the kernel for what it offers.
func probe() (level, abi int) {
	abi, err := llsys.LandlockGetABIVersion()
	switch {
	case err != nil || abi < leastABI || !sifts:
		return 1, max(abi, 0)
	case namespaced():
		return 3, abi
	}
	return 2, abi
}

// Contain puts the shim before a command (agents 17.1). The command must not have been
// started, and gets a file that whoever starts it closes.
func (k *Kernel) Contain(cmd *exec.Cmd, paths acp.Paths) error {
	level, abi := k.Level()
	o := orders{Namespaces: level == 3, Parent: os.Getpid()}
	if level >= 2 {
		o.ABI, o.Ports, o.Rules = abi, ports(cmd.Env), table(paths)
	}
	return shim(cmd, o, append([]string{cmd.Path}, cmd.Args[1:]...))
}

// shim makes a command the shim of a program with its orders.
func shim(cmd *exec.Cmd, o orders, argv []string) error {
	file, err := o.pipe()
	if err != nil {
		return err
	}
	cmd.ExtraFiles = append(cmd.ExtraFiles, file)
	cmd.Path = self
	cmd.Args = append(shimArgs(2+len(cmd.ExtraFiles)), argv...)
	if o.Namespaces {
		separate(cmd)
	}
	return nil
}

// pipe returns the end of a pipe that orders come out of.
func (o orders) pipe() (*os.File, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	go func() { // ends when all is read, or when nobody can read it any longer
		_, _ = w.Write(text)
		_ = w.Close()
	}()
	return r, nil
}

func shimArgs(descriptor int) []string {
	return []string{"xmd", Command, "--" + SpecFlag, strconv.Itoa(descriptor), "--"}
}

// separate gives a command namespaces of its own, in which its user is who it was and
// may do no more. The end of their first process is the end of every other one.
func separate(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	uid, gid := os.Getuid(), os.Getgid()
	cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC
	cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
	cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
}

// namespaced reports whether an ordinary process may have namespaces of its own. Some
// systems forbid it, and there is no way to know but to try: a process that has them
// and then fails for the want of a program, and not before, is the proof.
func namespaced() bool {
	cmd := &exec.Cmd{Path: "/proc/self/none", Args: []string{"none"}, Env: []string{}}
	separate(cmd)
	return errors.Is(cmd.Start(), syscall.ENOENT)
}
