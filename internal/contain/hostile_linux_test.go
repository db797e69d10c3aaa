package contain_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A plot is what a hostile agent is sent as its prompt.
type plot struct {
	Do      string // reach, leave, ask, client, stream
	Canary  string // a file of somebody else
	Outside string // a directory of somebody else
	TCP     int    // a port of this machine that somebody listens at
	Path    string // a socket with a path that somebody listens at
	Name    string // an abstract one
	Pid     int    // of somebody else
	Tag     string // of what is left behind
}

// hostile is an agent that means harm. It speaks just enough of the protocol to be
// prompted.
func hostile() {
	h := &villain{in: bufio.NewScanner(os.Stdin)}
	for h.in.Scan() {
		var m message
		if json.Unmarshal(h.in.Bytes(), &m) != nil {
			continue
		}
		switch m.Method {
		case "initialize":
			h.answer(m, `{"protocolVersion":1,"agentInfo":{"name":"hostile","version":"0"}}`)
		case "session/new":
			h.answer(m, `{"sessionId":"h"}`)
		case "session/prompt":
			var p plot
			_ = json.Unmarshal([]byte(m.Params.Prompt[0].Text), &p)
			h.carryOut(p)
			h.answer(m, `{"stopReason":"end_turn"}`)
		}
	}
	select {} // the end of its input is no reason to leave
}

type message struct {
	ID     json.RawMessage
	Method string
	Params struct{ Prompt []struct{ Text string } }
}

type villain struct{ in *bufio.Scanner }

func (h *villain) answer(m message, result string) {
	fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
}

func (h *villain) request(method, params string) {
	fmt.Printf(`{"jsonrpc":"2.0","id":"x","method":%q,"params":%s}`+"\n", method, params)
	h.in.Scan()
}

func (h *villain) say(text string) {
	line, _ := json.Marshal(text)
	fmt.Printf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"h","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%s}}}}`+"\n", line)
}

func (h *villain) carryOut(p plot) {
	switch p.Do {
	case "reach":
		for _, a := range attempts(p) {
			h.say(a.name + "=" + says(a.try()) + "\n")
		}
		h.say("environment=" + strings.Join(os.Environ(), " ") + "\n")
	case "ask":
		h.request("session/request_permission", `{"sessionId":"h","toolCall":{"toolCallId":"t","title":"rm","kind":"execute"},"options":[{"optionId":"a","name":"Yes","kind":"allow_once"},{"optionId":"r","name":"No","kind":"reject_once"}]}`)
		_ = os.WriteFile(filepath.Join(p.Outside, "done"), []byte("anyway"), 0o600)
		_ = os.WriteFile("done", []byte("anyway"), 0o600)
	case "client":
		h.request("fs/write_text_file", `{"sessionId":"h","path":"/tmp/x","content":"x"}`)
		h.request("terminal/create", `{"sessionId":"h","command":"sh"}`)
	case "leave":
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		for _, way := range []string{"group", "session", "orphan"} {
			h.say(way + "=" + says(leave(way, p.Tag)) + "\n")
		}
	case "stream":
		for h.in.Scan() && !strings.Contains(h.in.Text(), "session/cancel") {
		}
		for {
			h.say("and on\n")
			time.Sleep(time.Millisecond)
		}
	}
}

type attempt struct {
	name string
	try  func() error
}

