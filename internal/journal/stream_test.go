package journal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A fakeFile counts writes and fails on demand.
type fakeFile struct {
	bytes.Buffer
	writes, syncs int
	short         bool
	failAt        int // the write that fails, from 1
	syncErr       error
}

var errDisk = errors.New("no space left on device")

func (f *fakeFile) Write(p []byte) (int, error) {
	f.writes++
	if f.writes == f.failAt {
		if f.short {
			return f.Buffer.Write(p[:len(p)/2])
		}
		return 0, errDisk
	}
	return f.Buffer.Write(p)
}

func (f *fakeFile) Sync() error { f.syncs++; return f.syncErr }

func TestLinesWriteOneRecordAtATime(t *testing.T) {
	file := &fakeFile{}
	lines := NewLines(file)
	for range 3 {
		require.NoError(t, lines.Append(context.Background(), sampleEvent()))
	}
	require.Equal(t, 3, file.writes)
	require.Zero(t, file.syncs)
	require.NoError(t, lines.Sync())
	require.Equal(t, 1, file.syncs)

	events, torn, err := ParseLines(file.Bytes())
	require.NoError(t, err)
	require.Empty(t, torn)
	require.Equal(t, []Event{sampleEvent(), sampleEvent(), sampleEvent()}, events)

	loaded, err := NewLines(file, events...).Load(context.Background())
	require.NoError(t, err)
	require.Equal(t, events, loaded)
}

func TestSyncedLinesSyncEachRecord(t *testing.T) {
	file := &fakeFile{}
	lines := NewSyncedLines(file)
	require.NoError(t, lines.Append(context.Background(), sampleEvent()))
	require.NoError(t, lines.Append(context.Background(), sampleEvent()))
	require.Equal(t, 2, file.syncs)

	file.syncErr = errDisk
	require.ErrorIs(t, lines.Append(context.Background(), sampleEvent()), errDisk)
}

func TestAFailedLineIsTheLast(t *testing.T) {
	for _, short := range []bool{false, true} {
		file := &fakeFile{failAt: 2, short: short}
		lines := NewLines(file)
		require.NoError(t, lines.Append(context.Background(), sampleEvent()))
		err := lines.Append(context.Background(), sampleEvent())
		want := errDisk
		if short {
			want = io.ErrShortWrite
		}
		require.ErrorIs(t, err, want)
		require.ErrorIs(t, lines.Append(context.Background(), sampleEvent()), want)
		require.Equal(t, 2, file.writes, "nothing is written behind a torn line")
		events, torn, err := ParseLines(file.Bytes())
		require.NoError(t, err)
		require.Len(t, events, 1)
		require.Equal(t, short, len(torn) > 0)
	}
}

func TestParseLines(t *testing.T) {
	whole := golden[0] + "\n" + golden[1] + "\n"
	for _, c := range []struct {
		name, data string
		events     int
		torn, err  string
	}{
		{"empty", "", 0, "", ""},
		{"whole", whole, 2, "", ""},
		{"torn", whole + golden[2], 2, golden[2], ""},
		{"torn rubbish", whole + "{\xff", 2, "{\xff", ""},
		{"damaged", golden[0] + "\n{}\n" + golden[1] + "\n", 1, "", "line 2 of the journal is damaged"},
		{"blank line", golden[0] + "\n\n", 1, "", "line 2 of the journal is damaged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			events, torn, err := ParseLines([]byte(c.data))
			require.Len(t, events, c.events)
			require.Equal(t, c.torn, string(torn))
			if c.err == "" {
				require.NoError(t, err)
				return
			}
			var malformed *MalformedError
			require.ErrorAs(t, err, &malformed)
			require.ErrorContains(t, err, c.err)
		})
	}
}

func TestEveryCutOfAFileIsReadable(t *testing.T) {
	whole := strings.Join(golden, "\n") + "\n"
	for end := range len(whole) + 1 {
		events, torn, err := ParseLines([]byte(whole[:end]))
		require.NoError(t, err)
		require.Len(t, events, strings.Count(whole[:end], "\n"))
		require.Equal(t, end-strings.LastIndexByte(whole[:end], '\n')-1, len(torn))
	}
}
