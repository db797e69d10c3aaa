package sandbox

import (
	"sync/atomic"
	"time"
)

// A clock measures how long a module runs (fragments 2, time). It is used by one
// goroutine.
type clock struct {
	left    time.Duration
	since   time.Time
	running bool
	timer   *time.Timer
	over    atomic.Bool // the time is used up
}

// start begins with so much time. expire is called, from a goroutine of its own, when
// it is used up.
func (c *clock) start(left time.Duration, expire func()) {
	c.left, c.since, c.running = left, time.Now(), true
	c.timer = time.AfterFunc(left, func() {
		c.over.Store(true)
		expire()
	})
}

// stop makes time stand still and reports whether it ran.
func (c *clock) stop() bool {
	if !c.running {
		return false
	}
	c.running = false
	c.timer.Stop()
	c.left = max(0, c.left-time.Since(c.since))
	return true
}

// resume lets it run again.
func (c *clock) resume() {
	c.since, c.running = time.Now(), true
	c.timer.Reset(c.left)
}