func attempts(p plot) []attempt {
	home, self := os.Getenv("HOME"), "/proc/self/exe"
	read := func(path string) func() error {
		return func() error { _, err := os.ReadFile(path); return err }
	}
	write := func(path string) func() error {
		return func() error { return os.WriteFile(path, []byte("x"), 0o600) }
	}
	dial := func(network, address string) func() error {
		return func() error {
			c, err := net.DialTimeout(network, address, 2*time.Second)
			if err == nil {
				err = c.Close()
			}
			return err
		}
	}
	at := fmt.Sprintf("127.0.0.1:%d", p.TCP)
	return []attempt{
		{"read", read(p.Canary)},
		{"read through root", read("/proc/self/root" + p.Canary)},
		{"read through a link", func() error {
			link := filepath.Join(home, "link")
			return errors.Join(os.Symlink(p.Canary, link), read(link)())
		}},
		{"read through a name", func() error {
			name := filepath.Join(home, "name")
			return errors.Join(os.Link(p.Canary, name), read(name)())
		}},
		{"truncate", func() error { return os.Truncate(p.Canary, 0) }},
		{"move here", func() error { return os.Rename(p.Canary+"2", filepath.Join(home, "moved")) }},
		{"remove", func() error { return os.Remove(p.Canary + "3") }},
		{"change the mode", changes(p.Canary, func() error { return os.Chmod(p.Canary, 0o777) })},
		{"change the mode of a directory", changes(p.Outside, func() error { return os.Chmod(p.Outside, 0o777) })},
		{"change the mode without following", changes(p.Canary, func() error {
			name, err := unix.BytePtrFromString(p.Canary)
			if err == nil {
				_, _, errno := unix.Syscall6(unix.SYS_FCHMODAT2, atCwd, uintptr(unsafe.Pointer(name)), 0o777, 0, 0, 0)
				err = error(errno)
			}
			return err
		})},
		{"change the mode of a place", changes(p.Canary, func() error {
			fd, err := unix.Open(p.Canary, unix.O_PATH, 0)
			if err == nil {
				err = os.Chmod(fmt.Sprintf("/proc/self/fd/%d", fd), 0o777)
			}
			return err
		})},
		{"change the mode of its program", func() error {
			program, err := os.Open(self)
			if err != nil {
				return nil // it is meant to come this far
			}
			return changes(self, func() error { return program.Chmod(0o777) })()
		}},
		{"change the owner", func() error { // to itself, which the system counts as a change
			return changes(p.Canary, func() error { return os.Chown(p.Canary, os.Getuid(), os.Getgid()) })()
		}},
		{"change the times", changes(p.Canary, func() error { return os.Chtimes(p.Canary, time.Unix(1, 0), time.Unix(1, 0)) })},
		{"set an attribute", func() error { return unix.Setxattr(p.Canary, "user.xmd", []byte("x"), 0) }},
		{"remove an attribute", func() error {
			if err := unix.Removexattr(p.Canary, "user.none"); !errors.Is(err, unix.ENODATA) {
				return err
			}
			return nil // it was looked for
		}},
		{"watch", func() error {
			fd, err := unix.InotifyInit1(0)
			if err != nil {
				return err
			}
			if wd, err := unix.InotifyAddWatch(fd, p.Outside, unix.IN_ALL_EVENTS); err != nil || wd > 0 {
				return err
			}
			return errors.New("nothing is watched")
		}},
		{"watch all", func() error {
			if _, _, errno := unix.Syscall(unix.SYS_FANOTIFY_INIT, unix.FAN_REPORT_FID, 0, 0); errno != 0 {
				return errno
			}
			return nil
		}},
		{"list", func() error { _, err := os.ReadDir(p.Outside); return err }},
		{"write outside", write(filepath.Join(p.Outside, "left"))},
		{"write in cwd", write("left")},
		{"make in cwd", func() error { return os.Mkdir("made", 0o700) }},
		{"write in tmp", write(filepath.Join("/tmp", p.Tag))},
		{"write in shm", write(filepath.Join("/dev/shm", p.Tag))},
		{"read shadow", read("/etc/shadow")},
		{"read environ", read(fmt.Sprintf("/proc/%d/environ", p.Pid))},
		{"terminal", read("/dev/tty")},
		{"signal", func() error { return syscall.Kill(p.Pid, 0) }},
		{"trace", func() error {
			runtime.LockOSThread()
			return unix.PtraceAttach(p.Pid)
		}},
		{"tcp", dial("tcp", at)},
		{"multipath tcp", func() error { return stream(unix.IPPROTO_MPTCP, unix.SOCK_STREAM, p.TCP) }},
		{"sctp", func() error { return stream(0, unix.SOCK_SEQPACKET, p.TCP) }},
		{"tcp with its first data", func() error { return fast(p.TCP, unix.Sendto) }},
		{"tcp with its first message", func() error {
			return fast(p.TCP, func(fd int, data []byte, flags int, to unix.Sockaddr) error {
				return unix.Sendmsg(fd, data, nil, to, flags)
			})
		}},
		{"listen", func() error {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err == nil {
				err = l.Close()
			}
			return err
		}},
		{"listen at any port", func() error {
			fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			return unix.Listen(fd, 1)
		}},
		{"shared memory", func() error { _, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600); return err }},
		{"message queue", func() error {
			if _, _, errno := unix.Syscall(unix.SYS_MSGGET, unix.IPC_PRIVATE, unix.IPC_CREAT|0o600, 0); errno != 0 {
				return errno
			}
			return nil
		}},
		{"limits of another", func() error {
			var now unix.Rlimit
			return unix.Prlimit(os.Getppid(), unix.RLIMIT_NOFILE, nil, &now)
		}},
		{"socket with a path", dial("unix", p.Path)},
		{"socket with a name", dial("unix", "@"+p.Name)},
		{"keyring", func() error { _, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_USER_KEYRING, true); return err }},
		{"ring", func() error {
			var params [120]byte
			if _, _, err := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0); err != 0 {
				return err
			}
			return nil
		}},
		{"run what it wrote", func() error {
			mine := filepath.Join(home, "mine")
			text, err := os.ReadFile(self)
			if err == nil {
				err = os.WriteFile(mine, text, 0o700)
			}
			if err != nil {
				return nil // it is meant to come this far
			}
			return exec.Command(mine, "survive", "no longer").Run()
		}},
		{"mount", func() error { return unix.Mount("none", home, "tmpfs", 0, "") }},
		{"mount apart", func() error {
			cmd := exec.Command("/bin/mount", "-t", "tmpfs", "none", home)
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS}
			return cmd.Run()
		}},
		{"device", func() error {
			return unix.Mknod(filepath.Join(home, "device"), unix.S_IFBLK|0o600, int(unix.Mkdev(8, 0)))
		}},
		{"limit", func() error {
			return syscall.Setrlimit(unix.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1 << 40, Max: 1 << 40})
		}},
	}
}

