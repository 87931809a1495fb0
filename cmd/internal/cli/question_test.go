package cli_test

import (
	"strings"
	"testing"
)

// booking asks two questions, one of them in a child run.
var booking = map[string]string{
	"booking.yaml": `
name: booking
model: script:booking.script.yaml
tools:
  - {builtin: [ask_human]}
  - {agent: hotel.yaml}
`,
	"booking.script.yaml": `
replies:
  - calls: [{tool: ask_human, args: {question: Which day?}}]
  - expect: Friday
    calls: [{tool: hotel, args: {input: book}}]
  - {text: booked}
`,
	"hotel.yaml": `
name: hotel
description: Books a hotel.
model: script:hotel.script.yaml
tools: [{builtin: [ask_human]}]
`,
	"hotel.script.yaml": `
replies:
  - calls: [{tool: ask_human, args: {question: Which room?}}]
  - {expect: seven, text: booked}
`,
}

// A question is asked where the run is driven, as approvals are, and the run goes on
// with the answer; one that is left empty waits.
func TestQuestions(t *testing.T) {
	for name, c := range map[string]struct {
		typed string
		flags []string
		code  int
		asked []string // what is seen, in this order
		not   string
	}{
		"answered":  {"Friday\nseven\n", []string{"--approvals", "ask"}, 0, []string{"question c_1: Which day?", "question c_1: Which room?", "success"}, ""},
		"left":      {"\n", []string{"--approvals", "ask"}, 5, []string{"question c_1: Which day?", "waiting_input"}, "Which room?"},
		"nobody":    {"", []string{"--approvals", "ask"}, 5, []string{"question c_1: Which day?", "no answer (end of input)", "waiting_input"}, ""},
		"unwatched": {"Friday\n", nil, 5, []string{"waiting_input"}, "question c_1"},
	} {
		t.Run(name, func(t *testing.T) {
			files(t, booking)
			code, _, stderr := typing(t, t.Context(), strings.NewReader(c.typed), nil, append([]string{"run", "booking.yaml", "go"}, c.flags...)...)
			rest := stderr
			for _, want := range c.asked {
				_, after, found := strings.Cut(rest, want)
				if !found {
					t.Fatalf("exit %d, %q is not seen:\n%s", code, want, stderr)
				}
				rest = after
			}
			if code != c.code || c.not != "" && strings.Contains(stderr, c.not) || strings.Count(stderr, "\nrun ") > 1 {
				t.Errorf("exit %d:\n%s", code, stderr)
			}
		})
	}
}

// An answered question goes on from resume, too.
func TestQuestionOnResume(t *testing.T) {
	files(t, booking)
	if code, _, stderr := typing(t, t.Context(), nil, nil, "run", "booking.yaml", "go"); code != 5 {
		t.Fatalf("exit %d:\n%s", code, stderr)
	}
	code, stdout, stderr := typing(t, t.Context(), strings.NewReader("Friday\nseven\n"), nil, "resume", "last", "--approvals", "ask")
	if code != 0 || stdout != "booked\n" {
		t.Errorf("exit %d, %q:\n%s", code, stdout, stderr)
	}
}
