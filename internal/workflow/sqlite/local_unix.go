//go:build unix && !linux

package sqlite

func local(string) error { return nil }
