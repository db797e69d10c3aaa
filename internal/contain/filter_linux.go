//go:build amd64 || arm64 || riscv64

package contain

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sifts says that there is a filter for the architecture this program is compiled for.
const sifts = true

// Where the parts of a call lie in what the filter sees of it. All of the arguments
// that are looked at are integers of 32 bits; their upper halves mean nothing.
const (
	callNumber = 0
	callArch   = 4
	argument   = 16 // the lower half of the first; the next is 8 behind it
)

const (
	anotherABI = 0x40000000 // of a call of a second table on amd64; no other architecture has numbers as high
	kindOfType = 0x0f       // the kind of a socket in its type; the rest are flags
)

// seeming are calls that change what a file of any path is like, or watch it. Landlock is
// asked about none of them, so that a file an agent cannot open is still one whose mode,
// owner and times it could change, and a directory it cannot list would tell it every
// name that is made there. They are answered as done and are not: programs change the
// mode of every file they copy and watch their settings, which does no good in a private
// home, but many would end at a refusal.
var seeming = append([]uint32{
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT, unix.SYS_INOTIFY_ADD_WATCH,
}, seemingBefore...)

// unheld are calls without a file that Landlock is asked about and without a use for an
// agent. Rings perform calls that no filter sees; a keyring holds what others put there;
// what a whole file system does is told to whoever marks it; memory, counters and queues
// of a user are shared by name with all of the user's programs.
var unheld = []uint32{
	unix.SYS_IO_URING_SETUP, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_FANOTIFY_INIT, unix.SYS_FILE_SETATTR,
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL,
	unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
}

// unmarked are calls that change the attributes of a file of any path. Programs know the
// answer from file systems that have none.
var unmarked = []uint32{
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT,
	unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT,
}

// filter closes what Landlock leaves open and an agent has no use for (agents 17.2).
// Before version 9, Landlock does not control connections to sockets that have a path,
// and behind those are agents of keys, buses and terminals that would do anything for
// their user; and of all transports it controls plain TCP alone. So there are internet
// sockets with TCP or UDP, what a resolver asks the kernel, and no others. Pairs of
// sockets, with which programs talk to what they start, are made by another call.
func filter(arch uint32) []unix.SockFilter {
	refuse := func(errno unix.Errno) unix.SockFilter {
		return instruction(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ERRNO|uint32(errno), 0, 0)
	}
	load := func(at uint32) unix.SockFilter { return instruction(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, at, 0, 0) }
	equal := func(v uint32, yes, no uint8) unix.SockFilter {
		return instruction(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, v, yes, no)
	}
	greater := func(v uint32, yes, no uint8) unix.SockFilter {
		return instruction(unix.BPF_JMP|unix.BPF_JGT|unix.BPF_K, v, yes, no)
	}
	allow := instruction(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ALLOW, 0, 0)

	// A program of another architecture numbers its calls differently.
	code := []unix.SockFilter{
		load(callArch), equal(arch, 1, 0), refuse(unix.ENOSYS),
		load(callNumber), greater(anotherABI-1, 0, 1), refuse(unix.ENOSYS),
	}
	for _, answer := range []struct {
		calls []uint32
		errno unix.Errno
	}{{seeming, 0}, {unheld, unix.ENOSYS}, {unmarked, unix.EOPNOTSUPP}, {[]uint32{unix.SYS_LISTEN}, unix.EACCES}} { // a socket that listens unbound is bound past Landlock
		for _, call := range answer.calls {
			code = append(code, equal(call, 0, 1), refuse(answer.errno))
		}
	}
	// The limits of another process are another's.
	code = append(code, equal(unix.SYS_PRLIMIT64, 0, 4), load(argument), equal(0, 1, 0), refuse(unix.EPERM), allow)
	// The first data of a connection may open it, past what Landlock is asked about.
	for _, call := range []struct{ number, flags uint32 }{{unix.SYS_SENDTO, 3}, {unix.SYS_SENDMSG, 2}, {unix.SYS_SENDMMSG, 3}} {
		code = append(code, equal(call.number, 0, 4), load(argument+8*call.flags),
			instruction(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, unix.MSG_FASTOPEN, 0, 1), refuse(unix.EACCES), allow)
	}
	return append(code,
		equal(unix.SYS_SOCKET, 1, 0), allow,
		load(argument), // domain
		equal(unix.AF_INET, 3, 0), equal(unix.AF_INET6, 2, 0), equal(unix.AF_NETLINK, 1, 0), refuse(unix.EACCES),
		load(argument+8), // type: a stream, datagrams, or what netlink calls raw
		instruction(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, kindOfType, 0, 0),
		greater(unix.SOCK_RAW, 0, 1), refuse(unix.EACCES),
		load(argument+16), // protocol
		equal(0, 3, 0), equal(unix.IPPROTO_TCP, 2, 0), equal(unix.IPPROTO_UDP, 1, 0), refuse(unix.EACCES),
		allow,
	)
}

func instruction(code uint16, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: code, Jt: yes, Jf: no, K: k}
}

// sift puts the filter before every call of this thread, and of what it becomes and
// starts.
func sift() error {
	code := filter(architecture)
	program := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0); err != nil {
		return fmt.Errorf("the filter of calls: %w", err)
	}
	runtime.KeepAlive(code)
	return nil
}
