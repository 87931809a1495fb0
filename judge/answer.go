package judge

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/wire"
)

// mostAnswer is the longest answer that is read, in bytes: a judge's answer is a
// short document.
const mostAnswer = 64 << 10

// readAnswer reads the only JSON object in a judge's answer. Models surround it with
// prose or a fence although they are asked not to. The error says why there is no
// usable object: two objects are two answers, and a key that stands there twice, in
// whatever case, has two values.
func readAnswer(text string, into any) error {
	if len(text) > mostAnswer {
		return fmt.Errorf("its answer has %d bytes", len(text))
	}
	found, n, _ := wire.Objects(text)
	switch n {
	case 0:
		return errors.New("its answer has no JSON object")
	case 1:
	default:
		return fmt.Errorf("its answer has %d JSON objects", n)
	}
	if _, err := wire.Decode(found); err != nil {
		return fmt.Errorf("its answer is ambiguous: %w", err)
	}
	spelt := map[string]string{}
	for t := range wire.Tokens(found) {
		if t.Kind != 'k' {
			continue
		}
		key := strings.ToLower(t.Text)
		if was, ok := spelt[key]; ok && was != t.Text {
			return fmt.Errorf("its answer is ambiguous: it has %q and %q", was, t.Text)
		}
		spelt[key] = t.Text
	}
	err := json.Unmarshal(found, into)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("its %s is a %s", strings.ToLower(wrong.Field), wrong.Value)
	}
	return err
}

// A score is a judge's opinion of a claim.
type score struct {
	supported bool
	why       string
}

// readScores reads a judge's opinions of n claims, counted from 1. It leaves out a claim
// that is judged twice. An answer about no claim is an error.
func readScores(text string, n int) (map[int]score, error) {
	var answer struct {
		Claims []struct {
			N         int
			Supported *bool
			Why       string
		}
	}
	if err := readAnswer(text, &answer); err != nil {
		return nil, err
	}
	found, count := map[int]score{}, map[int]int{}
	for _, c := range answer.Claims {
		if count[c.N]++; c.N < 1 || c.N > n || c.Supported == nil {
			continue
		}
		found[c.N] = score{*c.Supported, short(c.Why, mostReason)}
	}
	for i, times := range count {
		if times > 1 {
			delete(found, i)
		}
	}
	if len(found) == 0 {
		return nil, errors.New("its answer says nothing of any claim")
	}
	return found, nil
}

// short truncates untrusted text to most bytes on one line.
func short(s string, most int) string {
	words := strings.FieldsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f })
	return display.Clip(strings.Join(words, " "), most)
}
