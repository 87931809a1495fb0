package pawl_test

import (
	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/window"
)

func init() {
	pawl.Talk = func(s pawl.Strategy) func(pawl.Entry, *pawl.State) {
		talk := window.NewTranscript(s)
		return func(e pawl.Entry, s *pawl.State) {
			talk.Add(e, s)
			talk.Messages(s)
		}
	}
}
