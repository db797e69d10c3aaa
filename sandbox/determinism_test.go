package sandbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/sandbox"
)

// everything runs all programs and writes down what they came to.
func everything(t *testing.T) string {
	var report strings.Builder
	r := interpreter(t)
	for _, m := range meanings() {
		w := newWorld()
		got, err := r.Run(t.Context(), compile(t, program(m.write)), w.grant(t, capability.Limits{}), sandbox.Hooks{})
		fmt.Fprintf(&report, "%s: %q %d steps %d bytes %q %v", m.name, got.Output, got.Steps, got.Values, w.done(), err)
		for _, o := range got.Observations {
			seen, err := value.JSON(o.Value)
			require.NoError(t, err)
			fmt.Fprintf(&report, " %s=%s", o.Name, seen)
		}
		report.WriteByte('\n')
	}
	return report.String()
}

const reportMark = "report of everything:\n"

// TestA16_TwoProcessesComeToTheSame runs all programs here and in another process,
// which has another time zone, another locale, other map seeds and one processor.
func TestA16_TwoProcessesComeToTheSame(t *testing.T) {
	report := everything(t)
	if os.Getenv("XMD_SANDBOX_REPORT") != "" {
		fmt.Print(reportMark + report)
		return
	}
	require.Equal(t, report, everything(t))
	other := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestA16_TwoProcessesComeToTheSame$")
	other.Env = append(os.Environ(), "XMD_SANDBOX_REPORT=1", "TZ=Asia/Tokyo", "LANG=tr_TR.UTF-8", "LC_ALL=tr_TR.UTF-8", "GOMAXPROCS=1")
	out, err := other.Output()
	require.NoError(t, err)
	_, theirs, found := strings.Cut(string(out), reportMark)
	require.True(t, found)
	require.True(t, strings.HasPrefix(theirs, report), "%s", theirs)
}
