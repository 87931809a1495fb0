package explain_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/explain"
)

var played struct {
	sync.Mutex
	logs map[int][]pawl.Entry
}

// logOf plays a scene once in a process.
func logOf(t *testing.T, i int) []pawl.Entry {
	played.Lock()
	defer played.Unlock()
	if played.logs[i] == nil {
		if played.logs == nil {
			played.logs = map[int][]pawl.Entry{}
		}
		played.logs[i] = inLab(t, scenes[i].play)
	}
	return played.logs[i]
}

// FuzzLogs explains logs that make no sense: those of the scenes, cut short,
// with entries taken out, moved and said twice, and with a text of the fuzzer's
// wherever a model, a tool or a person may say something.
func FuzzLogs(f *testing.F) {
	f.Add(byte(0), uint16(9), []byte{}, "", byte(0))
	f.Add(byte(1), uint16(99), []byte{3, 7, 2}, "\n# FORGED", byte(14))
	f.Add(byte(5), uint16(20), []byte{1, 1, 1, 9}, "```\n# FORGED\n\x1b[31m\x01\x02\x03`", byte(3))
	for i := range scenes {
		f.Add(byte(i), uint16(1000), []byte{byte(5 * i)}, "| # FORGED \u2028# FORGED\u0085# FORGED\r# FORGED", byte(i))
	}
	f.Fuzz(func(t *testing.T, which byte, cut uint16, moves []byte, text string, status byte) {
		log := slices.Clone(logOf(t, int(which)%len(scenes)))
		log = log[:min(len(log), int(cut)+1, 400)]
		for i := 0; i+1 < len(moves) && i < 40; i += 2 {
			a, b := 1+int(moves[i])%len(log), 1+int(moves[i+1])%len(log)
			if a < len(log) && b < len(log) {
				log = slices.Insert(log, b, log[a])
			}
			if moves[i]%3 == 0 && b < len(log) {
				log = slices.Delete(log, b, b+1)
			}
		}
		for i := range log {
			log[i].Seq = uint64(i + 1)
			log[i].At = min(log[i].At, uint64(i))
			log[i] = speak(t, log[i], text)
		}
		r, err := explain.Of(sequence(log), &explain.Options{Status: pawl.Status(status % 18), Full: status%2 == 0})
		must(t, err)
		md := r.Markdown()
		if md == "" || len(r.Decisions) == 0 || len(r.Next) == 0 {
			t.Error("nothing is said")
		}
		for _, line := range unfenced(md) {
			if strings.HasPrefix(strings.TrimLeft(line, " >-"), "#") && strings.Contains(line, "FORGED") {
				t.Errorf("a forged heading: %q", line)
			}
		}
		if i := strings.IndexFunc(md, func(r rune) bool {
			return r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == 0x9b || r == 0x2028 || r == 0x202e
		}); i >= 0 {
			t.Errorf("the report contains %q", md[i:min(len(md), i+9)])
		}
		r.Status, r.Verdict = pawl.StatusPaused, pawl.Verdict{} // a status out of range does not marshal
		if _, err := json.Marshal(r); err != nil {
			t.Error(err)
		}
	})
}

// foreign are the keys of the texts in a log that are of somebody else's.
var foreign = regexp.MustCompile(`"(input|agent|owner|detail|condition|reason|text|thinking|message|why|question|error|tool|blob|hint|by)":"[^"]*"`)

// speak puts a text wherever an event holds one of somebody else's.
func speak(t *testing.T, e pawl.Entry, text string) pawl.Entry {
	if text == "" {
		return e
	}
	quoted, err := json.Marshal(text)
	must(t, err)
	line, err := e.AppendJSON(nil)
	if err != nil {
		return e
	}
	line = foreign.ReplaceAllFunc(line, func(field []byte) []byte {
		key, _, _ := bytes.Cut(field, []byte(":"))
		return append(append(bytes.Clone(key), ':'), quoted...)
	})
	if spoken, err := pawl.DecodeEntry(line); err == nil {
		return spoken
	}
	return e
}
