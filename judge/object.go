package judge

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pawl-run/pawl/internal/wire"
)

// mostAnswer is the longest answer that is read, in bytes: a judge's answer is a
// short document.
const mostAnswer = 64 << 10

// An object is the JSON object of a judge's answer, its keys in lower case.
type object map[string]json.RawMessage

// onlyObject finds the only JSON object in a text. Models surround it with
// prose or a fence although they are asked not to. The error says why there is
// no such object: two objects are two answers, and a duplicate key has two
// values.
func onlyObject(text string) (object, error) {
	if len(text) > mostAnswer {
		return nil, fmt.Errorf("its answer has %d bytes", len(text))
	}
	switch found, n := wire.Only(text); n {
	case 0:
		return nil, errors.New("its answer has no JSON object")
	case 1:
		return readObject(found)
	default:
		return nil, fmt.Errorf("its answer has %d JSON objects", n)
	}
}

// readObject reads an object and refuses duplicate keys.
func readObject(raw []byte) (object, error) {
	o, r := object{}, wire.NewReader(raw)
	for r.Open(); r.More(); {
		key := strings.ToLower(strings.TrimSpace(string(r.Key())))
		if _, twice := o[key]; twice {
			return nil, fmt.Errorf("its answer has two values for %q", key)
		}
		o[key] = r.Raw()
	}
	if r.Done() != nil {
		return nil, errors.New("its answer has no JSON object where one belongs")
	}
	return o, nil
}

// text returns a string value, and "" for any other.
func (o object) text(key string) string {
	var s string
	if json.Unmarshal(o[key], &s) != nil {
		return ""
	}
	return strings.TrimSpace(s)
}

// share returns a value from 0 to 1: a number, or one in a string, "0.8" or
// "80%".
func (o object) share(key string) (float64, error) {
	raw, ok := o[key]
	if !ok {
		return 0, fmt.Errorf("its answer has no %s", key)
	}
	text, unit := string(raw), 1.0
	var s string
	if json.Unmarshal(raw, &s) == nil && len(raw) > 0 && raw[0] == '"' {
		text = strings.TrimSpace(s)
		if cut, percent := strings.CutSuffix(text, "%"); percent {
			text, unit = strings.TrimSpace(cut), 100
		}
	}
	v, err := strconv.ParseFloat(text, 64)
	if v /= unit; err != nil || math.IsNaN(v) {
		return 0, fmt.Errorf("its %s is %s, no number", key, short(string(raw), 40))
	}
	if v < 0 || v > 1 {
		return 0, fmt.Errorf("its %s is %s, not from 0 to 1", key, short(string(raw), 40))
	}
	return v, nil
}

// objects returns a value that is a list of objects.
func (o object) objects(key string) ([]object, error) {
	var list []json.RawMessage
	if json.Unmarshal(o[key], &list) != nil {
		return nil, fmt.Errorf("its answer has no list %s", key)
	}
	all := make([]object, 0, len(list))
	for _, raw := range list {
		one, err := readObject(raw)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// short truncates untrusted text to most bytes on one line.
func short(s string, most int) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}
