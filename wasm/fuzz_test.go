package wasm

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// engines are wazero's two, restricted to core 1.0, without any memory.
func engines(t testing.TB) map[string]wazero.Runtime {
	t.Helper()
	all := map[string]wazero.Runtime{}
	for name, config := range map[string]wazero.RuntimeConfig{
		"interpreter": wazero.NewRuntimeConfigInterpreter(),
		"compiler":    wazero.NewRuntimeConfig(),
	} {
		rt := wazero.NewRuntimeWithConfig(t.Context(), config.WithCoreFeatures(api.CoreFeaturesV1))
		t.Cleanup(func() { _ = rt.Close(context.Background()) })
		all[name] = rt
	}
	return all
}

// choices are bytes a generator builds a program out of, of varying length, the first
// ones such that the program is not over at once.
func choices(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, r.IntN(3000))
	for i := range b {
		b[i] = byte(r.Uint32())
		if i == 0 {
			b[i] |= 7
		}
	}
	return b
}

func requireRoundTrip(t *testing.T, p *Program) *Module {
	t.Helper()
	m, err := Compile(p)
	require.NoError(t, err)
	again, err := Compile(p)
	require.NoError(t, err)
	require.Equal(t, m, again)
	read, err := Read(m.Bytes)
	require.NoError(t, err)
	require.Equal(t, m, read)
	return m
}

func TestRandomProgramsAreReadBackAndAcceptedByBothEngines(t *testing.T) {
	all := engines(t)
	for seed := range uint64(150) {
		m := requireRoundTrip(t, generate(choices(seed)))
		for name, rt := range all {
			if name == "compiler" && seed >= 30 { // it takes its time
				continue
			}
			compiled, err := rt.CompileModule(t.Context(), m.Bytes)
			require.NoError(t, err, "%s, seed %d", name, seed)
			require.NoError(t, compiled.Close(t.Context()))
		}
	}
}

// Tools of others accept the modules too, where they are installed.
func TestWabtAcceptsModules(t *testing.T) {
	validate, err := exec.LookPath("wasm-validate")
	if err != nil {
		t.Skip("wasm-validate of wabt is not installed")
	}
	core := []string{
		"--disable-sign-extension", "--disable-multi-value", "--disable-bulk-memory", "--disable-reference-types",
		"--disable-simd", "--disable-saturating-float-to-int",
	}
	for seed := range uint64(10) {
		m, err := Compile(generate(choices(seed)))
		require.NoError(t, err)
		file := filepath.Join(t.TempDir(), "module.wasm")
		require.NoError(t, os.WriteFile(file, m.Bytes, 0o600))
		out, err := exec.CommandContext(t.Context(), validate, append(core, file)...).CombinedOutput()
		require.NoError(t, err, string(out))
	}
}

func FuzzCompile(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(choices(seed))
	}
	rt := engines(f)["interpreter"]
	f.Fuzz(func(t *testing.T, choices []byte) {
		m := requireRoundTrip(t, generate(choices))
		compiled, err := rt.CompileModule(t.Context(), m.Bytes)
		require.NoError(t, err)
		require.NoError(t, compiled.Close(t.Context()))
	})
}

// FuzzRead changes modules at random places: whatever Read accepts is a module
// wazero accepts too, and is what it says it is.
func FuzzRead(f *testing.F) {
	for seed := range uint64(40) {
		m, err := Compile(generate(choices(seed)))
		require.NoError(f, err)
		f.Add(m.Bytes, uint32(seed), byte(seed))
	}
	f.Add([]byte{}, uint32(0), byte(0))
	f.Add([]byte(header), uint32(0), byte(0))
	rt := engines(f)["interpreter"]
	f.Fuzz(func(t *testing.T, data []byte, at uint32, change byte) {
		data = bytes.Clone(data)
		if len(data) > 0 {
			data[int(at)%len(data)] ^= change
		}
		m, err := Read(data)
		if err != nil {
			var wrong *FormatError
			require.True(t, errors.As(err, &wrong))
			require.GreaterOrEqual(t, wrong.Offset, 0)
			require.LessOrEqual(t, wrong.Offset, len(data))
			return
		}
		require.Equal(t, data, m.Bytes)
		require.Equal(t, digest(data), m.Digest)
		compiled, err := rt.CompileModule(t.Context(), data)
		require.NoError(t, err)
		require.Len(t, compiled.ImportedFunctions(), len(m.Imports))
		require.NoError(t, compiled.Close(t.Context()))
	})
}
