package wire

import "encoding/json"

// A Completion is the final answer that a model hands in by a call.
type Completion struct {
	Answer     string
	Given      json.RawMessage // the answer as it was handed in; nil: it was a text
	Confidence float64
	Sure       bool // a confidence was given
	Summary    string
}

// ReadCompletion reads the arguments of such a call; nil: they are not an object.
func ReadCompletion(value json.RawMessage) *Completion {
	var c struct {
		Answer     json.RawMessage `json:"answer"`
		Confidence *float64        `json:"confidence"`
		Summary    string          `json:"summary"`
	}
	if json.Unmarshal(value, &c) != nil {
		return nil
	}
	done := &Completion{Answer: Plain(c.Answer), Given: c.Answer, Summary: c.Summary}
	if c.Confidence != nil {
		done.Confidence, done.Sure = *c.Confidence, true
	}
	return done
}
