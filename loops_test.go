package pawl_test

import (
	"testing"

	"github.com/pawl-run/pawl/pawltest"
)

// TestLoops runs the transcripts, which say in full what the machine does.
func TestLoops(t *testing.T) { pawltest.RunFiles(t, "testdata/loops") }
