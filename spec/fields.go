package spec

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-run/pawl/internal/expr"
)

// fields reads the keys of one mapping. A missing key leaves its variable
// unchanged, and so does a wrong value, which is reported.
type fields struct {
	*document
	n *node
	t *table
}

// fields reads a mapping with the keys of a table, and reports which are missing and which
// unknown. It reads nothing from other kinds of values; nil: there is none.
func (d *document) fields(t *table, n *node) fields { return d.titled(t.title, t, n) }

// titled is fields for a mapping with another title than its table's.
func (d *document) titled(what string, t *table, n *node) fields {
	known := t.names()
	switch {
	case n == nil:
		return fields{d, &node{kind: mapping}, t}
	case n.kind != mapping && n.kind != 0:
		d.problem(n.place, "%s is %v (write a mapping with %s)", what, n.kind, strings.Join(known[:min(3, len(known))], ", "))
		fallthrough
	case n.kind == 0:
		return fields{d, &node{kind: mapping, place: n.place}, t}
	}
	for i, p := range n.pairs {
		switch {
		case slices.Contains(known, p.key):
		case expr.Nearest(p.key, known) == "" && belongs[p.key] != "" && belongs[p.key] != what:
			d.problem(p.place, "unknown key %s in %s (it belongs to %s)", p.key, what, belongs[p.key])
		case expr.Nearest(p.key, known) == "" && len(known) > mostListed:
			d.problem(p.place, "unknown key %s in %s (pawl schema lists the known keys)", p.key, what)
		default:
			d.problem(p.place, "unknown key %s in %s%s", p.key, what, expr.DidYouMean(p.key, known))
			n.meant(i, expr.Nearest(p.key, known))
		}
	}
	f := fields{d, n, t}
	for _, k := range t.keys {
		if k.needed {
			f.lacks(f.called(what), k.name)
		}
	}
	return f
}

// called returns what to call the mapping where it lacks a key.
func (f fields) called(title string) string {
	if name := f.n.get(f.t.named); f.t.named != "" && name != nil && name.kind == text && strings.TrimSpace(name.text) != "" {
		return title + " " + name.text
	}
	return cmp.Or(f.t.one, title)
}

// mostListed is how many valid keys are listed for an unknown one.
const mostListed = 16

// belongs maps keys to the place where they belong.
var belongs = map[string]string{
	"iterations": "limits", "max_iterations": "limits, as iterations", "tokens": "limits", "time": "limits", "cost": "limits",
	"tool_errors": "limits", "depth": "limits", "margin": "limits", "carry": "handoffs",
	"temperature": "model", "max_tokens": "model", "thinking": "model",
	"timeout": "a tool", "effect": "a tool", "max_output": "a tool", "max_calls": "a tool", "on_doubt": "a tool",
	"ttl": "approvals", "on_deny": "approvals", "observation": "approvals", "gates": "approvals", "witness": "a tool",
	"window": "no_progress", "then": "no_progress", "hint": "no_progress",
	"command": "a tool, observe or goal.metric", "env": "the spec", "dir": "the spec", "system": "the spec, as prompt",
}

// value returns the node of a key if it is of the wanted kind.
func (f fields) value(key string, want kind, example string) *node {
	n := f.n.get(key)
	if n == nil || n.kind == 0 {
		return nil
	}
	if n.kind != want {
		f.problem(n.place, "%s is %v (write %s)", key, n.kind, example)
		return nil
	}
	return n
}

// lacks reports that a key is missing.
func (f fields) lacks(what, key string) {
	if f.n.get(key) == nil {
		f.problem(f.n.place, "%s has no %s (%s)", what, key, needs[key])
	}
}

// meant gives a key that was reported as misspelt the name that was meant, unless there is such
// a key: what is under it is checked as well, and nothing is said to be missing.
func (n *node) meant(i int, key string) {
	if key != "" && n.get(key) == nil {
		n.pairs[i].key = key
	}
}

var needs = map[string]string{ //nolint:gosec // what to do about a secret, and none
	"name":        "give it one",
	"description": "say what it does and when to use it",
	"command":     "list the program and its arguments",
	"metric":      "say what measures it, as in metric: {command: [./score.sh]}",
	"type":        "write loop, or for a tool action or workflow",
	"properties":  "say there what the loop is to do",
	"objective":   "say what is to be done",
	"when":        "give a condition on arguments, such as args.amount > 100",
	"deny":        "list words and phrases, such as [insider trading]",
	"success":     "give a condition, such as metric >= 0",
	"input":       "dollars per million tokens",
	"output":      "dollars per million tokens",
	"id":          "name it, as in id: ask",
	"prompt":      "say what to ask the model",
	"max":         "say how often at most, such as 5",
	"do":          "list the steps to do",
	"url":         "say where to post, as in https://hooks.example.org/pawl",
	"secret":      "name the variable that holds it",
	"cases":       "name what it may be, each with its steps",
	"agent":       "name its spec, such as ./billing.yaml",
	"to":          "name the node that it leads to",
	"in":          "give a list, such as steps.ask.output",
	"judge":       "say what a good answer is",
	"per":         "say how long it lasts: hour, day, month or total",
	"from":        "tokens of input above which it counts, such as 200000",
}

// text reads a text that is not blank.
func (f fields) text(key string, to *string) {
	n := f.value(key, text, "text; put it in quotes if it looks like something else")
	if n == nil {
		return
	}
	if strings.TrimSpace(n.text) == "" {
		f.problem(n.place, "%s is blank (write something or leave it out)", key)
		return
	}
	*to = n.text
}

// off reports whether a key that is true by default is false.
func (f fields) off(key string) bool {
	on := true
	f.flag(key, &on)
	return !on
}

