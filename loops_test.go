package pawl_test

import (
	"testing"

	"github.com/pawl-run/pawl/internal/testkit/transcript"
)

// TestLoops runs the transcripts, which say in full what the machine does.
func TestLoops(t *testing.T) { transcript.RunFiles(t, "testdata/loops") }
