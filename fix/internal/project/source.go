package project

import (
	"encoding/json"
	"fmt"
	"time"
)

// ParseSource reads the source of an agent, which SourceText wrote: a JSON object with its kind and
// the time-out of its tests besides the members of into. It reports whether the source is of the kind.
// what names such an agent in errors, which are about a source of this kind. Nil: it has no time-out.
func ParseSource(text, kind, what string, into any, timeout *time.Duration) (is bool, err error) {
	var head struct {
		Kind    string          `json:"kind"`
		Timeout json.RawMessage `json:"timeout"`
	}
	if json.Unmarshal([]byte(text), &head) != nil || head.Kind != kind {
		return false, nil
	}
	var limit string
	err = json.Unmarshal([]byte(text), into)
	if err == nil && head.Timeout != nil {
		err = json.Unmarshal(head.Timeout, &limit)
	}
	if err != nil {
		return true, fmt.Errorf("source of %s: %w", what, err)
	}
	if limit != "" && timeout != nil {
		if *timeout, err = time.ParseDuration(limit); err != nil {
			return true, fmt.Errorf("source of %s: timeout: %w", what, err)
		}
	}
	return true, nil
}

// SourceText writes the source of an agent, a struct with a member at least, as JSON.
func SourceText(kind string, source any, timeout time.Duration) string {
	text, err := json.Marshal(source)
	if err != nil {
		return fmt.Sprintf("%s: %v", kind, err)
	}
	head := fmt.Sprintf(`{"kind":%q,`, kind)
	if timeout != 0 {
		head += fmt.Sprintf(`"timeout":%q,`, timeout.String())
	}
	return head + string(text[1:])
}
