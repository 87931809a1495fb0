package eval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/jsonschema"
)

// Kind is what a scorer does.
type Kind string

// The kinds. Judge is scored by a model, elsewhere.
const (
	Exact    Kind = "exact"    // the answer is what is expected
	Contains Kind = "contains" // the answer has some texts in it
	Number   Kind = "number"   // the last number of the answer is about the expected one
	Schema   Kind = "schema"   // the output, or else the answer as JSON, follows a JSON Schema
	Status   Kind = "status"   // the run ended so
	Judge    Kind = "judge"    // a model finds that the answer follows a rubric
)

// A Scorer judges a result.
type Scorer struct {
	Kind      Kind
	Want      string   // of Status
	Texts     []string // of Contains; none: what is expected
	Tolerance float64  // of Number
	Schema    *jsonschema.Schema
	Judge     Rubric
}

// A Rubric is what a model judges by.
type Rubric struct {
	Model  string  `yaml:"model" json:"model"`
	Rubric string  `yaml:"rubric" json:"rubric"`
	Pass   float64 `yaml:"pass" json:"pass"` // the least score that passes; default 0.5
	Cost   float64 `yaml:"cost" json:"cost"` // the most dollars one judgement may cost; default 0.05
}

// String returns the name of the scorer in reports.
func (s Scorer) String() string { return string(s.Kind) }

// scorer reads one scorer: a word, or a mapping of a word to its settings.
func (r *reader) scorer(path string, line int, n ast.Node) (s Scorer, ok bool) {
	const forms = "exact, contains: TEXT, number: TOLERANCE, schema: {…}, status: success or judge: {model: …, rubric: …}"
	var value ast.Node
	switch m := n.(type) {
	case *ast.StringNode:
		s.Kind = Kind(m.Value)
	case *ast.MappingNode:
		if len(m.Values) != 1 {
			r.at(path, line, n, "a scorer has one key (write %s)", forms)
			return s, false
		}
		s.Kind, value = Kind(m.Values[0].Key.GetToken().Value), m.Values[0].Value
	case *ast.MappingValueNode:
		s.Kind, value = Kind(m.Key.GetToken().Value), m.Value
	default:
		r.at(path, line, n, "this is no scorer (write %s)", forms)
		return s, false
	}
	var err error
	set := func(to any) { err = yaml.NodeToValue(value, to, yaml.DisallowUnknownField()) }
	switch {
	case s.Kind == Exact && value == nil:
	case s.Kind == Contains && value == nil:
	case s.Kind == Contains:
		if set(&s.Texts); err != nil {
			var one string
			set(&one)
			s.Texts = []string{one}
		}
	case s.Kind == Number && value == nil:
	case s.Kind == Number:
		if set(&s.Tolerance); err == nil && s.Tolerance < 0 {
			err = errors.New("the tolerance must not be negative")
		}
	case s.Kind == Status:
		if s.Want = "success"; value != nil {
			set(&s.Want)
		}
		var status pawl.Status
		if err == nil {
			err = status.UnmarshalText([]byte(s.Want))
		}
	case s.Kind == Schema && value != nil:
		var doc any
		set(&doc)
		var raw []byte
		if raw, err = json.Marshal(doc); err == nil {
			s.Schema, err = jsonschema.Compile(raw, nil)
		}
	case s.Kind == Judge && value != nil:
		s.Judge = Rubric{Pass: 0.5, Cost: 0.05}
		set(&s.Judge)
		if err == nil && (s.Judge.Model == "" || s.Judge.Rubric == "") {
			err = errors.New("a judge has a model and a rubric")
		}
	default:
		r.at(path, line, n, "this is no scorer (write %s)", forms)
		return s, false
	}
	if _, placed := errors.AsType[yaml.Error](err); placed {
		r.bad(path, line, err)
	} else if err != nil {
		r.at(path, line, value, "%s: %v", s.Kind, err)
	}
	return s, err == nil
}

