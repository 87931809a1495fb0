package explain_test

import (
	"encoding/json"
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
			log[i].Event = speak(log[i].Event, text)
		}
		r, err := explain.Of(sequence(log), &explain.Options{Status: pawl.Status(status % 18), Full: status%2 == 0})
		if err != nil {
			t.Fatal(err)
		}
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

// speak puts a text wherever an event holds one of somebody else's.
func speak(event pawl.Event, text string) pawl.Event {
	if text == "" {
		return event
	}
	raw, err := json.Marshal(text)
	if err != nil {
		return event
	}
	switch e := event.(type) {
	case pawl.RunStarted:
		e.Input, e.Owner, e.Declaration.Agent = text, text, text
		return e
	case pawl.RunStopped:
		e.Detail, e.Leaf, e.Condition = text, e.Leaf+text, text
		return e
	case pawl.RunPaused:
		e.Reason = text
		return e
	case pawl.RunResumed:
		e.Owner = text
		return e
	case pawl.ModelReplied:
		parts := slices.Clone(e.Reply.Parts)
		for i, p := range parts {
			switch p := p.(type) {
			case pawl.Text:
				parts[i] = pawl.Text{Text: text}
			case pawl.Thinking:
				parts[i] = pawl.Thinking{Text: text}
			case pawl.Call:
				p.Tool += text
				parts[i] = p
			}
		}
		e.Reply.Parts = parts
		e.Purpose += pawl.Purpose(text[:min(len(text), 1)])
		return e
	case pawl.ModelFailed:
		e.Message = text
		return e
	case pawl.PlanRejected:
		e.Reasons = []string{text, text}
		return e
	case pawl.ToolFinished:
		e.Result, e.Error, e.Tool, e.Blob = raw, text, text, text
		return e
	case pawl.ToolRefused:
		e.Why, e.Tool = text, text
		return e
	case pawl.Observed:
		e.Text = text
		return e
	case pawl.Measured:
		e.Open = append(slices.Clone(e.Open), text)
		return e
	case pawl.ProgressJudged:
		e.Detail, e.Hint = text, text
		return e
	case pawl.ApprovalRequested:
		e.Reason = text
		return e
	case pawl.ApprovalDecided:
		e.By, e.Reason, e.Args = text, text, raw
		return e
	case pawl.InputRequested:
		e.Question, e.Call = text, e.Call+text
		return e
	case pawl.ToolDoubted:
		e.Why = text
		return e
	case pawl.CancelRequested:
		e.By, e.Reason = text, text
		return e
	}
	return event
}
