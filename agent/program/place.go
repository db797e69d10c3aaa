package program

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"

	"github.com/executable-markdown/xmd/agent"
)

// A place is one conversation of a provider, whether or not it has begun.
type place struct {
	session *agent.Session
	agent   string
	command agent.Command
	name    string // empty: it ends with the run
	queue   queue  // one turn at a time, in the order they came

	// The rest belongs to whoever holds the queue.
	talk   *conversation // nil: no process serves it
	id     string        // the peer's name for it, once it was accepted
	record *record       // held while the conversation is ours; nil: none
}

// place finds or makes the place of a name. A place is issued once a key, so its
// session is one pointer (agents 3.1).
func (p *Provider) place(name, session, cwd string) (*place, error) {
	name, command, err := p.resolve(name)
	if err != nil {
		return nil, err
	}
	key, dir := p.key(command, session, cwd)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed
	}
	s := p.places[key]
	if s == nil {
		s = &place{
			session: &agent.Session{Key: key, Cwd: dir, Owner: p, Agent: command.Digest()},
			agent:   name, command: command, name: session,
		}
		p.places[key] = s
	}
	return s, nil
}

// placed finds the place of a session somebody holds.
func (p *Provider) placed(s *agent.Session) (*place, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.places[s.Key]
	return at, at != nil && at.session == s
}

// key is the provider-neutral key of a conversation, and the directory it lives in:
// the nearest one, up to the repository's, that keeps a conversation of the name, else
// the one of the document (agents 12.2).
func (p *Provider) key(c agent.Command, name, cwd string) (key, dir string) {
	if name != "" && p.Sessions != nil {
		for _, dir := range upToRepository(cwd) {
			if key := keyOf(c, name, dir); p.Sessions.has(key) {
				return key, dir
			}
		}
	}
	return keyOf(c, name, cwd), cwd
}

func keyOf(c agent.Command, name, dir string) string {
	last := "default"
	if name != "" {
		last = digest(name)
	}
	return "xmd:v1:" + digest(c.Identity()) + ":" + digest(dir) + ":" + last
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// upToRepository lists a directory and those above it up to the first that holds .git;
// outside a repository only the directory itself.
func upToRepository(dir string) []string {
	var dirs []string
	for at := dir; ; {
		dirs = append(dirs, at)
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return dirs
		}
		above := filepath.Dir(at)
		if above == at {
			return []string{dir}
		}
		at = above
	}
}

// release ends the process of the place and gives its record back.
func (s *place) release(ctx context.Context) error {
	err := s.hangUp(ctx)
	s.record.release()
	s.record = nil
	return err
}

func (s *place) hangUp(ctx context.Context) error {
	if s.talk == nil {
		return nil
	}
	talk := s.talk
	s.talk = nil
	return talk.end(ctx)
}
