//go:build unix

package host

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// processGroup is the group under the number it has for the machine. A process that is
// contained may be told another number, which would be somebody else's out there; the
// files of the machine about processes have the one that counts.
func processGroup() int {
	stat, err := os.ReadFile("/proc/self/stat") // number (name) state parent group
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if err != nil || len(fields) < 3 {
		return syscall.Getpgrp()
	}
	group, err := strconv.Atoi(string(fields[2]))
	if err != nil {
		return syscall.Getpgrp()
	}
	return group
}

// noNewPrivs asks the kernel by way of a file only Linux has.
func noNewPrivs() bool {
	status, err := os.ReadFile("/proc/self/status")
	return err == nil && bytes.Contains(status, []byte("\nNoNewPrivs:\t1\n"))
}