const atCwd = ^uintptr(99) // unix.AT_FDCWD

// changes is an attempt that came to something if what is known of a path is another
// afterwards, whatever the attempt was told.
func changes(path string, attempt func() error) func() error {
	look := func() (s unix.Stat_t) {
		_ = unix.Stat(path, &s)
		s.Atim = unix.Timespec{} // of reading
		return s
	}
	return func() error {
		before := look()
		err := attempt()
		if look() == before {
			return errors.Join(err, errors.New("nothing changed"))
		}
		return nil
	}
}

func stream(protocol, kind, port int) error {
	fd, err := unix.Socket(unix.AF_INET, kind, protocol)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Connect(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
}

// fast opens a connection with the first data that is sent over it.
func fast(port int, send func(fd int, data []byte, flags int, to unix.Sockaddr) error) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return send(fd, []byte("x"), unix.MSG_FASTOPEN, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
}

// leave starts a process that is to be there when its agent is gone.
func leave(way, tag string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, "survive", tag+"-"+way)
	cmd.Stderr = os.Stderr // which it holds open
	if way != "group" {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	}
	if way == "orphan" { // its parent ends at once, and it belongs to nobody
		cmd.Args[2] = tag + "-parent"
	}
	if err := cmd.Start(); err != nil || way != "orphan" {
		return err
	}
	return cmd.Wait()
}

// survive stays for as long as it is let, but for no longer than a test run.
func survive(tag string) {
	if begin, parent := strings.CutSuffix(tag, "-parent"); parent {
		_ = leave("session", begin+"-orphan")
		return
	}
	if tag == "no longer" {
		return
	}
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	time.Sleep(2 * time.Minute)
}
