package capability

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// core is the origin of the operations this package ships.
const core = "xmd.core"

// Bounds of the parts of an identity. They keep the text form short enough for a
// name in a module and in a record.
const (
	maxIdentityPart = 128     // bytes of the origin, and of the key
	maxRevision     = 999_999 // a small number that a person raises
)

// An Identity pins an operation: who owns it, which it is, and which meaning of it
// (fragments 3). It is stated, never derived from code: raising the revision is how
// an owner says that what the operation authorises has changed, and makes every
// retained admission under the older one refuse to continue.
type Identity struct {
	Origin   string // who owns the implementation: xmd.core, or a reverse domain
	Key      string // which operation, such as File.read
	Revision int    // from 1
}

// String is the text form, origin/key@revision.
func (id Identity) String() string {
	return id.Origin + "/" + id.Key + "@" + strconv.Itoa(id.Revision)
}

// ParseIdentity reads the text form that String writes, and no other: for every
// accepted text, the String of the result is that text.
func ParseIdentity(text string) (Identity, error) {
	origin, rest, _ := strings.Cut(text, "/")
	key, number, _ := strings.Cut(rest, "@")
	revision, err := strconv.Atoi(number)
	id := Identity{Origin: origin, Key: key, Revision: revision}
	if err != nil || id.validate() != nil || id.String() != text {
		return Identity{}, fmt.Errorf("%.80q is no identity: write origin/key@revision, such as %s", text, Identity{core, "File.read", 1})
	}
	return id, nil
}

// validate refuses what has no unambiguous text form. The form can never be
// mistaken for one of the evaluation's own import modules, which have a colon.
func (id Identity) validate() error {
	switch {
	case id.Origin == "":
		return errors.New("its identity has no origin; name who owns the operation, such as com.example")
	case id.Key == "":
		return errors.New("its identity has no key; name the operation, such as File.read")
	case id.Revision == 0:
		return errors.New("its identity has no revision; begin with 1")
	case id.Revision < 0 || id.Revision > maxRevision:
		return fmt.Errorf("the revision %d of its identity is not between 1 and %d", id.Revision, maxRevision)
	case !dotted(id.Origin, isOriginByte):
		return fmt.Errorf("the origin %.40q of its identity is not dotted words of lower-case letters, digits and hyphens", id.Origin)
	case !dotted(id.Key, isKeyByte):
		return fmt.Errorf("the key %.40q of its identity is not dotted words of letters, digits and underscores", id.Key)
	}
	return nil
}

// dotted reports whether text is one or more non-empty words of accepted bytes,
// separated by dots, within the bound on a part.
func dotted(text string, accepted func(c byte) bool) bool {
	word := 0
	for i := range len(text) {
		switch {
		case accepted(text[i]):
			word++
		case text[i] == '.' && word > 0:
			word = 0
		default:
			return false
		}
	}
	return word > 0 && len(text) <= maxIdentityPart
}

func isOriginByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-'
}

func isKeyByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}
