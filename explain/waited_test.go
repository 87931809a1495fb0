package explain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/explain"
)

// A report says how long a call waited for the rate of its provider.
func TestWaited(t *testing.T) {
	log := inLab(t, func(l *lab) []pawl.Entry { return l.run(one(l, `{text: Done.}`), "go") })
	for i, e := range log {
		if called, ok := e.Event.(pawl.ModelCalled); ok {
			called.Waited = 12 * time.Second
			log[i].Event = called
		}
	}
	r, err := explain.Of(sequence(log), &explain.Options{Full: true})
	if err != nil {
		t.Fatal(err)
	}
	if text := r.Markdown(); !strings.Contains(text, "it waited 12.0 s for the rate of its provider") {
		t.Errorf("it says:\n%s", text)
	}
}
