package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/wire"
)

// thought is one line of a model's script.
type thought struct {
	reply pawl.Reply
	fail  *pawl.ModelError
	after time.Duration
	hang  bool // until the context ends
	stuck bool // even then
	panic bool
	die   bool // the process is killed while the request is out
}

// readThought reads what a model says: "text", ~"thinking", calls as
// NAME{…} or NAME:JSON, and usage=IN/OUT stop=REASON after=DURATION.
// With @ before it, the provider has run a call: a string behind it is the result, or with ! before
// that the error. searches=N is how many searches it bills.
// cite="TITLE|URL|QUOTE" is what the text before it cites.
// error=CLASS message="…" retry=DURATION hang stuck panic die.
func readThought(s string) (t thought, err error) {
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		think := strings.HasPrefix(s, `~"`)
		if think || s[0] == '"' {
			text, rest, err := quoted(strings.TrimPrefix(s, "~"))
			if err != nil {
				return t, err
			}
			if s = rest; think {
				t.reply.Parts = append(t.reply.Parts, pawl.Thinking{Text: text})
			} else {
				t.reply.Parts = append(t.reply.Parts, pawl.Text{Text: text})
			}
			continue
		}
		end := strings.IndexAny(s, "{:= ")
		switch {
		case end < 0 || s[end] == ' ':
			word, rest, _ := strings.Cut(s, " ")
			s = rest
			if err := t.flag(word); err != nil {
				return t, err
			}
		case s[end] == '=':
			name := s[:end]
			var value string
			if value, s, err = argument(s[end+1:]); err == nil {
				err = t.option(name, value)
			}
			if err != nil {
				return t, err
			}
		default:
			name := s[:end]
			args, rest, err := callArgs(strings.TrimPrefix(s[end:], ":"))
			if err != nil {
				return t, fmt.Errorf("%s: %w", name, err)
			}
			s = rest
			if name, ran := strings.CutPrefix(name, "@"); ran {
				h := pawl.HostedCall{Call: pawl.Call{Tool: name, Args: args}}
				said, failed := strings.CutPrefix(s, "!")
				if said, s, err = quoted(said); err != nil {
					return t, fmt.Errorf("%s: %w", name, err)
				}
				if failed {
					h.Error = said
				} else {
					h.Result = wire.Quote(said)
				}
				t.reply.Hosted = append(t.reply.Hosted, h)
				continue
			}
			t.reply.Parts = append(t.reply.Parts, pawl.Call{Tool: name, Args: args})
		}
	}
	return t, nil
}

// callArgs reads a call's arguments: a JSON value, or anything between backquotes.
func callArgs(s string) (args []byte, rest string, err error) {
	if raw, ok := strings.CutPrefix(s, "`"); ok {
		raw, rest, ok := strings.Cut(raw, "`")
		if !ok {
			return nil, "", fmt.Errorf("no closing backquote")
		}
		return []byte(raw), rest, nil
	}
	d := json.NewDecoder(strings.NewReader(s))
	var v json.RawMessage
	if err := d.Decode(&v); err != nil {
		return nil, "", err
	}
	return bytes.TrimSpace(v), s[d.InputOffset():], nil
}

func quoted(s string) (text, rest string, err error) {
	q, err := strconv.QuotedPrefix(s)
	if err != nil {
		return "", "", fmt.Errorf("no string at %s", s)
	}
	text, err = strconv.Unquote(q)
	return text, s[len(q):], err
}

// argument reads one value: a quoted string or a word.
func argument(s string) (value, rest string, err error) {
	if strings.HasPrefix(s, `"`) {
		return quoted(s)
	}
	value, rest, _ = strings.Cut(s, " ")
	return value, rest, nil
}

func (t *thought) flag(word string) error {
	switch word {
	case "hang":
		t.hang = true
	case "stuck":
		t.stuck = true
	case "panic":
		t.panic = true
	case "die":
		t.die = true
	default:
		return fmt.Errorf("%q is no text, call or option", word)
	}
	return nil
}

func (t *thought) option(name, value string) (err error) {
	if t.fail == nil && (name == "message" || name == "retry") {
		return fmt.Errorf("%s comes after error=", name)
	}
	switch name {
	case "usage":
		t.reply.Usage, err = usage(value)
	case "searches":
		t.reply.Usage.Searches, err = strconv.Atoi(value)
	case "spent":
		t.fail.Usage, err = usage(value)
	case "cite": // TITLE|URL|QUOTE
		parts := append(strings.SplitN(value, "|", 3), "", "")
		t.reply.Parts = append(t.reply.Parts, pawl.Citation{Title: parts[0], URL: parts[1], Quote: parts[2], Opaque: json.RawMessage(`"place"`), Model: "transcript"})
	case "stop":
		err = t.reply.Stop.UnmarshalText([]byte(value))
	case "after":
		t.after, err = time.ParseDuration(value)
	case "error":
		t.fail = &pawl.ModelError{Message: value}
		err = t.fail.Class.UnmarshalText([]byte(value))
	case "message":
		t.fail.Message = value
	case "retry":
		t.fail.RetryAfter, err = time.ParseDuration(value)
	default:
		err = fmt.Errorf("no option %q", name)
	}
	return err
}

func usage(s string) (u pawl.Usage, err error) {
	_, err = fmt.Sscanf(s, "%d/%d", &u.Input, &u.Output)
	return u, err
}

// limits reads iterations=3 tokens=1000 time=1m cost=0.5 tool_errors=2
// attempts=2; a + before a number counts from what holds now.
func limits(words []string, now pawl.Limits) (l pawl.Limits, err error) {
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		from := func(n int) int {
			if strings.HasPrefix(value, "+") {
				return n
			}
			return 0
		}
		n, bad := strconv.Atoi(value)
		switch name {
		case "iterations":
			l.Iterations = from(now.Iterations) + n
		case "tokens":
			l.Tokens = from(now.Tokens) + n
		case "tool_errors":
			l.ToolErrors = n
		case "attempts":
			l.Attempts = n
		case "handoffs":
			l.Handoffs = n
		case "rounds":
			l.Rounds = n
		case "time":
			l.Time, bad = time.ParseDuration(value)
		case "cost":
			l.Cost, bad = strconv.ParseFloat(value, 64)
		default:
			bad = fmt.Errorf("no limit %q", name)
		}
		if bad != nil {
			return l, fmt.Errorf("limits %s: %w", w, bad)
		}
	}
	return l, nil
}
