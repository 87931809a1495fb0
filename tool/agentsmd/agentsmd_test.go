package agentsmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/tool/agentsmd"
)

// A long file loses its middle, and says so.
func TestLong(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, agentsmd.File), []byte("first\n"+strings.Repeat("x", 40<<10)+"\nlast"), 0o600); err != nil {
		t.Fatal(err)
	}
	notes, err := agentsmd.Read(dir)
	if err != nil || !strings.Contains(notes.String(), "shortened") {
		t.Fatal(notes, err)
	}
	prompt := notes.Trust([]string{dir}).On(pawl.Agent{}).Prompt
	if n := len(prompt); n < 32<<10 || n > 33<<10 || !strings.Contains(prompt, "first") || !strings.Contains(prompt, "last") {
		t.Errorf("the prompt has %d bytes", n)
	}
}
