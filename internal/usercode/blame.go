// Package usercode deals with code and values that a program supplied: a panic in its code, such as a policy,
// becomes an error that names this code and the line, and its values are copied, so that nothing that it can
// write to is shared.
package usercode

import (
	"cmp"
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
)

// A Panic is the value of a panic, with the code it came from.
type Panic struct { //nolint:errname // it is the value of a panic, and only printed as an error
	Code  string // such as "the loop review"; empty: unknown
	At    string // the file and line, such as "loop.go:12"
	Value any
	Stack []byte
}

// PanicLeaf is the stop reason of a run that ended because code of its agent panicked.
const PanicLeaf = "panic"

// Blame is deferred around a call of a library user's code. If that code panics,
// Blame panics again with a *Panic that names it. kind is a word such as "loop";
// part is its name, or the value whose method is called.
func Blame(kind string, part any) {
	if p := recover(); p != nil { //nolint:revive // Blame is itself deferred
		again := PanicOf(p)
		if again.Code == "" {
			again.Code = "the " + kind + " " + name(part)
		}
		panic(again)
	}
}

// PanicOf returns a recovered value as a Panic. The deferred function must call it
// while the panicking stack exists.
func PanicOf(value any) *Panic {
	if p, ok := value.(*Panic); ok {
		return p
	}
	return &Panic{At: place(), Value: value, Stack: debug.Stack()}
}

// Error returns the code, the place, and the first line of the value.
func (p *Panic) Error() string {
	code := p.Code
	code = cmp.Or(code, "code")
	if p.At != "" {
		code += " (" + p.At + ")"
	}
	return code + " panicked: " + p.Said()
}

// Said returns the first line of the value.
func (p *Panic) Said() string {
	const most = 300
	line, _, _ := strings.Cut(strings.TrimSpace(fmt.Sprint(p.Value)), "\n")
	return strings.ToValidUTF8(line[:min(len(line), most)], "")
}

// place returns the place in the code that panicked or ended its goroutine,
// without the runtime's frames.
func place() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for below := false; ; {
		f, more := frames.Next()
		switch own := strings.HasPrefix(f.Function, "runtime."); {
		case f.Function == "runtime.gopanic", f.Function == "runtime.Goexit":
			below = true
		case below && !own:
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return ""
		}
	}
}

// name returns the name of a part; its type, if its name panics too.
func name(part any) (name string) {
	const most = 100
	defer func() {
		if recover() != nil || name == "" {
			name = fmt.Sprintf("%T", part)
		}
		name = strings.ToValidUTF8(name[:min(len(name), most)], "")
	}()
	switch part := part.(type) {
	case string:
		return part
	case interface{ Name() string }:
		return part.Name()
	case fmt.Stringer:
		return part.String()
	}
	return ""
}
