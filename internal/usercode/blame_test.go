package usercode

import (
	"errors"
	"strings"
	"testing"
)

type named string

func (n named) Name() string {
	if n == "" {
		panic("no name")
	}
	return string(n)
}

func caught(do func()) (p *Panic) {
	defer func() { p = PanicOf(recover()) }()
	do()
	return nil
}

func TestOn(t *testing.T) {
	var none []int
	for want, c := range map[string]struct {
		part any
		do   func()
	}{
		"the part mine (blame_test.go:": {named("mine"), func() { panic("boom\nand more") }},
		"the part a word (":             {"a word", func() { panic(errors.New("boom")) }},
		"the part usercode.named (":     {named(""), func() { panic("boom") }},
		"the part <nil> (":              {nil, func() { panic("boom") }},
		"the inner x (":                 {"outer", func() { defer Blame("inner", "x"); panic("boom") }},
		"the part index (blame_test":    {"index", func() { _ = none[len(none)] }},
	} {
		p := caught(func() { defer Blame("part", c.part); c.do() })
		said := "panicked: boom"
		if c.part == "index" {
			said = "panicked: runtime error: index out of range [0] with length 0"
		}
		if got := p.Error(); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, said) {
			t.Errorf("it says %q; want %q…%q", got, want, said)
		}
		if !strings.Contains(string(p.Stack), "TestOn") {
			t.Errorf("its stack is %s", p.Stack)
		}
	}
	if got := caught(func() { panic("boom") }).Error(); !strings.HasPrefix(got, "code (blame_test.go:") {
		t.Errorf("a panic of unknown code says %q", got)
	}
	if p := caught(func() { panic(strings.Repeat("é", 400)) }); len(p.Said()) > 300 || !strings.HasSuffix(p.Said(), "é") {
		t.Errorf("a long value becomes %d bytes", len(p.Said()))
	}
	func() { defer Blame("part", "fine") }()
}
