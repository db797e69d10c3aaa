package capability

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/executable-markdown/xmd/internal/host"
)

// Bounds on one request (F8).
const (
	MaxURL     = 8 << 10  // bytes of the URL as written
	MaxHeaders = 16 << 10 // bytes of all names and values of header fields
	maxHost    = 1 << 10  // bytes of the host as written
)

// NormalizeRequest brings a request into its normal form, the host's and the
// candidate's alike (fragments 7). fetchTimeout is the time limit where the request
// states none; 0 is no limit. The normal form is what is compared, sent and recorded,
// so one request has one spelling. An error says what is wrong and repeats neither
// the URL nor a header's value, which may be secrets.
func NormalizeRequest(r Request, fetchTimeout time.Duration) (Normal, error) {
	var n Normal
	var err error
	if n.Method, err = normalMethod(r.Method); err != nil {
		return Normal{}, err
	}
	if n.URL, n.Private, err = normalURL(r.URL); err != nil {
		return Normal{}, err
	}
	if n.Headers, err = normalHeaders(r.Headers); err != nil {
		return Normal{}, err
	}
	if r.Timeout == 0 {
		r.Timeout = fetchTimeout
	}
	if n.Timeout, err = normalTimeout(r.Timeout); err != nil {
		return Normal{}, err
	}
	return n, nil
}

// Equal reports whether two requests in normal form are the same, in full.
func (n Normal) Equal(other Normal) bool {
	return n.Method == other.Method && n.URL == other.URL && n.Timeout == other.Timeout &&
		n.Private == other.Private && slices.Equal(n.Headers, other.Headers)
}

func normalMethod(written string) (string, error) {
	switch {
	case written == "" || equalASCII(written, "get"):
		return "GET", nil
	case equalASCII(written, "head"):
		return "HEAD", nil
	}
	return "", errors.New("the method is not one a fragment may use; write GET or HEAD")
}

// equalASCII compares with a lower-case text; no letter beyond ASCII equals one of it.
func equalASCII(written, lower string) bool { return lowerASCII(written) == lower }

func lowerASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r | 0x20
		}
		return r
	}, text)
}

func normalTimeout(stated time.Duration) (time.Duration, error) {
	if stated < 0 || stated > 0 && stated < time.Millisecond {
		return 0, errors.New("the timeout is shorter than a millisecond; write a longer one, or none")
	}
	return stated.Truncate(time.Millisecond), nil
}

// normalURL reads a URL by its own characters and trusts no parser: every part is
// made of the few that all readers understand alike, or it is refused.
func normalURL(written string) (normal string, private bool, err error) {
	switch {
	case len(written) > MaxURL:
		return "", false, fmt.Errorf("the URL is longer than %d bytes", MaxURL)
	case !utf8.ValidString(written):
		return "", false, errors.New("the URL is not UTF-8")
	case strings.ContainsFunc(written, func(r rune) bool { return r == ' ' || r == '\\' || hidden(r) }):
		return "", false, errors.New("the URL holds a space, a backslash or a character that cannot be seen; write it percent-encoded, such as %20")
	case strings.Contains(written, "#"):
		return "", false, errors.New("the URL has a fragment, which no server is sent; remove it from the # on")
	}
	scheme, rest, found := strings.Cut(written, "://")
	scheme = lowerASCII(scheme)
	if !found || scheme != "http" && scheme != "https" {
		return "", false, errors.New("the URL is not absolute; begin it with http:// or https://")
	}
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	authority, private, err := normalAuthority(rest[:end], scheme)
	if err != nil {
		return "", false, err
	}
	raw, query, asks := strings.Cut(rest[end:], "?")
	place, err := escape(raw, "/")
	if err != nil {
		return "", false, err
	}
	normal = scheme + "://" + authority + withoutDots(place)
	if asks {
		if query, err = escape(query, "/?"); err != nil {
			return "", false, err
		}
		normal += "?" + query
	}
	return normal, private, nil
}

// normalAuthority is a host and, where it is not the scheme's own, a port.
func normalAuthority(written, scheme string) (normal string, private bool, err error) {
	if strings.ContainsAny(written, "@%") {
		return "", false, errors.New("the URL has a user or a percent sign before its path; remove it")
	}
	name, port, found := written, "", false
	if strings.HasPrefix(written, "[") {
		end := strings.IndexByte(written, ']') + 1
		name = written[:end]
		if port, found = strings.CutPrefix(written[end:], ":"); !found && end < len(written) {
			return "", false, errBadHost
		}
	} else {
		name, port, found = strings.Cut(written, ":")
	}
	if found {
		if port, err = normalPort(port, scheme); err != nil {
			return "", false, err
		}
	}
	if name, private, err = normalHost(name); err != nil {
		return "", false, err
	}
	return name + port, private, nil
}

// normalPort is a colon and the port, or nothing for the port of the scheme.
func normalPort(written, scheme string) (string, error) {
	n, err := strconv.ParseUint(written, 10, 16)
	if err != nil || n == 0 || written[0] == '0' {
		return "", errors.New("the URL has a port that is not one; write 1 to 65535 without leading zeros, or no colon")
	}
	if scheme == "http" && n == 80 || scheme == "https" && n == 443 {
		return "", nil
	}
	return ":" + written, nil
}

var errBadHost = errors.New("the URL names a host that is no host name and no address; write a name such as example.com")

