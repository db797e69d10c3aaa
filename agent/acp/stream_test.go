package acp

import (
	"bufio"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// TestAG19_WhoReadsNoAnswersIsNotHeard: a peer that asks and asks and never reads what it
// is answered costs no more memory than one burst.
func TestAG19_WhoReadsNoAnswersIsNotHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers, peer := io.Pipe()
		out := newOutbound(peer)
		line := `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", burstBytes) + `","method":"fs/read_text_file"}` + "\n"
		ready := make(chan struct{})
		close(ready)
		in := newInbound(strings.NewReader(line+line+line), ready, out)
		go func() { _, _ = out.Write([]byte("an answer\n")) }()
		var heard atomic.Int64
		one := int64(len(line) + len(markLine))
		go func() {
			for lines := bufio.NewReaderSize(in, 64<<10); ; {
				text, err := lines.ReadString('\n')
				if heard.Add(int64(len(text))); text == markLine {
					signal(in.marked) // as whoever handles the mark does
				}
				if err != nil {
					return
				}
			}
		}()
		synctest.Wait()
		require.Equal(t, one, heard.Load(), "nothing behind the first burst")
		go func() { _, _ = io.Copy(io.Discard, answers) }()
		synctest.Wait()
		require.GreaterOrEqual(t, heard.Load(), 3*one, "all of it, and that it ended")
		require.NoError(t, answers.Close())
	})
}
