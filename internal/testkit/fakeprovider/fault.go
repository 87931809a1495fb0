package fakeprovider

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Fault is one way in which a provider goes wrong. It is plain data: the zero
// Fault is none, and Name is what tells one from another.
type Fault struct {
	Name   string // in kebab case
	Number int    // its row of the catalogue of provider faults
	About  string // what happens, in one sentence, and what K counts
	Wires  []Wire // where it can occur
	K      int    // where it strikes, from 1; 0: at a place of its own, mostly the middle
}

// At is the fault striking at place k, which its About explains. A place beyond
// the last is the last.
func (f Fault) At(k int) Fault {
	f.K = k
	return f
}

// String is the fault's name and, where it has one, its place, as in
// cut-mid-arguments@2: what [Find] reads.
func (f Fault) String() string {
	if f.K == 0 {
		return f.Name
	}
	return f.Name + "@" + strconv.Itoa(f.K)
}

// On reports whether the fault can occur on a wire.
func (f Fault) On(w Wire) bool { return slices.Contains(f.Wires, w) }

// Faults is the catalogue, in its own order. It is a copy.
func Faults() []Fault {
	var list []Fault
	for _, e := range catalogue() {
		list = append(list, e.fault())
	}
	return list
}

// Find is the fault of a name, which may have a place behind it: NAME or NAME@K.
func Find(name string) (Fault, bool) {
	name, at, placed := strings.Cut(name, "@")
	k, err := strconv.Atoi(at)
	if placed && (err != nil || k < 1) {
		return Fault{}, false
	}
	e, ok := entryOf(name)
	if !ok {
		return Fault{}, false
	}
	return e.fault().At(k), true
}

// Must is [Find] for names that are known to exist; it panics for others.
func Must(name string) Fault {
	f, ok := Find(name)
	if !ok {
		panic(fmt.Sprintf("fakeprovider: there is no fault %q; Faults lists them", name))
	}
	return f
}

// An entry of the catalogue: a fault and its deed.
type entry struct {
	name   string
	number int
	about  string
	wires  []Wire // nil: all
	deed
}

// A deed is what a fault does, at one or more of the stages that an answer
// passes through. A stage reports whether there was anything to strike; when
// the first finds nothing, the later ones are left out.
type deed struct {
	instead func(x strike) *outcome                                 // in place of a reply
	reply   func(x strike, a *answer) bool                          // before it is written
	frames  func(x strike, a *answer, list []frame) ([]frame, bool) // the events of its stream
	bytes   func(x strike, o *outcome) bool                         // and their bytes
}

// A strike is a fault at work on one request.
type strike struct {
	in *inbound
	k  int
}

// or is the place where it strikes, or another one when none was chosen.
func (x strike) or(k int) int {
	if x.k > 0 {
		return x.k
	}
	return k
}

var everywhere = []Wire{Anthropic, Chat, Responses, Google}

func (e entry) fault() Fault {
	wires := e.wires
	if wires == nil {
		wires = everywhere
	}
	return Fault{Name: e.name, Number: e.number, About: e.about, Wires: slices.Clone(wires)}
}

// catalogue puts the parts of the list together.
func catalogue() []entry {
	return slices.Concat(refusals, carriers, streams, stops, replies, arguments)
}

func entryOf(name string) (entry, bool) {
	for _, e := range catalogue() {
		if e.name == name {
			return e, true
		}
	}
	return entry{}, false
}

// deed is what the fault does to a request: nothing, on a wire where it cannot
// occur.
func (f Fault) deed(in *inbound) (deed, error) {
	if f.Name == "" {
		return deed{}, nil
	}
	e, ok := entryOf(f.Name)
	if !ok {
		return deed{}, fmt.Errorf("fakeprovider: there is no fault %q; Faults lists them", f.Name)
	}
	if !e.fault().On(in.Wire) {
		return deed{}, nil
	}
	return e.deed, nil
}
