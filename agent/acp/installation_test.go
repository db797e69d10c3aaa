package acp

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/agent"
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

// TestAG17_TheProjectIsNoInstallation: an adapter that lies in the directory an agent is
// started from does not open that directory to it, whatever package it says it is of.
func TestAG17_TheProjectIsNoInstallation(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	project := filepath.Join(base, "project")
	put(t, filepath.Join(project, "package.json"), "{}")
	script := put(t, filepath.Join(project, "tools", "agent.js"), "")
	node := put(t, filepath.Join(base, "bin", "node"), "\x7fELF")
	homes, err := os.OpenRoot(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { _ = homes.Close() })
	directories, err := os.OpenRoot(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { _ = directories.Close() })
	runtime := func(caller string) []string {
		c := CeilingOptions{Homes: homes, Caller: caller, LookPath: func(string) (string, error) { return "", errors.New("none") }}.core()
		c.ceiling.directory, err = claim(directories, rand.Text(), false)
		require.NoError(t, err)
		command := agent.Command{Agent: "a", Argv: []string{node, script}}
		l, remove, err := c.ceiling.launch(c, command, Launch{Argv: command.Argv}, rand.Text())
		require.NoError(t, err)
		require.NoError(t, remove())
		return l.Paths.Runtime
	}
	require.Contains(t, runtime(filepath.Join(base, "elsewhere")), project)
	for _, caller := range []string{project, filepath.Join(project, "docs")} {
		opened := runtime(caller)
		require.NotContains(t, opened, project)
		require.Contains(t, opened, script)
	}
}

// TestAG16_AHomeIsCompletedThroughNoLink: what an agent left in its kept home leads
// nothing elsewhere.
func TestAG16_AHomeIsCompletedThroughNoLink(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { _ = root.Close() })
	profile := Profile{Files: map[string]string{".config/agent/settings": "ours"}}
	other, err := settle(root, "other", Profile{}, "")
	require.NoError(t, err)
	for name, harm := range map[string]func(home string) error{
		"a link to another home": func(home string) error {
			return os.Symlink(filepath.Join("..", "other", ".config"), filepath.Join(home, ".config"))
		},
		"a link to nowhere": func(home string) error { return os.Symlink("nowhere", filepath.Join(home, ".config")) },
		"a file":            func(home string) error { return os.WriteFile(filepath.Join(home, ".config"), nil, 0o600) },
		"a closed directory": func(home string) error {
			return errors.Join(os.MkdirAll(filepath.Join(home, ".config", "agent"), 0o700), os.Chmod(filepath.Join(home, ".config"), 0))
		},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := settle(root, "mine", profile, "")
			require.NoError(t, err)
			require.NoError(t, os.RemoveAll(filepath.Join(h.path, ".config")))
			require.NoError(t, harm(h.path))
			h, err = settle(root, "mine", profile, "")
			require.NoError(t, err)
			text, err := os.ReadFile(filepath.Join(h.path, ".config", "agent", "settings"))
			require.NoError(t, err)
			require.Equal(t, "ours", string(text))
			left, err := os.ReadDir(filepath.Join(other.path, ".config"))
			require.NoError(t, err)
			require.Empty(t, left)
			require.NoError(t, h.remove())
		})
	}
}
