package house

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// policy says what may import what. It is a statement of intent: a build that
// breaks it is fixed by moving code, not by editing these lines. Its floors stand
// in docs/architecture.md, too, for people.
//
// A word names a package and everything below it; where several fit, the
// longest does. A package and those below it are one household and may know
// each other. An edge that is not forbidden is allowed.
const policy = `
floor 0  .
floor 1  approval budget explain guard judge progress stop team window workflow
floor 2  a2a engine journal mcp model telemetry tool webhook
floor 3  fix hook mcp/mcpserver model/azure model/bedrock model/vertex pawltest runs server spec temporal
floor 4  cmd temporal/cmd
leaf     internal workspace
beside   docs examples internal/bench internal/house internal/testkit oracle

forbid leaf -> leaf 0 1 2 3 4   a leaf stands under every floor, so whatever it imported would stand there too
forbid 0 -> 1 2 3 4             the root names every effect and performs none
forbid 1 -> 1                   pure packages meet in the values of the root; one that needs its neighbour is half of it
forbid 1 -> 2 3 4               what decides must not be able to act
forbid 2 -> 2                   an adapter that knows another cannot be taken out or replaced alone
forbid 2 -> 3 4                 what acts must not know the agents that are assembled from it
forbid 3 -> 3                   an assembly that needs another hides a part that belongs on a lower floor
forbid 3 -> 4                   a library must not need its own command line
forbid 4 -> 4                   commands meet in cmd/internal or not at all
forbid leaf 0 1 2 3 4 -> beside examples, benchmarks and the tests of the layout are not imported

allow engine -> journal/memory  the one sideways edge: a run needs a log even when its caller asked for none
allow model -> model/internal   adapters share a client of HTTP and event streams, and do not know each other
allow journal -> journal/internal  journals check alike what they are given
allow journal -> journal/seal      journals seal alike what they store
allow internal -> internal/wire     JSON is read in one place
allow internal -> internal/naming   names are compared, patterns matched and foreign expressions bounded in one place
allow cmd -> cmd/internal       main hands over its arguments and returns the exit code
allow cmd -> docs               the command serves its own documentation
allow cmd -> cmd/cli            pawl is the public command without a program of its own
allow pawltest -> internal/testkit  what users and our own tests share
allow fix -> fix/internal       the parts of one product
allow server mcp temporal -> runs  servers of runs ask the same questions about them
allow temporal/cmd -> cmd/cli   pawl-temporal is the public command with Temporal in it
`

// An edge is a forbidden or allowed pair of classes or packages, with the reason.
type edge struct{ from, to, why string }

// A plan is the policy, read.
type plan struct {
	class  map[string]string // word -> floor, "leaf" or "beside"
	forbid []edge
	allow  []edge
}

var classes = []string{"leaf", "0", "1", "2", "3", "4", "beside"}

func readPlan(text string) (*plan, error) {
	p := &plan{class: map[string]string{}}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		switch f[0] {
		case "floor", "leaf", "beside":
			class, words := f[0], f[1:]
			if class == "floor" {
				class, words = f[1], f[2:]
			}
			for _, w := range words {
				if p.class[w] != "" {
					return nil, fmt.Errorf("%s stands on two floors", w)
				}
				p.class[w] = class
			}
		case "forbid", "allow":
			arrow := slices.Index(f, "->")
			if arrow < 2 {
				return nil, fmt.Errorf("no arrow in %q", line)
			}
			end := arrow + 2
			for f[0] == "forbid" && end < len(f) && slices.Contains(classes, f[end]) {
				end++
			}
			if end >= len(f) {
				return nil, fmt.Errorf("no reason in %q", line)
			}
			why := strings.Join(f[end:], " ")
			for _, from := range f[1:arrow] {
				for _, to := range f[arrow+1 : end] {
					if f[0] == "forbid" {
						p.forbid = append(p.forbid, edge{from, to, why})
					} else {
						p.allow = append(p.allow, edge{from, to, why})
					}
				}
			}
		default:
			return nil, fmt.Errorf("what is %q?", line)
		}
	}
	return p, nil
}

// under reports whether a package is the one named by word or lies below it.
func under(dir, word string) bool {
	return dir == word || word != "." && strings.HasPrefix(dir, word+"/")
}

// classOf returns the class of a package, or "" for one the policy does not know.
func (p *plan) classOf(dir string) string {
	best := ""
	for w := range p.class {
		if under(dir, w) && len(w) > len(best) {
			best = w
		}
	}
	return p.class[best]
}

// objection says why one package must not import another; it is empty where it may.
func (p *plan) objection(from, to string) string {
	cf, ct := p.classOf(from), p.classOf(to)
	switch {
	case cf == "":
		return from + " stands on no floor: give it one in the policy"
	case ct == "":
		return to + " stands on no floor: give it one in the policy"
	case from != "." && under(to, from), to != "." && under(from, to):
		return ""
	}
	for _, e := range p.allow {
		if under(from, e.from) && under(to, e.to) {
			return ""
		}
	}
	for _, e := range p.forbid {
		if e.from == cf && e.to == ct {
			return e.why
		}
	}
	return ""
}

func thePlan(t *testing.T) *plan {
	t.Helper()
	p, err := readPlan(policy)
	must(t, err)
	return p
}

// local returns the directory of an import path of this module.
func local(path string) (dir string, ok bool) {
	if path == module {
		return ".", true
	}
	return strings.CutPrefix(path, module+"/")
}

func TestFloors(t *testing.T) {
	p := thePlan(t)
	for _, k := range repository(t).pkgs {
		class := p.classOf(k.dir)
		if class == "" {
			t.Errorf("%s stands on no floor: give it one in the policy", k.dir)
			continue
		}
		if class == "beside" || internal(k.dir) && k.testOnly() {
			continue
		}
		for _, s := range k.files {
			if s.external() {
				continue
			}
			for _, path := range s.imports() {
				to, ok := local(path)
				if !ok || to == "internal/testkit/check" && strings.HasSuffix(s.name, "_test.go") { // check imports nothing of ours
					continue
				}
				if why := p.objection(k.dir, to); why != "" {
					t.Errorf("%s imports %s: %s", s.name, path, why)
				}
			}
		}
	}
}

// TestPolicyIsPublished keeps the copy for people equal to the one that is checked.
func TestPolicyIsPublished(t *testing.T) {
	floors, _, _ := strings.Cut(policy, "\n\n")
	if !strings.Contains(repository(t).read(t, "docs/architecture.md"), "```"+floors+"\n```") {
		t.Error("the floors in docs/architecture.md are not those in floors_test.go")
	}
}

// TestArchitecture keeps the tour true: each function that it names is declared in the file
// that it links.
func TestArchitecture(t *testing.T) {
	tr := repository(t)
	named := regexp.MustCompile("`(?:\\w+\\.)?(\\w+)` in\\s+\\[[^]]+\\]\\(\\.\\./([^)]+)\\)").FindAllStringSubmatch(tr.read(t, "docs/architecture.md"), -1)
	if len(named) < 20 {
		t.Errorf("only %d functions are named", len(named))
	}
	for _, n := range named {
		if !regexp.MustCompile(`(?m)^func (\([^)]*\) )?` + n[1] + `\(`).MatchString(tr.read(t, n[2])) {
			t.Errorf("docs/architecture.md names %s, which %s does not declare", n[1], n[2])
		}
	}
}
