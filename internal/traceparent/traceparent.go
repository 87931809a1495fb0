// Package traceparent carries a place in a distributed trace from whoever knows
// of it to whatever talks to the outside, without either knowing the other: in a
// context, and on the wires as W3C Trace Context has it
// (https://www.w3.org/TR/trace-context/).
package traceparent

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"
)

// A Parent is a place in a trace: the values of the headers traceparent and
// tracestate. The zero Parent is none.
type Parent struct {
	ID    string // traceparent
	State string // tracestate; empty: none
}

// The names by which a Parent is known in HTTP and in the metadata of MCP, and
// in the environment of a command.
const (
	Header   = "traceparent"
	State    = "tracestate"
	Variable = "TRACEPARENT"
	StateVar = "TRACESTATE"
)

// mostState bounds what is passed on of a tracestate, in bytes: the least that
// the recommendation asks everybody to pass on.
const mostState = 512

// Parse takes a place in a trace from the two values. What is not one, or is of
// a version that does not exist, is none. Of later versions the part that is as
// in version 00 counts.
func Parse(id, state string) Parent {
	id = strings.TrimSpace(id)
	if len(id) < 55 || len(id) > 55 && (id[:2] == "00" || id[55] != '-') {
		return Parent{}
	}
	id = id[:55]
	if id[2] != '-' || id[35] != '-' || id[52] != '-' || id[:2] == "ff" {
		return Parent{}
	}
	zero := func(s string) bool { return strings.Trim(s, "0") == "" }
	for _, part := range []string{id[:2], id[3:35], id[36:52], id[53:]} {
		if _, err := hex.DecodeString(part); err != nil || strings.ToLower(part) != part {
			return Parent{}
		}
	}
	if zero(id[3:35]) || zero(id[36:52]) {
		return Parent{}
	}
	if state = strings.TrimSpace(state); len(state) > mostState || strings.ContainsFunc(state, unprintable) {
		state = "" // which may be left out; half of one may not
	}
	return Parent{ID: "00" + id[2:], State: state}
}

func unprintable(r rune) bool { return r < ' ' || r > '~' }

// Of makes a Parent of the ids of a trace and a span, and the flags.
func Of(trace [16]byte, span [8]byte, flags byte, state string) Parent {
	b := make([]byte, 0, 55)
	b = append(b, "00-"...)
	b = hex.AppendEncode(b, trace[:])
	b = append(b, '-')
	b = hex.AppendEncode(b, span[:])
	b = append(b, '-')
	b = hex.AppendEncode(b, []byte{flags})
	return Parent{ID: string(b), State: state}
}

// Split takes a valid Parent apart; ok is false for the zero Parent.
func (p Parent) Split() (trace [16]byte, span [8]byte, flags byte, ok bool) {
	if Parse(p.ID, "").ID != p.ID || p.ID == "" {
		return trace, span, 0, false
	}
	var f [1]byte
	_, _ = hex.Decode(trace[:], []byte(p.ID[3:35])) // Parse has looked
	_, _ = hex.Decode(span[:], []byte(p.ID[36:52]))
	_, _ = hex.Decode(f[:], []byte(p.ID[53:]))
	return trace, span, f[0], true
}

// Into returns an environment that says where in the trace a command is, in the
// place of what it said before. The zero Parent leaves it as it is.
func (p Parent) Into(environ []string) []string {
	if p.ID == "" {
		return environ
	}
	environ = slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		return strings.HasPrefix(v, Variable+"=") || strings.HasPrefix(v, StateVar+"=")
	})
	environ = append(environ, Variable+"="+p.ID)
	if p.State != "" {
		environ = append(environ, StateVar+"="+p.State)
	}
	return environ
}

type key struct{}

// With returns a context in which p is the place in the trace.
func With(ctx context.Context, p Parent) context.Context {
	if p.ID == "" {
		return ctx
	}
	return context.WithValue(ctx, key{}, p)
}

// From is the place in the trace that a context has; zero: none.
func From(ctx context.Context) Parent {
	p, _ := ctx.Value(key{}).(Parent)
	return p
}
