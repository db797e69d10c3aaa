package host

import (
	"bytes"
	"context"
	"io/fs"
	"os"
)

// An Owned is a file that was opened and who may change it, judged by the handle and
// not by the path.
type Owned struct {
	Data  []byte
	Mode  fs.FileMode
	Owner uint32 // user id; of the invoker where the system knows none
}

// ReadOwned reads a whole regular file that decides what runs. The error is
// fs.ErrNotExist when there is none, and of a file that is no regular one Data is nil.
// At most MaxTraceSize bytes are read.
func ReadOwned(path string) (Owned, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return Owned{}, failure(OpSource, PhaseTarget, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return Owned{}, failure(OpSource, PhaseTarget, err)
	}
	owned := Owned{Mode: info.Mode(), Owner: ownerOf(info)}
	if !info.Mode().IsRegular() {
		return owned, nil
	}
	var data bytes.Buffer
	if err := readRegular(context.Background(), OpSource, file, &data, MaxTraceSize); err != nil {
		return Owned{}, err
	}
	owned.Data = data.Bytes()
	return owned, nil
}

// Invoker is the user id of this process.
func Invoker() uint32 { return uint32(max(0, os.Geteuid())) }