// A Score is what one scorer says of one run.
type Score struct {
	Scorer string  `json:"scorer"`
	Score  float64 `json:"score"` // from 0 to 1
	Pass   bool    `json:"pass"`
	Detail string  `json:"detail,omitempty"` // why it did not pass
}

func verdict(name string, pass bool, format string, args ...any) Score {
	if pass {
		return Score{name, 1, true, ""}
	}
	return Score{name, 0, false, fmt.Sprintf(format, args...)}
}

// Of scores a result. It cannot judge.
func (s Scorer) Of(c Case, r pawl.Result) Score {
	name := s.String()
	answer := strings.TrimSpace(r.Answer)
	switch s.Kind {
	case Status:
		return verdict(name, r.Status.String() == s.Want, "%v, not %s", r.Status, s.Want)
	case Exact:
		if text, ok := c.Expected.(string); ok {
			return verdict(name, answer == strings.TrimSpace(text), "it says %q, not %q", gist(answer), gist(text))
		}
		return verdict(name, sameJSON(document(r), c.Expected), "it says %s, not %v", gist(answer), c.Expected)
	case Contains:
		texts := s.Texts
		if len(texts) == 0 {
			texts = []string{fmt.Sprint(c.Expected)}
		}
		for _, text := range texts {
			if !strings.Contains(r.Answer, text) {
				return verdict(name, false, "%q is not in %q", text, gist(answer))
			}
		}
		return verdict(name, true, "")
	case Number:
		want, err := strconv.ParseFloat(fmt.Sprint(c.Expected), 64)
		got, ok := lastNumber(string(document(r)))
		// What a tolerance such as 0.1 permits is not to depend on how it is rounded.
		near := err == nil && ok && math.Abs(got-want) <= s.Tolerance+1e-9*max(math.Abs(got), math.Abs(want))*min(s.Tolerance, 1)
		return verdict(name, near, "the last number of %q is not %v", gist(answer), c.Expected)
	case Schema:
		if !json.Valid(document(r)) {
			return verdict(name, false, "%q is not JSON", gist(answer))
		}
		problems := s.Schema.Validate(document(r))
		return verdict(name, len(problems) == 0, "%s", strings.Join(jsonschema.Tell(problems, "the schema"), "; "))
	}
	return verdict(name, false, "it is not scored here")
}

// Judged is the score that a judge's reply says.
func (s Scorer) Judged(r pawl.Result) Score {
	var said struct {
		Score  *float64 `json:"score"`
		Reason string   `json:"reason"`
	}
	err := json.Unmarshal(document(r), &said)
	if r.Status != pawl.StatusSuccess || err != nil || said.Score == nil || *said.Score < 0 || *said.Score > 1 {
		return verdict(s.String(), false, "the judge did not answer: run %s, %v", r.Run, r.Status)
	}
	score := Score{Scorer: s.String(), Score: *said.Score, Pass: *said.Score >= s.Judge.Pass}
	if !score.Pass {
		score.Detail = said.Reason
	}
	return score
}

// document is the typed output, or else the answer.
func document(r pawl.Result) []byte {
	if r.Output != nil {
		return r.Output
	}
	return []byte(strings.TrimSpace(r.Answer))
}

// sameJSON compares values, whatever the order of keys and the form of numbers.
func sameJSON(got []byte, want any) bool {
	raw, err := json.Marshal(want)
	var a, b any
	return err == nil && json.Unmarshal(got, &a) == nil && json.Unmarshal(raw, &b) == nil && reflect.DeepEqual(a, b)
}

var numbers = regexp.MustCompile(`[-+]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?([eE][-+]?\d+)?`)

// lastNumber finds the last number of a text, in which commas may part thousands.
func lastNumber(text string) (float64, bool) {
	all := numbers.FindAllString(text, -1)
	if len(all) == 0 {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(all[len(all)-1], ",", ""), 64)
	return n, err == nil
}

// gist is the beginning of a text.
func gist(text string) string {
	const long = 120
	if r := []rune(text); len(r) > long {
		return string(bytes.TrimSpace([]byte(string(r[:long])))) + "…"
	}
	return text
}
