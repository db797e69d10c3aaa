package interop

import (
	"testing"

	"golang.org/x/sys/unix"
)

// needsKernel skips a test where the kernel cannot hold a program: it asks the kernel,
// and not the command.
func needsKernel(t *testing.T) {
	t.Helper()
	version, _, failed := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if failed != 0 || version < 3 {
		t.Skip("an agent without a profile is held to the ceiling by Landlock, of version 3 or later, and this kernel has none")
	}
}
