//go:build unix && !linux

package interop

import "testing"

// needsKernel skips a test: only Linux can hold a program.
func needsKernel(t *testing.T) {
	t.Helper()
	t.Skip("an agent without a profile is held to the ceiling by Landlock, which is Linux's")
}
