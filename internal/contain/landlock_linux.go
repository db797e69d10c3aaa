package contain

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

const (
	rightsToRead  = llsys.AccessFSReadFile | llsys.AccessFSReadDir
	rightsToRun   = rightsToRead | llsys.AccessFSExecute
	rightsToUse   = llsys.AccessFSReadFile | llsys.AccessFSWriteFile | llsys.AccessFSTruncate
	rightsToWrite = rightsToRead | rightsToUse | llsys.AccessFSRemoveDir | llsys.AccessFSRemoveFile | llsys.AccessFSMakeDir |
		llsys.AccessFSMakeReg | llsys.AccessFSMakeSock | llsys.AccessFSMakeFifo | llsys.AccessFSMakeSym | llsys.AccessFSRefer
	rightsOfFile = llsys.AccessFSExecute | llsys.AccessFSReadFile | llsys.AccessFSWriteFile | llsys.AccessFSTruncate
)

// restrict has Landlock refuse this process and all it starts whatever the orders do
// not open (agents 17.2): files from version 3 on, TCP ports from 4, signals and
// abstract sockets of others from 6.
//
// It is applied as it stands or it fails. A best effort would succeed on a kernel that
// enforces nothing.
func restrict(o orders) error {
	rules, err := pathRules(o.Rules)
	if err != nil {
		return err
	}
	for _, port := range o.Ports {
		if o.ABI >= 4 {
			rules = append(rules, landlock.ConnectTCP(uint16(port)))
		}
	}
	config := landlock.V3
	switch {
	case o.ABI >= 6:
		config = landlock.V6
	case o.ABI >= 4:
		config = landlock.V4
	case o.ABI < leastABI:
		return fmt.Errorf("landlock: version %d is too old", o.ABI)
	}
	// Only this thread is restricted, and it is the one that becomes the program.
	fd, flags, err := config.NewRulesetFD(rules...)
	if err == nil {
		err = llsys.LandlockRestrictSelf(fd, flags)
	}
	if err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	return nil
}

func pathRules(list []rule) ([]landlock.Rule, error) {
	var rules []landlock.Rule
	for _, r := range list {
		info, err := os.Stat(r.Path)
		if err != nil && r.Optional {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("a path the agent needs cannot be opened to it: %w", withoutPath(err))
		}
		var rights landlock.AccessFSSet
		switch r.Access {
		case toRun:
			rights = rightsToRun
		case toRead:
			rights = rightsToRead
		case toWrite:
			rights = rightsToWrite
		case toUse:
			rights = rightsToUse
		case toList:
			rights = llsys.AccessFSReadDir
		default:
			return nil, fmt.Errorf("there is no access %q", r.Access)
		}
		if !info.IsDir() {
			rights &= rightsOfFile
		}
		if rights != 0 {
			rules = append(rules, landlock.PathAccess(rights, r.Path))
		}
	}
	return rules, nil
}

// withoutPath is what a failure says without the path it is about, which is private.
func withoutPath(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
