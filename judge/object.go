package judge

import (
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
type object map[string]any

// onlyObject finds the only JSON object in a text. Models surround it with
// prose or a fence although they are asked not to. The error says why there is
// no such object: two objects are two answers, and a duplicate key has two
// values.
func onlyObject(text string) (object, error) {
	if len(text) > mostAnswer {
		return nil, fmt.Errorf("its answer has %d bytes", len(text))
	}
	switch found, n, _ := wire.Objects(text); n {
	case 0:
		return nil, errors.New("its answer has no JSON object")
	case 1:
		value, err := wire.Decode(found)
		if err != nil {
			return nil, fmt.Errorf("its answer is ambiguous: %w", err)
		}
		return objectOf(value)
	default:
		return nil, fmt.Errorf("its answer has %d JSON objects", n)
	}
}

// objectOf returns a decoded object. It refuses keys that differ in case or space only.
func objectOf(value any) (object, error) {
	members, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("its answer has no JSON object where one belongs")
	}
	o := object{}
	for key, member := range members {
		key = strings.ToLower(strings.TrimSpace(key))
		if _, twice := o[key]; twice {
			return nil, fmt.Errorf("its answer has two values for %q", key)
		}
		o[key] = member
	}
	return o, nil
}

// text returns a string value, and "" for any other.
func (o object) text(key string) string {
	s, _ := o[key].(string)
	return strings.TrimSpace(s)
}

// share returns a value from 0 to 1: a number, or one in a string, "0.8" or
// "80%".
func (o object) share(key string) (float64, error) {
	value, ok := o[key]
	if !ok {
		return 0, fmt.Errorf("its answer has no %s", key)
	}
	text, unit := strings.TrimSpace(fmt.Sprint(value)), 1.0
	if cut, percent := strings.CutSuffix(text, "%"); percent {
		text, unit = strings.TrimSpace(cut), 100
	}
	v, err := strconv.ParseFloat(text, 64)
	if v /= unit; err != nil || math.IsNaN(v) {
		return 0, fmt.Errorf("its %s is %s, no number", key, written(value))
	}
	if v < 0 || v > 1 {
		return 0, fmt.Errorf("its %s is %s, not from 0 to 1", key, written(value))
	}
	return v, nil
}

// written is a value as the judge wrote it, shortened.
func written(value any) string {
	raw, _ := wire.Marshal(value) // what was read can be written
	return short(string(raw), 40)
}

// objects returns a value that is a list of objects.
func (o object) objects(key string) ([]object, error) {
	list, ok := o[key].([]any)
	if !ok {
		return nil, fmt.Errorf("its answer has no list %s", key)
	}
	all := make([]object, 0, len(list))
	for _, value := range list {
		one, err := objectOf(value)
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