// normalHost is a host name in ASCII, or an address in its shortest form. private
// says that it is an address no public name may lead to.
func normalHost(written string) (normal string, private bool, err error) {
	if inner, bracketed := strings.CutPrefix(written, "["); bracketed {
		inner, closed := strings.CutSuffix(inner, "]")
		address, err := netip.ParseAddr(inner)
		if !closed || err != nil || !address.Is6() || address.Zone() != "" {
			return "", false, errBadHost
		}
		return "[" + address.String() + "]", !host.IsPublic(address), nil
	}
	if len(written) > maxHost {
		return "", false, errBadHost
	}
	name := lowerASCII(written)
	if !isASCII(name) || strings.Contains(name, "xn--") {
		if name, err = idna.Lookup.ToASCII(name); err != nil {
			return "", false, errBadHost
		}
	}
	if !isHostName(name) {
		return "", false, errBadHost
	}
	if last := name[strings.LastIndexByte(name, '.')+1:]; isNumber(last) {
		// Some readers take a name that ends in a number for an address.
		address, err := netip.ParseAddr(name)
		if err != nil {
			return "", false, errBadHost
		}
		return address.String(), !host.IsPublic(address), nil
	}
	return name, false, nil
}

// isHostName reports whether a lower-case text is a host name without a final dot.
func isHostName(name string) bool {
	if len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 {
			return false
		}
		for i := range len(label) {
			if c := label[i]; !isLowerOrDigit(c) && c != '-' && c != '_' {
				return false
			}
		}
	}
	return true
}

func isLowerOrDigit(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }

// isNumber reports whether a label is a number for some reader of addresses: digits,
// or 0x and hexadecimal digits or none.
func isNumber(label string) bool {
	digits, signs := label, "0123456789"
	if rest, is := strings.CutPrefix(label, "0x"); is {
		digits, signs = rest, "0123456789abcdef"
	}
	return strings.Trim(digits, signs) == ""
}

// escape brings the percent-encoding of a path or query into its normal form: what
// needs none is written as itself, and hexadecimal digits are capitals. also lists
// the characters that separate. Letters beyond ASCII are encoded; other characters
// that do not belong there are refused.
func escape(written, also string) (string, error) {
	const capitals = "0123456789ABCDEF"
	var b strings.Builder
	b.Grow(len(written))
	for i := 0; i < len(written); i++ {
		c := written[i]
		switch {
		case c == '%':
			if i+2 >= len(written) || unhex(written[i+1]) < 0 || unhex(written[i+2]) < 0 {
				return "", errors.New("the URL has a percent sign that begins no escape; write it as %25")
			}
			c = byte(unhex(written[i+1])<<4 | unhex(written[i+2]))
			i += 2
			if isUnreserved(c) {
				b.WriteByte(c)
				continue
			}
		case isUnreserved(c) || strings.IndexByte("!$&'()*+,;=:@", c) >= 0 || strings.IndexByte(also, c) >= 0:
			b.WriteByte(c)
			continue
		case c < 0x80:
			return "", errors.New("the URL holds a character that does not belong there; write it percent-encoded, such as %22")
		}
		b.WriteByte('%')
		b.WriteByte(capitals[c>>4])
		b.WriteByte(capitals[c&15])
	}
	return b.String(), nil
}

func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

func isUnreserved(c byte) bool {
	return isLowerOrDigit(c) || 'A' <= c && c <= 'Z' || c == '-' || c == '.' || c == '_' || c == '~'
}

// withoutDots resolves the segments . and .. of an escaped path as every client does.
// Empty segments stay: they name something of their own.
func withoutDots(place string) string {
	if place == "" {
		return "/"
	}
	var kept []string
	segments := strings.Split(place[1:], "/")
	for i, segment := range segments {
		switch segment {
		case "..":
			kept = kept[:max(len(kept)-1, 0)]
		case ".":
		default:
			kept = append(kept, segment)
			continue
		}
		if i == len(segments)-1 {
			kept = append(kept, "") // a directory ends in a slash
		}
	}
	return "/" + strings.Join(kept, "/")
}

// normalHeaders sorts fields by their lower-case names.
func normalHeaders(written map[string]string) ([]Header, error) {
	list := make([]Header, 0, len(written))
	size := 0
	for _, spelled := range slices.Sorted(maps.Keys(written)) {
		name, text := lowerASCII(spelled), strings.Trim(written[spelled], " ")
		switch {
		case !isToken(name):
			return nil, errors.New("a header has a name that is not one; use letters, digits and hyphens")
		case belongsToConnection(name):
			return nil, fmt.Errorf("the header %.40s belongs to the connection; remove it", name)
		case !utf8.ValidString(text) || strings.ContainsFunc(text, isControl):
			return nil, fmt.Errorf("the value of the header %.40s holds a control character or is not UTF-8; remove what does not belong", name)
		}
		if size += len(name) + len(text); size > MaxHeaders {
			return nil, fmt.Errorf("the headers are longer than %d bytes together", MaxHeaders)
		}
		list = append(list, Header{Name: name, Value: text})
	}
	slices.SortFunc(list, func(a, b Header) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(list); i++ {
		if list[i].Name == list[i-1].Name {
			return nil, fmt.Errorf("the header %.40s is written twice; write it once", list[i].Name)
		}
	}
	return list, nil
}

func isControl(r rune) bool { return r < ' ' || 0x7f <= r && r < 0xa0 }

// isToken reports whether a lower-case text can be the name of a header field.
func isToken(name string) bool {
	for i := range len(name) {
		if c := name[i]; !isLowerOrDigit(c) && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return name != ""
}

// belongsToConnection reports whether a header describes the connection or decides
// where the request goes, so that the URL would no longer say it.
func belongsToConnection(name string) bool {
	switch name {
	case "connection", "content-length", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade":
		return true
	}
	return strings.HasPrefix(name, "proxy-")
}
