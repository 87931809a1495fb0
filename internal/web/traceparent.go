package web

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"
)

// A Parent is a position in a trace: the values of the headers traceparent and
// tracestate. The zero Parent is none.
type Parent struct {
	ID    string // traceparent
	State string // tracestate; empty: none
}

// The names of a Parent's values in HTTP, in the metadata of MCP, and in the
// environment of a command.
const (
	ParentHeader   = "traceparent"
	StateHeader    = "tracestate"
	ParentVariable = "TRACEPARENT"
	StateVariable  = "TRACESTATE"
)

// mostState is the most bytes of a tracestate that are passed on: the minimum
// that the recommendation requires.
const mostState = 512

// ParseParent parses the two values. An invalid value, or an unknown version, yields
// the zero Parent. A later version is read by the part that version 00 defines.
func ParseParent(id, state string) Parent {
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
		state = "" // it may be dropped, but not truncated
	}
	return Parent{ID: "00" + id[2:], State: state}
}

func unprintable(r rune) bool { return r < ' ' || r > '~' }

// ParentOf returns the Parent with the ids of a trace and a span, and the flags.
func ParentOf(trace [16]byte, span [8]byte, flags byte, state string) Parent {
	b := make([]byte, 0, 55)
	b = append(b, "00-"...)
	b = hex.AppendEncode(b, trace[:])
	b = append(b, '-')
	b = hex.AppendEncode(b, span[:])
	b = append(b, '-')
	b = hex.AppendEncode(b, []byte{flags})
	return Parent{ID: string(b), State: state}
}

// Split returns the parts of a valid Parent; ok is false for the zero Parent.
func (p Parent) Split() (trace [16]byte, span [8]byte, flags byte, ok bool) {
	if ParseParent(p.ID, "").ID != p.ID || p.ID == "" {
		return trace, span, 0, false
	}
	var f [1]byte
	_, _ = hex.Decode(trace[:], []byte(p.ID[3:35])) // ParseParent has checked it
	_, _ = hex.Decode(span[:], []byte(p.ID[36:52]))
	_, _ = hex.Decode(f[:], []byte(p.ID[53:]))
	return trace, span, f[0], true
}

// Into returns an environment with the Parent in place of any other. The zero
// Parent leaves it unchanged.
func (p Parent) Into(environ []string) []string {
	if p.ID == "" {
		return environ
	}
	environ = slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		return strings.HasPrefix(v, ParentVariable+"=") || strings.HasPrefix(v, StateVariable+"=")
	})
	environ = append(environ, ParentVariable+"="+p.ID)
	if p.State != "" {
		environ = append(environ, StateVariable+"="+p.State)
	}
	return environ
}

type key struct{}

// WithParent returns a context with p as its position in the trace.
func WithParent(ctx context.Context, p Parent) context.Context {
	if p.ID == "" {
		return ctx
	}
	return context.WithValue(ctx, key{}, p)
}

// ParentFrom returns the context's position in the trace; zero: none.
func ParentFrom(ctx context.Context) Parent {
	p, _ := ctx.Value(key{}).(Parent)
	return p
}
