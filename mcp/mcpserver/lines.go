package mcpserver

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// lines is the connection to a client, a message a line. It answers the lines that cannot be read,
// and hides ids from the SDK that it would not send back as they came.
type lines struct {
	in      *bufio.Reader
	left    []byte // of the message that is being read
	batches bool   // the client's protocol has them
	hidden  string // begins the ids that stand for others
	shown   *regexp.Regexp

	mu  sync.Mutex
	out io.Writer
}

func newLines(in io.Reader, out io.Writer) *lines {
	hidden := rand.Text() + " "
	return &lines{in: bufio.NewReader(in), out: out, hidden: hidden, shown: regexp.MustCompile(`"` + hidden + `([^"]*)"`)}
}

// The errors of JSON-RPC.
const (
	parseError     = -32700
	invalidRequest = -32600
)

// Read reads from the messages that can be read.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.left) == 0 {
		line, long, err := l.line()
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
		code, why := 0, error(nil)
		switch {
		case long:
			code, why = invalidRequest, fmt.Errorf("the line has more than %d bytes", mostRequest)
		case len(line) > 0:
			l.left, code, why = l.message(line)
		}
		if why != nil {
			err = errors.Join(err, l.refuse(code, why))
		}
		if len(l.left) == 0 && err != nil {
			return 0, err
		}
	}
	n := copy(p, l.left)
	l.left = l.left[n:]
	return n, nil
}

// line reads a line. Of one that is too long it keeps nothing.
func (l *lines) line() (line []byte, long bool, err error) {
	for {
		part, err := l.in.ReadSlice('\n')
		if long = long || len(line)+len(part) > mostRequest; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

func (l *lines) refuse(code int, why error) error {
	answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": why.Error()}})
	if err == nil {
		_, err = l.Write(append(answer, '\n'))
	}
	return err
}

// message returns a message, or a batch of them, as the SDK can read it; or the error.
func (l *lines) message(line []byte) (whole []byte, code int, why error) {
	var batch []json.RawMessage
	switch {
	case !json.Valid(line):
		var v any
		return nil, parseError, fmt.Errorf("the line is no JSON: %w", json.Unmarshal(line, &v))
	case line[0] != '[':
		line, why = l.one(line)
	case !l.batches:
		why = errors.New("the protocol has no batches; send each message in a line of its own")
	default:
		_ = json.Unmarshal(line, &batch) // it is valid
		for i := range batch {
			var wrong error
			batch[i], wrong = l.one(batch[i])
			why = errors.Join(why, wrong)
		}
		if len(batch) == 0 {
			why = errors.New("the batch is empty")
		}
		line, _ = json.Marshal(batch)
	}
	if why != nil {
		return nil, invalidRequest, why
	}
	return append(line, '\n'), 0, nil
}

// one checks one message and hides its id where that has to be.
func (l *lines) one(message json.RawMessage) (json.RawMessage, error) {
	var m map[string]json.RawMessage
	if json.Unmarshal(message, &m) != nil || m == nil {
		return nil, errors.New("the message is no object")
	}
	if _, err := jsonrpc.DecodeMessage(message); err != nil {
		return nil, err
	}
	params := struct {
		Protocol  string          `json:"protocolVersion"`
		RequestID json.RawMessage `json:"requestId"`
	}{}
	var method string
	_, _ = json.Unmarshal(m["method"], &method), json.Unmarshal(m["params"], &params) // other parameters have none of these
	if id, has := m["id"]; has && string(id) == "null" {
		return nil, errors.New("the id of a request is a string or a number")
	}
	switch method {
	case "initialize":
		l.batches = params.Protocol != "" && params.Protocol < "2025-06-18"
	case "notifications/cancelled":
		if l.odd(params.RequestID) {
			var all map[string]json.RawMessage
			_ = json.Unmarshal(m["params"], &all) // it has a member
			all["requestId"] = l.hide(params.RequestID)
			m["params"], _ = json.Marshal(all)
			return json.Marshal(m)
		}
	}
	if method != "" && l.odd(m["id"]) {
		m["id"] = l.hide(m["id"])
		return json.Marshal(m)
	}
	return message, nil
}

// odd reports whether an id is a number that the SDK would send back as another.
func (l *lines) odd(id json.RawMessage) bool {
	const exact = 1 << 53 // as the SDK reads numbers
	if len(id) == 0 || id[0] == '"' {
		return false
	}
	n, err := strconv.ParseInt(string(id), 10, 64)
	return err != nil || n <= -exact || n >= exact
}

func (l *lines) hide(id json.RawMessage) json.RawMessage {
	return json.RawMessage(`"` + l.hidden + string(id) + `"`)
}

// Write writes a message of the SDK, with the ids as they came.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.out.Write(l.shown.ReplaceAll(p, []byte("$1"))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close leaves the output open, which belongs to the caller.
func (*lines) Close() error { return nil }
