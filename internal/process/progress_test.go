package process

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseProgress(t *testing.T) {
	for line, want := range map[string]string{
		"0.4 12 of 30 files": "0.4|12 of 30 files", " 1": "1|", "0": "0|", "- 12 of 30": "-1|12 of 30", "12 of 30": "-1|12 of 30",
		"NaN": "-1|NaN", "-0.5 x": "-1|-0.5 x", "40% done": "-1|40% done", "": "-1|", "almost there\r": "-1|almost there",
	} {
		fraction, text := ParseProgress(line)
		if got := fmt.Sprintf("%v|%s", fraction, text); got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
		if again, same := ParseProgress(strings.TrimPrefix(ProgressLine(fraction, text), progressPrefix)); again != fraction || same != text {
			t.Errorf("%q: read back as %v %q", line, again, same)
		}
	}
}

// Lines of progress are taken out wherever a write ends, every other byte passes, and a line of any
// length takes a bounded amount of memory.
func TestProgressLines(t *testing.T) {
	text := "##progress 0.1 a\nplain ##progress 1 no\n##progressive\n#\n##progress\n\n ##progress 1 no\n##progress - b\r\n##progress " +
		strings.Repeat("x", 3*mostLine) + "\nend\n##progress 1 c"
	for size := 1; size <= len(text); size += 1 + size/40 {
		var rest strings.Builder
		var told []string
		l := NewProgressLines(&rest, func(fraction float64, text string) {
			told = append(told, fmt.Sprint(fraction, text[:min(len(text), 3)]))
		})
		for i := 0; i < len(text); i += size {
			if _, err := l.Write([]byte(text[i:min(i+size, len(text))])); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Close(); err != nil || cap(l.held) > 4*mostLine {
			t.Fatal(err, cap(l.held))
		}
		if got := strings.Join(told, "|"); got != "0.1a|-1|-1b|-1xxx|1c" {
			t.Fatalf("by %d: told %q", size, got)
		}
		if got := rest.String(); got != "plain ##progress 1 no\n##progressive\n#\n\n ##progress 1 no\nend\n" {
			t.Fatalf("by %d: the rest is %q", size, got)
		}
	}
}
