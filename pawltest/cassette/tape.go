package cassette

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/tools/txtar"
)

// A tape is a recording: exchanges, in the order of their requests, and the
// order in which requests and responses began and ended.
type tape struct {
	exchanges []*exchange
	order     []mark
}

// A mark is a place in the file: the request of exchange n, from 0, or the end
// of its response.
type mark struct {
	n        int
	response bool
}

// An exchange is a request and its response.
type exchange struct {
	method, url string
	header      http.Header
	body        []byte

	status   int // 0: there was no response
	answered time.Duration
	answer   http.Header
	pieces   []piece
	end      end
	reason   string // why it was cut or failed
}

// A piece is some bytes of a body that came at once.
type piece struct {
	at   time.Duration // since the request was sent
	data []byte
}

// end is how an exchange ended, by its word in the file.
type end string

const (
	ended     end = "end"
	left      end = "left"
	cancelled end = "cancelled"
	cut       end = "cut"
	failed    end = "failed"
)

const comment = "Recorded by pawltest/cassette. Set " + Variable + "=1 to record it again.\n\n"

func (t *tape) format() []byte {
	a := &txtar.Archive{Comment: []byte(comment)}
	for _, m := range t.order {
		x := t.exchanges[m.n]
		var b bytes.Buffer
		kind, format := "request", x.formatRequest
		if m.response {
			kind, format = "response", x.formatResponse
		}
		format(&b)
		a.Files = append(a.Files, txtar.File{Name: fmt.Sprint(m.n+1, " ", kind), Data: b.Bytes()})
	}
	return txtar.Format(a)
}

func (x *exchange) formatRequest(b *bytes.Buffer) {
	fmt.Fprintf(b, "%s %s\n", x.method, x.url)
	formatHeader(b, x.header)
	if len(x.body) == 0 {
		return
	}
	b.WriteByte('\n')
	if pretty := indent(x.body); pretty != nil {
		b.Write(pretty)
		b.WriteByte('\n')
		return
	}
	formatLines(b, x.body)
}

func (x *exchange) formatResponse(b *bytes.Buffer) {
	if x.status > 0 {
		fmt.Fprintf(b, "HTTP %d after %v\n", x.status, x.answered)
		formatHeader(b, x.answer)
		b.WriteByte('\n')
		for _, p := range x.pieces {
			fmt.Fprintf(b, "+%v\n", p.at)
			formatLines(b, p.data)
		}
	}
	b.WriteString(string(x.end))
	if x.reason != "" {
		b.WriteString(": " + strings.Join(strings.Fields(strings.ToValidUTF8(x.reason, "\uFFFD")), " "))
	}
	b.WriteByte('\n')
}

func formatHeader(b *bytes.Buffer, h http.Header) {
	for _, k := range slices.Sorted(maps.Keys(h)) {
		for _, v := range h[k] {
			fmt.Fprintf(b, "%s: %s\n", k, v)
		}
	}
}

// indent is JSON for people to read, or nil for anything else. Its lines never
// begin as those of formatLines do.
func indent(body []byte) []byte {
	var pretty bytes.Buffer
	if !utf8.Valid(body) || json.Indent(&pretty, bytes.TrimSpace(body), "", "  ") != nil {
		return nil
	}
	return pretty.Bytes()
}

// formatLines writes bytes so that they can be read, survive editors and
// version control, and never look like a part of the file's own form.
func formatLines(b *bytes.Buffer, data []byte) {
	for line := range bytes.Lines(data) {
		text, end := line, byte('.')
		if t, ok := bytes.CutSuffix(text, []byte("\n")); ok {
			text, end = t, '|'
			if t, ok := bytes.CutSuffix(text, []byte("\r")); ok {
				text, end = t, '^'
			}
		}
		if plain(text) {
			b.WriteByte(end)
			b.Write(text)
		} else {
			b.WriteByte('=')
			b.WriteString(strconv.Quote(string(line)))
		}
		b.WriteByte('\n')
	}
}

// plain reports whether a line can stand as it is.
func plain(line []byte) bool {
	if n := len(line); n > 0 && (line[n-1] == ' ' || line[n-1] == '\t') {
		return false // which editors take away
	}
	return utf8.Valid(line) && !bytes.ContainsFunc(line, func(r rune) bool { return r != '\t' && !strconv.IsPrint(r) })
}

