package acp

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// put makes a file, with its directories.
func put(t *testing.T, path, text string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o755))
	return path
}

func lead(t *testing.T, to, path string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.Symlink(to, path))
	return path
}

// TestAG17_WhatACommandConsistsOf: the program and what runs and loads it are opened to
// an agent, and no directory of a person as a whole.
func TestAG17_WhatACommandConsistsOf(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	home := filepath.Join(base, "people", "ada")
	node := put(t, filepath.Join(home, ".nvm", "v20", "bin", "node"), "\x7fELF")
	put(t, filepath.Join(home, ".nvm", "v20", "lib", "node"), "")
	modules := filepath.Join(home, ".nvm", "v20", "lib", "node_modules")
	adapter := put(t, filepath.Join(modules, "@x", "adapter", "node_modules", "y", "dist", "index.js"), "#!/usr/bin/env -S node --flag\n")
	command := lead(t, adapter, filepath.Join(home, ".nvm", "v20", "bin", "adapter"))
	lone := put(t, filepath.Join(home, "agent"), "\x7fELF")
	source := filepath.Join(home, "src", "agent")
	put(t, filepath.Join(source, "package.json"), "{}")
	script := put(t, filepath.Join(source, "dist", "main.js"), "")
	stray := put(t, filepath.Join(home, "stray.js"), "")
	put(t, filepath.Join(home, "package.json"), "{}") // of the home itself
	shell := put(t, filepath.Join(home, "run"), "#!"+lone+" -x\n")
	itself := filepath.Join(home, "itself")
	put(t, itself, "#!"+itself+"\n")
	settings := put(t, filepath.Join(home, "settings.toml"), "")
	look := func(name string) (string, error) {
		if name == "node" {
			return node, nil
		}
		return "", errors.New("none")
	}
	nvm := filepath.Join(home, ".nvm", "v20")
	own := []string{node, filepath.Join(nvm, "bin"), filepath.Join(nvm, "lib")}
	for name, c := range map[string]struct {
		argv        []string
		paths, dirs []string
	}{
		"a linked adapter of a version manager": {[]string{command}, append([]string{modules}, own...), []string{filepath.Join(nvm, "bin")}},
		"a program alone":                       {[]string{lone}, []string{lone}, []string{home}},
		"a script of a package":                 {[]string{node, "--flag", script}, append(append([]string{}, own...), source), []string{filepath.Join(nvm, "bin")}},
		"a script of nobody's":                  {[]string{node, stray}, append(append([]string{}, own...), stray), []string{filepath.Join(nvm, "bin")}},
		"a file it is given":                    {[]string{lone, "serve", "--settings", settings}, []string{lone, settings}, []string{home}},
		"an interpreter with a path":            {[]string{shell}, []string{shell, lone}, []string{home}},
		"its own interpreter":                   {[]string{itself}, []string{itself}, []string{home}},
		"nothing":                               {[]string{filepath.Join(home, "none")}, nil, []string{home}},
	} {
		t.Run(name, func(t *testing.T) {
			got := installed(c.argv, look, []string{home})
			require.Equal(t, c.paths, got.paths)
			for _, dir := range c.dirs {
				require.Contains(t, got.dirs, dir)
			}
			require.NotContains(t, got.paths, home)
		})
	}
}

func TestWideDirectories(t *testing.T) {
	for dir, want := range map[string]bool{
		"/": true, "/tmp": true, "/opt": true, "/home": true, "/home/ada": true, "/home/bob": true, "/Users/eve": true,
		"/data": true, "/data/ada": true, "/data/ada/src": false, "/opt/agent": false, "/home/ada/src": false,
	} {
		require.Equal(t, want, wide(dir, []string{"/data/ada"}), dir)
	}
}

// TestAHomeGoesWhateverIsInIt, also when its directories were closed.
func TestAHomeGoesWhateverIsInIt(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { _ = root.Close() })
	h, err := settle(root, "h", Profile{}, "")
	require.NoError(t, err)
	put(t, filepath.Join(h.path, "a", "b", "c"), "")
	require.NoError(t, os.Chmod(filepath.Join(h.path, "a", "b"), 0))
	require.NoError(t, os.Chmod(filepath.Join(h.path, "a"), 0))
	require.NoError(t, h.remove())
	require.NoDirExists(t, h.path)
}
