package contain

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// moreProcesses is how many processes and threads an agent may have besides those its
// user has already.
const moreProcesses = 256

// bound limits what the program can use up (agents 17.1). Memory and processor time
// have no limit: runtimes reserve address space they never use, and a deadline bounds
// time.
func bound() error {
	limits := []struct {
		resource int
		most     uint64
	}{
		{unix.RLIMIT_CORE, 0},
		{unix.RLIMIT_NOFILE, 1024},
		{unix.RLIMIT_FSIZE, 256 << 20},
	}
	if uid := os.Getuid(); uid != 0 { // the kernel does not count those of root
		limits = append(limits, struct {
			resource int
			most     uint64
		}{unix.RLIMIT_NPROC, uint64(tasks(uint32(uid)) + moreProcesses)})
	}
	for _, l := range limits {
		var now syscall.Rlimit
		if err := syscall.Getrlimit(l.resource, &now); err != nil {
			return fmt.Errorf("limits: %w", err)
		}
		most := min(l.most, now.Max)
		// The package syscall, which would otherwise give the program the limit of open
		// files back that it found.
		if err := syscall.Setrlimit(l.resource, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
			return fmt.Errorf("limits: %w", err)
		}
	}
	return nil
}

// tasks counts the processes and threads of a user, as far as they can be seen.
func tasks(uid uint32) int {
	n := 0
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue
		}
		if owner, ok := info.Sys().(*syscall.Stat_t); !ok || owner.Uid != uid {
			continue
		}
		threads, _ := os.ReadDir(filepath.Join("/proc", e.Name(), "task"))
		n += len(threads)
	}
	return n
}
