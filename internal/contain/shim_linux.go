package contain

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/executable-markdown/xmd/agent/acp"
)

// Enter is the shim: it reads its orders from a descriptor, carries them out on this
// process, and becomes the program of argv, whose first word is an absolute path. It
// returns only when it does not become it: with the status to end with, and why.
//
// It widens nothing for whoever calls it: all it can do is to refuse things to itself
// and then to run a program its caller could have run without it.
func Enter(descriptor int, argv []string) (status int, err error) {
	// What is set below holds for one thread, and the program takes over the one that
	// starts it.
	runtime.LockOSThread()
	if descriptor < 3 {
		return refused(errors.New("it is started by xmd itself, with its orders on a pipe"))
	}
	pipe := os.NewFile(uintptr(descriptor), "orders")
	o, err := read(pipe)
	_ = pipe.Close()
	first := os.Getpid() == 1
	switch {
	case err != nil:
		return refused(err)
	case o.Namespaces && !first:
		return refused(errors.New("it has no namespaces of its own"))
	case len(argv) == 0:
		return refused(errors.New("there is no program to run"))
	case o.Namespaces:
		return lead(o, argv)
	}
	if err := confine(o); err != nil {
		return refused(err)
	}
	err = syscall.Exec(argv[0], argv, os.Environ())
	// Held, and nothing to hold: this is no failure of the containment.
	return 127, fmt.Errorf("the program cannot be started: %w", err)
}

func refused(err error) (int, error) {
	return acp.ContainmentFailed, fmt.Errorf("the agent is not started, for it could not be contained: %w", err)
}

// lead is the first process of new namespaces. It starts a second shim, which becomes
// the program, because a first process is deaf to the signals it does not handle. It
// outlives its child by nothing, and everything else ends with it. It is outside of
// what the program is confined to, and does nothing but wait.
func lead(o orders, argv []string) (int, error) {
	// A request to end is for the program, which gets it as well and may take its time.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	o.Namespaces, o.Parent = false, os.Getpid()
	text, err := o.pipe()
	if err != nil {
		return refused(err)
	}
	files := []*os.File{os.Stdin, os.Stdout, os.Stderr, text}
	child, err := os.StartProcess(self, append(shimArgs(3), argv...), &os.ProcAttr{
		Files: files, Env: os.Environ(), Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return refused(err)
	}
	_ = text.Close()
	// The program is the one that reads and writes from here on; its peer has to see
	// when it stops.
	for _, f := range files[:3] {
		_ = f.Close()
	}
	for {
		var state unix.WaitStatus
		pid, err := unix.Wait4(-1, &state, 0, nil) // orphans come here too
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return refused(err)
		case pid != child.Pid:
		case state.Signaled():
			return 128 + int(state.Signal()), nil
		default:
			return state.ExitStatus(), nil
		}
	}
}

// confine carries out orders on this process, all of them or none that matters: the
// first that fails ends it.
func confine(o orders) error {
	// No new privileges: nothing that is executed from here on gains any (agents 17.1).
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("new privileges: %w", err)
	}
	// The program does not outlive who started it, and did not yet.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("the end of the parent: %w", err)
	}
	if os.Getppid() != o.Parent {
		return errors.New("who started it is gone")
	}
	if err := bound(); err != nil {
		return err
	}
	if err := shut(); err != nil {
		return err
	}
	abandon()
	if o.ABI == 0 {
		return nil
	}
	if err := restrict(o); err != nil {
		return err
	}
	return sift()
}

// shut keeps from the program what was open already in whoever started this one: a file
// that is open is reached without being asked for.
func shut() error {
	entries, err := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	if err != nil {
		return fmt.Errorf("open files: %w", withoutPath(err))
	}
	return nil
}

// abandon gives up every capability for good, so that an agent of root has no more
// rights than files give it. Whoever has none to give up is refused, and has none.
func abandon() {
	for c := uintptr(0); unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) == nil; c++ {
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
}