// parse reads what format wrote.
func parse(text []byte) (*tape, error) {
	t := &tape{}
	for _, f := range txtar.Parse(text).Files {
		number, kind, _ := strings.Cut(f.Name, " ")
		n, err := strconv.Atoi(number)
		lines := strings.SplitAfter(string(f.Data), "\n")
		for i, line := range lines { // as a checkout with other line ends has it
			lines[i] = strings.TrimRight(line, "\r\n")
		}
		switch {
		case err == nil && kind == "request" && n == len(t.exchanges)+1:
			x := &exchange{}
			t.exchanges = append(t.exchanges, x)
			err = x.parseRequest(lines)
		case err == nil && kind == "response" && n >= 1 && n <= len(t.exchanges) && t.exchanges[n-1].end == "":
			err = t.exchanges[n-1].parseResponse(lines)
		default:
			return nil, fmt.Errorf("section %q is out of place; want N request and then N response, with N from 1", f.Name)
		}
		if err != nil {
			return nil, fmt.Errorf("section %q: %w", f.Name, err)
		}
		t.order = append(t.order, mark{n - 1, kind == "response"})
	}
	for i, x := range t.exchanges {
		if x.end == "" {
			return nil, fmt.Errorf("request %d has no response", i+1)
		}
	}
	if len(t.exchanges) == 0 {
		return nil, errors.New("there is no exchange in it; want sections such as \"1 request\" and \"1 response\"")
	}
	return t, nil
}

func (x *exchange) parseRequest(lines []string) (err error) {
	var ok bool
	if x.method, x.url, ok = strings.Cut(lines[0], " "); !ok {
		return fmt.Errorf("want a method and an address, got %q", lines[0])
	}
	if x.header, lines, err = parseHeader(lines[1:]); err != nil || len(lines) == 0 || lines[0] == "" {
		return err
	}
	if strings.ContainsAny(lines[0][:1], "|^.=") {
		x.body, err = parseLines(nil, lines)
		return err
	}
	x.body = []byte(strings.TrimSpace(strings.Join(lines, "\n")))
	if !json.Valid(x.body) {
		return errors.New("the body is neither JSON nor lines that begin with |, ^, . or =")
	}
	return nil
}

func (x *exchange) parseResponse(lines []string) (err error) {
	if n := len(lines) - 1; n > 0 && lines[n] == "" {
		lines = lines[:n]
	}
	last := lines[len(lines)-1]
	word, reason, _ := strings.Cut(last, ": ")
	switch end(word) {
	case ended, left, cancelled, cut, failed:
		x.end, x.reason = end(word), reason
	default:
		return fmt.Errorf("want end, left, cancelled, cut or failed on the last line, got %q", last)
	}
	if lines = lines[:len(lines)-1]; len(lines) == 0 {
		return nil
	}
	var after string
	if _, err = fmt.Sscanf(lines[0], "HTTP %d after %s", &x.status, &after); err == nil {
		x.answered, err = time.ParseDuration(after)
	}
	if err != nil || x.status < 100 || x.status > 999 {
		return fmt.Errorf("want a line such as HTTP 200 after 10ms, got %q", lines[0])
	}
	if x.answer, lines, err = parseHeader(lines[1:]); err != nil {
		return err
	}
	for _, line := range lines {
		if at, ok := strings.CutPrefix(line, "+"); ok {
			d, err := time.ParseDuration(at)
			if err != nil {
				return fmt.Errorf("want a time such as +10ms, got %q", line)
			}
			x.pieces = append(x.pieces, piece{at: d})
			continue
		}
		if len(x.pieces) == 0 {
			return fmt.Errorf("want a time such as +10ms before the body, got %q", line)
		}
		p := &x.pieces[len(x.pieces)-1]
		if p.data, err = parseLines(p.data, []string{line}); err != nil {
			return err
		}
	}
	return nil
}

// parseHeader reads headers up to an empty line, and returns what follows it.
func parseHeader(lines []string) (http.Header, []string, error) {
	h := http.Header{}
	for i, line := range lines {
		if line == "" {
			return h, lines[i+1:], nil
		}
		k, v, ok := strings.Cut(line, ": ")
		if !ok {
			return nil, nil, fmt.Errorf("want a header, got %q", line)
		}
		h.Add(k, v)
	}
	return h, nil, nil
}

func parseLines(data []byte, lines []string) ([]byte, error) {
	for _, line := range lines {
		if line == "" {
			continue
		}
		switch line[0] {
		case '|':
			data = append(append(data, line[1:]...), '\n')
		case '^':
			data = append(append(data, line[1:]...), '\r', '\n')
		case '.':
			data = append(data, line[1:]...)
		case '=':
			s, err := strconv.Unquote(line[1:])
			if err != nil {
				return nil, fmt.Errorf("want a Go string behind =, got %q", line)
			}
			data = append(data, s...)
		default:
			return nil, fmt.Errorf("want a line that begins with |, ^, . or =, got %q", line)
		}
	}
	return data, nil
}