// items returns the items of a list that are not empty.
func (f fields) items(key, example string) []*node {
	n := f.value(key, list, "a list such as "+example)
	if n == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(n.items), func(item *node) bool { return item.kind == 0 })
}

// flag reads true or false.
func (f fields) flag(key string, to *bool) {
	if n := f.value(key, boolean, "true or false"); n != nil {
		*to = n.text == "true"
	}
}

// count reads a whole number that is at least least.
func (f fields) count(key string, to *int, least int, example string) {
	n := f.value(key, number, "a whole number such as "+example)
	if n == nil {
		return
	}
	v, err := strconv.Atoi(n.text)
	switch {
	case err != nil && strings.ContainsAny(n.text, ".eE"):
		f.problem(n.place, "%s is %s (write a whole number such as %s)", key, n.text, example)
	case err != nil:
		f.problem(n.place, "%s is %s, which is too large (write a number such as %s)", key, n.text, example)
	case v < least:
		f.problem(n.place, "%s is %d (it must be at least %d)", key, v, least)
	default:
		*to = v
	}
}

// countOr is count where zero says none, which the options of Go write as -1. usual is the default.
func (f fields) countOr(key string, to *int, usual string) {
	*to, _ = strconv.Atoi(usual)
	if f.count(key, to, 0, usual); *to == 0 {
		*to = -1
	}
}

// measure reads a number and reports whether it did.
func (f fields) measure(key string, to *float64, example string) bool {
	n := f.value(key, number, "a number such as "+example)
	if n == nil {
		return false
	}
	v, err := strconv.ParseFloat(n.text, 64)
	if err != nil {
		f.problem(n.place, "%s is %s, which is too large (write a number such as %s)", key, n.text, example)
		return false
	}
	if v < 0 {
		f.problem(n.place, "%s is %s (it may not be negative)", key, n.text)
		return false
	}
	*to = v
	return true
}

// duration reads a duration as Go writes it, which must be positive.
func (f fields) duration(key string, to *time.Duration) {
	n := f.n.get(key)
	switch {
	case n == nil:
		return
	case n.kind == number:
		f.problem(n.place, "%s is %s without a unit (write %ss or %sm)", key, n.text, n.text, n.text)
		return
	case f.value(key, text, "a duration such as 30s or 1h30m") == nil:
		return
	}
	v, err := time.ParseDuration(n.text)
	switch {
	case err != nil:
		f.problem(n.place, "%s is %q, which is not a duration (write one such as 30s or 1h30m)", key, n.text)
	case v <= 0:
		f.problem(n.place, "%s is %s (it must be positive)", key, n.text)
	default:
		*to = v
	}
}

var units = map[string]float64{"": 1, "B": 1, "KB": 1 << 10, "KIB": 1 << 10, "MB": 1 << 20, "MIB": 1 << 20, "GB": 1 << 30, "GIB": 1 << 30}

// maxOutput reads the number of bytes that a result may have. A KB is 1024 bytes, as in the default of 16KB.
func (f fields) maxOutput(to *int) {
	var v int64
	f.sizeWithin("max_output", &v, 1, 1<<30, "1B", "1GB")
	if v > 0 {
		*to = int(v)
	}
}

// sizeWithin reads a size between two limits, whose names appear in the
// problem.
func (f fields) sizeWithin(key string, to *int64, least, most float64, leastName, mostName string) {
	const example = "a size such as 16KB or 1MB"
	n := f.n.get(key)
	if n == nil {
		return
	}
	if n.kind != number && f.value(key, text, example) == nil {
		return
	}
	digits := strings.TrimRight(n.text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
	unit, known := units[strings.ToUpper(strings.TrimSpace(n.text[len(digits):]))]
	v, err := strconv.ParseFloat(digits, 64)
	if !known || err != nil || strings.ContainsAny(digits, "_xXeE") {
		f.problem(n.place, "%s is %q, which is not a size (write %s)", key, n.text, example)
		return
	}
	bytes := v * unit
	if bytes < least || bytes > most {
		f.problem(n.place, "%s is %s (it must be at least %s and at most %s)", key, n.text, leastName, mostName)
		return
	}
	*to = int64(bytes)
}

// word reads one of the words of a key; empty: it is none of them.
func (f fields) word(key string) string {
	words := f.t.words(key)
	n := f.value(key, text, strings.Join(words, " or "))
	switch {
	case n == nil:
		return ""
	case !slices.Contains(words, n.text):
		f.problem(n.place, "%s is %q%s", key, n.text, expr.DidYouMean(n.text, words))
		return ""
	}
	return n.text
}

// choose reads one of the words of a key as the constant of that number, from 1.
func choose[T ~int](f fields, key string, to *T) {
	if i := slices.Index(f.t.words(key), f.word(key)); i >= 0 {
		*to = T(i + 1)
	}
}

// secret reads the name of a variable whose value is a secret, and reports whether it is one.
// Commands do not get it.
func (s *Spec) secret(f fields, key string, to *string) bool {
	if f.text(key, to); *to == "" {
		return false
	}
	if !variable.MatchString(*to) {
		f.problem(f.n.get(key).place, "%s is %q (write the name of a variable, whose value is taken from the environment)", key, *to)
		return false
	}
	s.beyond = append(s.beyond, *to)
	return true
}

// words reads a list of texts, with the place of each.
func (f fields) words(key, example string) (all []string, at []*node) {
	n := f.value(key, list, "a list such as "+example)
	if n == nil {
		return nil, nil
	}
	for _, item := range n.items {
		if item.kind == 0 {
			continue
		}
		if item.kind != text {
			f.problem(item.place, "%s has %v in its list (write text; put it in quotes if it looks like something else)", key, item.kind)
			continue
		}
		all, at = append(all, item.text), append(at, item)
	}
	return all, at
}
