package capability

import (
	"fmt"
	"math"
	"time"

	"github.com/executable-markdown/xmd/internal/value"
)

// Limits bound one evaluation (fragments 2). Zero means the default. Their names in
// profile files, records and errors are the names below in lower case.
type Limits struct {
	Source   int           // bytes of the source; 256 KiB
	Elements int           // elements of the source; 1024
	Depth    int           // nesting of elements, of one expression, of one literal, of one value; 64
	Steps    int           // fuel; 1,000,000
	Values   int           // bytes of all values ever made; 8 MiB
	Value    int           // bytes of one value; 1 MiB
	Output   int           // bytes rendered; 1 MiB
	Time     time.Duration // while the module runs; 10 s
}

const defaultTime = 10 * time.Second

// A bound is one limit that is a number.
type bound struct {
	name     string
	field    *int
	standard int
	size     bool // of bytes
}

// bounds lists the limits that are numbers in their order.
func (l *Limits) bounds() []bound {
	return []bound{
		{"source", &l.Source, 256 << 10, true},
		{"elements", &l.Elements, 1024, false},
		{"depth", &l.Depth, 64, false},
		{"steps", &l.Steps, 1_000_000, false},
		{"values", &l.Values, 8 << 20, true},
		{"value", &l.Value, 1 << 20, true},
		{"output", &l.Output, 1 << 20, true},
	}
}

// complete returns the limits with defaults filled in. Every number fits the 32
// bits a module counts in.
func (l Limits) complete() (Limits, error) {
	for _, b := range l.bounds() {
		if *b.field < 0 || *b.field > math.MaxInt32 {
			return l, fmt.Errorf("its limit %s is %d; state one between 1 and %d, or 0 for the default of %d", b.name, *b.field, math.MaxInt32, b.standard)
		}
		if *b.field == 0 {
			*b.field = b.standard
		}
	}
	if l.Time < 0 {
		return l, fmt.Errorf("its limit time is %v; state a positive time, or 0 for the default of %v", l.Time, defaultTime)
	}
	if l.Time == 0 {
		l.Time = defaultTime
	}
	return l, nil
}

// object is the normal form of completed limits.
func (l Limits) object() *Object {
	o := value.NewObject(8)
	for _, b := range l.bounds() {
		o.Set(b.name, float64(*b.field))
	}
	o.Set("time", milliseconds(l.Time))
	return o
}

// milliseconds is how a duration is written in a normal form.
func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
