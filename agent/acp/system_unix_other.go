//go:build unix && !linux

package acp

import "syscall"

func dieWithParent(*syscall.SysProcAttr) {}

func awaitExit(int) {}
