package runs

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/redact"
)

// Whatever is taken out of an entry that is shown, it stays an entry, and one
// without secrets stays as it is.
func TestRedactedEntries(t *testing.T) {
	files, err := filepath.Glob("../testdata/histories/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range append(files, "../testdata/events.golden.jsonl") {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			line = bytes.TrimSpace(line)
			e, err := pawl.DecodeEntry(bytes.Clone(line))
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			clean := redact.JSON(line)
			if _, err := pawl.DecodeEntry(bytes.Clone(clean)); err != nil {
				t.Errorf("%s: entry %d: %v", file, e.Seq, err)
			}
			if !bytes.Contains(line, []byte(`"opaque"`)) && string(clean) != string(line) {
				t.Errorf("%s: entry %d becomes %s", file, e.Seq, clean)
			}
		}
	}
}
