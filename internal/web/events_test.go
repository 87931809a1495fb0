package web

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func readAll(r io.Reader) (all []string, err error) {
	e := NewEvents(r, 8<<20)
	for {
		data, err := e.Next()
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
		err    error
	}{
		{"", nil, io.EOF},
		{"data: a\n\n", []string{"a"}, io.EOF},
		{"data:a\n\ndata:  b\n\n", []string{"a", " b"}, io.EOF},
		{"data: a\ndata: b\n\n", []string{"a\nb"}, io.EOF},
		{"data: a\r\n\r\ndata: b\r\rdata: c\n\n", []string{"a", "b", "c"}, io.EOF},
		{"\xEF\xBB\xBFdata: a\n\n", []string{"a"}, io.EOF},
		{": ping\n\nevent: x\n\nid: 1\nretry: 5\ndata: a\n\n", []string{"a"}, io.EOF},
		{"data\n\ndata:\n\n", []string{"", ""}, io.EOF},
		{"datax: a\n\n data: b\n\n", nil, io.EOF},
		{"data: a\n\ndata: b\n", []string{"a"}, io.ErrUnexpectedEOF},
		{"data: a\n\ndata: b", []string{"a"}, io.ErrUnexpectedEOF},
		{"data: a\n\nda", []string{"a"}, io.ErrUnexpectedEOF},
		{"data: é😀\n\n", []string{"é😀"}, io.EOF},
		{"data: a\n\n{\n \"error\": {}\n}\n\ndata: b\n\n", []string{"a", "{\n \"error\": {}\n}\n", "b"}, io.EOF},
		{"data: a\n\n{\"error\":1}", []string{"a", "{\"error\":1}\n"}, io.EOF},
		{"{\"a\":\n\ndata: b\n\n", []string{"b"}, io.EOF},
		{"42\n\n", nil, io.EOF},
	} {
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(c.stream), "bytes": iotest.OneByteReader(strings.NewReader(c.stream))} {
			got, err := readAll(r)
			if d := cmp.Diff(c.want, got); d != "" || !errors.Is(err, c.err) {
				t.Errorf("%q, %s: %v (-want +got):\n%s", c.stream, name, err, d)
			}
		}
	}
	if _, err := readAll(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("data: a\n\n")))); !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("error %v, want the reader's", err)
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
	if _, err := readAll(endless{}); !errors.Is(err, ErrEventTooLong) {
		t.Errorf("an endless line: %v", err)
	}
	for _, start := range []string{"data: ", "stray"} {
		line := start + strings.Repeat("x", 1<<20) + "\n"
		if _, err := readAll(strings.NewReader(strings.Repeat(line, 9))); !errors.Is(err, ErrEventTooLong) {
			t.Errorf("endless %s: %v", start, err)
		}
	}
}

// However a stream is cut into pieces and ends its lines, its events are the same.
func FuzzEvents(f *testing.F) {
	f.Add("data: a\n\n: x\ndata: b\ndata: c\n\n")
	f.Add("\xEF\xBB\xBFdata: a\n\ndata")
	f.Add("data: a\n\n{\n\"error\":1}\n\n")
	f.Fuzz(func(t *testing.T, stream string) {
		stream = strings.ReplaceAll(stream, "\r", "\n")
		want, wrong := readAll(strings.NewReader(stream))
		for _, end := range []string{"\n", "\r\n", "\r"} {
			got, err := readAll(iotest.OneByteReader(strings.NewReader(strings.ReplaceAll(stream, "\n", end))))
			if d := cmp.Diff(want, got); d != "" || !errors.Is(err, wrong) {
				t.Errorf("%q with %q: %v (-whole +bytes):\n%s", stream, end, err, d)
			}
		}
	})
}
