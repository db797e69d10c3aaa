//go:build !unix

package host

func processGroup() int { return 0 }

func noNewPrivs() bool { return false }
