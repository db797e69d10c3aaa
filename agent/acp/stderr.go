package acp

import (
	"io"
	"strings"
	"sync"
	"unicode"
)

const (
	ringSize = 64 << 10 // bytes kept of a program's standard error
	tailSize = 2 << 10  // bytes of it a diagnostic shows at most
)

// A ring keeps the end of what is written to it. It is safe for concurrent use.
type ring struct {
	tee io.Writer // gets everything as well; may be nil

	mu  sync.Mutex
	buf []byte
}

func (r *ring) Write(p []byte) (int, error) {
	if r.tee != nil {
		_, _ = r.tee.Write(p)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.buf = append(r.buf, p[max(0, len(p)-ringSize):]...)
	if len(r.buf) > 2*ringSize {
		r.buf = append(r.buf[:0], r.buf[len(r.buf)-ringSize:]...)
	}
	return len(p), nil
}

func (r *ring) bytes() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]byte(nil), r.buf[max(0, len(r.buf)-ringSize):]...)
}

// tail is the end of a program's standard error as a person may be shown it: without
// control characters, without words that look like credentials or hold the value of
// a secret, and with private homes shortened (agents 14.2).
func tail(text []byte, secrets []string, homes []string) string {
	s := string(text)
	for _, secret := range secrets {
		if len(secret) >= 6 {
			s = strings.ReplaceAll(s, secret, "***")
		}
	}
	for _, home := range homes {
		if len(home) > 1 {
			s = strings.ReplaceAll(s, home, "~")
		}
	}
	if len(s) > tailSize {
		s = s[len(s)-tailSize:]
		if _, rest, found := strings.Cut(s, "\n"); found {
			s = rest // a cut first line could show the middle of a secret
		}
	}
	var b strings.Builder
	for i, line := range strings.Split(strings.ToValidUTF8(s, "?"), "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		masked := false
		for j, word := range strings.Split(line, " ") {
			if j > 0 {
				b.WriteByte(' ')
			}
			// What follows "Bearer" or "api_key:" is the credential itself.
			if masked && word != "" || credential(word) {
				word, masked = "***", false
			} else if word != "" {
				masked = announces(word)
			}
			b.WriteString(printable(word, tailSize))
		}
	}
	return strings.TrimSpace(b.String())
}

// credential says whether a word looks like a secret: a known prefix of a token, or
// an assignment to a name that speaks of one.
func credential(word string) bool {
	bare := strings.TrimLeft(word, `"'(<[{`)
	for _, prefix := range []string{"sk-", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "AKIA", "AIza", "eyJ", "ya29."} {
		if strings.HasPrefix(bare, prefix) && len(bare) >= len(prefix)+8 {
			return true
		}
	}
	i := strings.IndexAny(word, "=:")
	if i <= 0 || i == len(word)-1 {
		return false
	}
	return secretName(word[:i])
}

func announces(word string) bool {
	name := strings.TrimRight(word, ":=")
	return strings.EqualFold(name, "bearer") || name != word && secretName(name)
}

func secretName(name string) bool {
	name = strings.ToLower(name)
	for _, part := range []string{"token", "secret", "password", "passwd", "api_key", "apikey", "api-key", "authorization", "credential"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// printable replaces control, format and unprintable characters and cuts the text to
// a number of bytes, at a character.
func printable(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if r != '\t' && !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "")
	}
	return s
}
