//go:build unix

package host

import (
	"bytes"
	"os"
	"syscall"
)

func processGroup() int { return syscall.Getpgrp() }

// noNewPrivs asks the kernel by way of a file only Linux has.
func noNewPrivs() bool {
	status, err := os.ReadFile("/proc/self/status")
	return err == nil && bytes.Contains(status, []byte("\nNoNewPrivs:\t1\n"))
}
