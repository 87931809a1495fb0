package openai

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func readAll(r io.Reader) (all []string, err error) {
	e := newEvents(r)
	for {
		data, err := e.next()
		if err != nil {
			return all, err
		}
		all = append(all, string(data))
	}
}

func TestEvents(t *testing.T) {
	for _, c := range []struct {
		stream string
		want   []string
	}{
		{"", nil},
		{"data: a\n\n", []string{"a"}},
		{"data:a\n\ndata:  b\n\n", []string{"a", " b"}},
		{"data: a\ndata: b\n\n", []string{"a\nb"}},
		{"data: a\r\n\r\ndata: b\r\rdata: c\n\n", []string{"a", "b", "c"}},
		{"\xEF\xBB\xBFdata: a\n\n", []string{"a"}},
		{": ping\n\nevent: x\n\nid: 1\nretry: 5\ndata: a\n\n", []string{"a"}},
		{"data\n\ndata:\n\n", []string{"", ""}},
		{"datax: a\n\n data: b\n\n", nil},
		{"data: a\n\ndata: b\n", []string{"a"}},
		{"data: a\n\ndata: b", []string{"a"}},
		{"data: é😀\n\n", []string{"é😀"}},
	} {
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(c.stream), "bytes": iotest.OneByteReader(strings.NewReader(c.stream))} {
			got, err := readAll(r)
			if d := cmp.Diff(c.want, got); d != "" || !errors.Is(err, io.EOF) {
				t.Errorf("%q, %s: %v (-want +got):\n%s", c.stream, name, err, d)
			}
		}
	}
}

// endless gives one byte for ever.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestEventsAreBounded(t *testing.T) {
	if _, err := readAll(endless{}); !errors.Is(err, errTooLong) {
		t.Errorf("an endless line: %v", err)
	}
	line := "data: " + strings.Repeat("x", 1<<20) + "\n"
	if _, err := readAll(strings.NewReader(strings.Repeat(line, 9))); !errors.Is(err, errTooLong) {
		t.Errorf("an endless event: %v", err)
	}
}

// However a stream is cut into pieces and ends its lines, its events are the same.
func FuzzEvents(f *testing.F) {
	f.Add("data: a\n\n: x\ndata: b\ndata: c\n\n")
	f.Add("\xEF\xBB\xBFdata: a\n\ndata")
	f.Fuzz(func(t *testing.T, stream string) {
		stream = strings.ReplaceAll(stream, "\r", "\n")
		want, _ := readAll(strings.NewReader(stream))
		for _, end := range []string{"\n", "\r\n", "\r"} {
			got, err := readAll(iotest.OneByteReader(strings.NewReader(strings.ReplaceAll(stream, "\n", end))))
			if d := cmp.Diff(want, got); d != "" || !errors.Is(err, io.EOF) {
				t.Errorf("%q with %q: %v (-whole +bytes):\n%s", stream, end, err, d)
			}
		}
	})
}

func FuzzTurn(f *testing.F) {
	f.Add(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"n","arguments":"{}"}}]}}]}`, `{"choices":[{"finish_reason":"tool_calls"}],"usage":{}}`)
	f.Add(`{"error":{"code":"502"}}`, `[DONE]`)
	f.Add(`[{"error":"x"}]`, `{"detail":[]}`)
	f.Fuzz(func(t *testing.T, first, second string) {
		tn := &turn{}
		for _, data := range []string{first, second} {
			if _, err := tn.on([]byte(data)); err != nil {
				return
			}
		}
		if tn.state == writing {
			return
		}
		r, err := tn.reply()
		if (r == nil) == (err == nil) {
			t.Errorf("reply %v with error %v", r, err)
		}
	})
}
