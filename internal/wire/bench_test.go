package wire

import (
	"encoding/json"
	"testing"
	"time"
)

// The four events of one turn of a loop, about as the kernel writes them.
type called struct {
	Purpose   string `json:"purpose"`
	Attempt   int    `json:"attempt"`
	Reserved  int64  `json:"reserved_tokens"`
	MaxTokens int64  `json:"max_tokens"`
}

func (e *called) code(c *Coder) {
	c.String("purpose", &e.Purpose)
	c.Int("attempt", &e.Attempt)
	c.Int64("reserved_tokens", &e.Reserved)
	c.OptInt64("max_tokens", &e.MaxTokens)
}

type call struct {
	Call string          `json:"call"`
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`
}

func (e *call) code(c *Coder) {
	c.String("call", &e.Call)
	c.String("tool", &e.Tool)
	c.Raw("args", &e.Args)
}

type usage struct {
	In    int64 `json:"input"`
	Out   int64 `json:"output"`
	Cache int64 `json:"cache,omitempty"`
}

func (e *usage) code(c *Coder) {
	c.OptInt64("input", &e.In)
	c.OptInt64("output", &e.Out)
	c.OptInt64("cache", &e.Cache)
}

type replied struct {
	Text    string  `json:"text,omitempty"`
	Calls   []call  `json:"calls,omitempty"`
	Reason  string  `json:"stop_reason"`
	Usage   usage   `json:"usage"`
	Cost    float64 `json:"cost_usd"`
	Known   bool    `json:"-"`
	Opaque  []call  `json:"opaque,omitempty"`
	Warning string  `json:"warning,omitempty"`
}

func (e *replied) code(c *Coder) {
	c.OptString("text", &e.Text)
	OptList(c, "calls", &e.Calls, func(c *Coder, x *call) { x.code(c) })
	c.String("stop_reason", &e.Reason)
	c.Object("usage", e.Usage.code)
	c.NullFloat("cost_usd", &e.Cost, &e.Known)
	OptList(c, "opaque", &e.Opaque, func(c *Coder, x *call) { x.code(c) })
	c.OptString("warning", &e.Warning)
}

type started struct {
	Call    string          `json:"call"`
	Tool    string          `json:"tool"`
	Args    json.RawMessage `json:"args"`
	Effect  string          `json:"effect"`
	Key     string          `json:"key"`
	Attempt int             `json:"attempt"`
}

func (e *started) code(c *Coder) {
	c.String("call", &e.Call)
	c.String("tool", &e.Tool)
	c.Raw("args", &e.Args)
	c.String("effect", &e.Effect)
	c.OptString("key", &e.Key)
	c.OptInt("attempt", &e.Attempt)
}

type finished struct {
	Call     string          `json:"call"`
	Tool     string          `json:"tool"`
	Status   string          `json:"status"`
	Result   json.RawMessage `json:"result"`
	Error    string          `json:"error,omitempty"`
	Duration time.Duration   `json:"duration_ms"`
	Short    bool            `json:"truncated,omitempty"`
}

func (e *finished) code(c *Coder) {
	c.String("call", &e.Call)
	c.String("tool", &e.Tool)
	c.String("status", &e.Status)
	c.OptRaw("result", &e.Result)
	c.OptString("error", &e.Error)
	c.DurationMS("duration_ms", &e.Duration)
	c.OptBool("truncated", &e.Short)
}

// coded is dispatched dynamically, as the kernel's sealed event interface is.
type coded interface{ code(*Coder) }

func turn() []coded {
	args := json.RawMessage(`{"path":"internal/wire/coder.go","line":12}`)
	return []coded{
		&called{"step", 1, 1200, 4096},
		&replied{Text: "I shall look at the file.", Calls: []call{{"c1", "read_file", args}}, Reason: "tool_use",
			Usage: usage{In: 1180, Out: 64}, Cost: 0.00123, Known: true},
		&started{"c1", "read_file", args, "read", "", 1},
		&finished{Call: "c1", Tool: "read_file", Status: "ok", Result: json.RawMessage(`"package wire\n\nimport"`), Duration: 3 * time.Millisecond},
	}
}

func empty() []coded { return []coded{new(called), new(replied), new(started), new(finished)} }

func BenchmarkEncode(b *testing.B) {
	events, buf := turn(), make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		buf = buf[:0]
		for _, e := range events {
			c := NewEncoder(buf)
			e.code(c)
			buf, _ = c.Done()
		}
	}
	b.SetBytes(int64(len(buf)))
}

func BenchmarkEncodeStandard(b *testing.B) {
	events := turn()
	b.ReportAllocs()
	for b.Loop() {
		for _, e := range events {
			if _, err := json.Marshal(e); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func written(b *testing.B) (docs [][]byte) {
	for _, e := range turn() {
		c := NewEncoder(nil)
		e.code(c)
		doc, err := c.Done()
		if err != nil {
			b.Fatal(err)
		}
		docs = append(docs, doc)
	}
	return docs
}

func BenchmarkDecode(b *testing.B) {
	docs := written(b)
	b.ReportAllocs()
	for b.Loop() {
		for i, e := range empty() {
			c := NewDecoder(docs[i])
			e.code(c)
			if _, err := c.Done(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkDecodeStandard(b *testing.B) {
	docs := written(b)
	docs[3] = []byte(`{"call":"c1","tool":"read_file","status":"ok","result":"package wire\n\nimport","duration_ms":3}`)
	b.ReportAllocs()
	for b.Loop() {
		for i, e := range empty() {
			if err := json.Unmarshal(docs[i], e); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkEntries writes and reads the turn in envelopes like the log's.
func BenchmarkEntries(b *testing.B) {
	at := time.Date(2026, 7, 25, 10, 0, 0, 123456000, time.UTC)
	run, kind, seq, iteration := "run_01J9ZKQ3W8V5", "tool.finished", uint64(12), 3
	envelope := func(c *Coder, e coded) {
		c.String("run", &run)
		c.Uint64("seq", &seq)
		c.Uint64("at", &seq)
		c.Time("time", &at)
		c.Int("iteration", &iteration)
		c.String("type", &kind)
		c.Object("data", e.code)
	}
	events, buf := turn(), make([]byte, 0, 4096)
	b.ReportAllocs()
	for b.Loop() {
		read := empty()
		for i, e := range events {
			c := NewEncoder(buf[:0])
			envelope(c, e)
			buf, _ = c.Done()
			c = NewDecoder(buf)
			envelope(c, read[i])
			if _, err := c.Done(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkEncodeText(b *testing.B) {
	text := string(make([]byte, 0, 8192))
	for len(text) < 8000 {
		text += "A line of prose with a \"quotation\" in it.\n"
	}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		c := NewEncoder(buf[:0])
		c.String("text", &text)
		buf, _ = c.Done()
	}
	b.SetBytes(int64(len(text)))
}
