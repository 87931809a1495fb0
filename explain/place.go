package explain

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/naming"
)

// A Place is where commands about a run are typed, and what they can do there.
// The zero Place is a shell on the machine with pawl's default database.
type Place struct {
	// Flags are appended to every command, such as --server and an address.
	Flags []string
	// Server reports that a server drives the runs. It accepts limits, and
	// creates agents only from recorded specs.
	Server bool
	// Changed are the parts of the run's agent that its files there have changed since
	// it was recorded, which a resumption must allow.
	Changed []string
	// Held returns the file of the policy that an agent's source records, and which of a run's
	// limits are the most that it allows, as leaves of a stop condition name them. Nil: there
	// are no policies.
	Held func(source string, l pawl.Limits) (file string, kinds []string)
}

// Command returns a command as typed at the place.
func (p Place) Command(words ...string) string {
	return p.typed(shells(words))
}

func (p Place) typed(command string) string {
	if len(p.Flags) == 0 {
		return command
	}
	return command + " " + shells(p.Flags)
}

// shells quotes words for a shell; words that begin with -- are flags.
func shells(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		if quoted[i] = w; !strings.HasPrefix(w, "--") || !bare().MatchString(w) {
			quoted[i] = shell(w)
		}
	}
	return strings.Join(quoted, " ")
}

// leaves matches the leaves of a stop condition that compare a count with a bound.
var leaves = naming.Regexp(`\b(iterations|tokens|cost|elapsed|tool_calls) (>=|>|==) ([0-9.a-z]+)`)

// raisedLimits returns the limits to raise: the one that ended the run, and those
// that would end it next.
func raisedLimits(s *pawl.State, ended string) (raised []string) {
	all := counts(s)
	for _, kind := range []string{"elapsed", "iterations", "tokens", "cost"} {
		if n := all[kind]; kind == ended || n.limit > 0 && n.used >= n.limit {
			raised = append(raised, strings.Replace(kind, "elapsed", "time", 1)+"=+"+bound(kind, more(s, kind, n)))
		}
	}
	switch ended {
	case "rounds":
		raised = append(raised, "rounds=+2")
	case "tool_errors":
		raised = nil // they are counted from zero
	}
	return raised
}

// raisedStop returns the stop condition with every bound raised that is used up;
// EXPR if what decided is no such bound, and empty if none is used up. ended is the
// limit that ended the run.
func raisedStop(s *pawl.State, ended string) string {
	source, decided := s.StopSource(), s.Verdict().Leaf
	simple := !strings.ContainsAny(source, "&!")
	known, all := false, counts(s)
	raised := leaves().ReplaceAllStringFunc(source, func(leaf string) string {
		m := leaves().FindStringSubmatch(leaf)
		most, _ := number(m[3])
		n := all[m[1]].used
		known = known || leaf == decided
		if leaf == decided || simple && (n > most || n == most && m[2] != ">") {
			return m[1] + " " + m[2] + " " + bound(m[1], most+more(s, m[1], count{n, most}))
		}
		return leaf
	})
	switch {
	case ended == "" && !known:
		return "EXPR"
	case raised == source:
		return ""
	}
	return shell(raised)
}

// more returns by how much to raise a bound so that a few more turns fit: by a
// quarter, or by what five turns like those so far take.
func more(s *pawl.State, kind string, n count) float64 {
	each := n.used / float64(max(1, s.Iteration()))
	tokens, dollars := refusedRequest(s.Verdict().Detail)
	least := map[string]float64{"iterations": 1, "tool_calls": 1, "tokens": tokens, "cost": dollars, "elapsed": 12}[kind]
	return max(n.limit/4, n.used-n.limit+5*max(each, least))
}

// bound formats a bound, rounded up: cents, seconds, or two digits of a count.
func bound(kind string, v float64) string {
	switch kind {
	case "cost":
		return strconv.FormatFloat(math.Ceil(100*v)/100, 'f', 2, 64)
	case "elapsed":
		return display.Duration(time.Duration(math.Ceil(v)) * time.Second)
	}
	unit := math.Pow(10, max(0, math.Floor(math.Log10(max(1, v)))-1))
	return fmt.Sprint(int(math.Ceil(v/unit) * unit))
}

// The text about a request that a token or dollar limit refused. Before the first
// reply it is the only measure.
var (
	neededTokens  = naming.Regexp(`the next request needs about ([0-9,]+) and ([0-9]+) for a reply$`)
	neededDollars = naming.Regexp(`the next request costs about \$([0-9.]+) before its reply$`)
)

// refusedRequest returns the tokens and dollars of the refused request; zero if
// the log does not say.
func refusedRequest(detail string) (tokens, dollars float64) {
	if m := neededTokens().FindStringSubmatch(detail); m != nil {
		in, _ := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
		out, _ := strconv.ParseFloat(m[2], 64)
		tokens = in + out
	}
	if m := neededDollars().FindStringSubmatch(detail); m != nil {
		dollars, _ = strconv.ParseFloat(m[1], 64)
	}
	return tokens, dollars
}
