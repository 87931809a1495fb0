package provider

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
)

// A server that refuses two fields, one after the other, gets the request without them in
// one attempt of the run, and later requests at once. A model at another address knows
// nothing of it.
func TestALessonHoldsForTheProcess(t *testing.T) {
	var came []string
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		came = append(came, strings.TrimSpace(string(body)))
		for _, field := range []string{"cold", "deep"} {
			if strings.Contains(string(body), `"`+field+`"`) {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, `{"error":"`+field+`"}`)
				return
			}
		}
		events(w, "Yes.", "end")
	})
	ask := func(base string) (notes []string) {
		s := vendor.Server("none", "tiny", Options{BaseURL: base})
		lessons := s.Lessons()
		for c, err := range s.Stream(t.Context(), pawl.Request{}, func(refused error) (*Attempt, error) {
			if refused != nil {
				if me := refused.(*pawl.ModelError); !lessons.Learn(Lesson{Field: me.Message, Why: "it is " + me.Message}) {
					return nil, refused
				}
			}
			req := map[string]any{"cold": 1, "deep": true}
			notes := lessons.Apply(req)
			body, err := JSON(req)
			return &Attempt{Path: "/say", Body: body, Reader: &plain{}, Lessons: lessons, Notes: notes}, err
		}) {
			if err != nil {
				t.Fatal(err)
			}
			if c.Reply != nil {
				notes = c.Reply.Notes
			}
		}
		return notes
	}
	first, other := httptest.NewServer(handler), httptest.NewServer(handler)
	defer first.Close()
	defer other.Close()
	want := []string{"cold was left out, because the server refused it: it is cold", "deep was left out, because the server refused it: it is deep"}
	for i, base := range []string{first.URL, first.URL, other.URL} {
		if notes := ask(base); !slices.Equal(notes, want) {
			t.Errorf("request %d: notes %q", i+1, notes)
		}
	}
	learn := []string{`{"cold":1,"deep":true}`, `{"deep":true}`, `{}`}
	if d := cmp.Diff(slices.Concat(learn, []string{`{}`}, learn), came); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestALessonIsApplied(t *testing.T) {
	for name, c := range map[string]struct {
		lesson Lesson
		want   string
		note   string
	}{
		"left out":              {Lesson{Field: "cold", Why: "no"}, `{"think":{"effort":"low","show":1}}`, "cold was left out, because the server refused it: no"},
		"renamed":               {Lesson{Field: "cold", Rename: "cool", Why: "no"}, `{"cool":9,"think":{"effort":"low","show":1}}`, "cold was sent as cool, because the server refused it: no"},
		"replaced":              {Lesson{Field: "think.effort", Instead: "none", Why: "no"}, `{"cold":9,"think":{"effort":"none","show":1}}`, `think.effort was sent as "none", because the server refused it: no`},
		"left out of an option": {Lesson{Field: "think.show", Why: "no"}, `{"cold":9,"think":{"effort":"low"}}`, "think.show was left out, because the server refused it: no"},
		"not there":             {Lesson{Field: "warm"}, `{"cold":9,"think":{"effort":"low","show":1}}`, ""},
		"a number too large":    {Lesson{Field: "cold", Most: 7, Why: "no"}, `{"cold":7,"think":{"effort":"low","show":1}}`, "cold was sent as 7, because the server refused it: no"},
		"a number small enough": {Lesson{Field: "cold", Most: 10, Why: "no"}, `{"cold":9,"think":{"effort":"low","show":1}}`, ""},
		"not there within":      {Lesson{Field: "cold.warm"}, `{"cold":9,"think":{"effort":"low","show":1}}`, ""},
	} {
		l := &Lessons{}
		if !l.Learn(c.lesson) || l.Learn(c.lesson) {
			t.Errorf("%s: want it to be learned once", name)
		}
		req := map[string]any{"cold": 9, "think": json.RawMessage(`{"effort":"low","show":1}`)}
		notes := l.Apply(req)
		if body, _ := JSON(req); strings.TrimSpace(string(body)) != c.want || strings.Join(notes, "; ") != c.note {
			t.Errorf("%s: %s, notes %q", name, body, notes)
		}
	}
}

// Options join the objects of a request field by field, and win.
func TestJoin(t *testing.T) {
	const text = `{"format":{"type":"json","schema":{"z":1,"a":2}}}`
	for option, want := range map[string]string{
		`{"verbosity":"low"}`:                         `{"text":{"format":{"type":"json","schema":{"z":1,"a":2}},"verbosity":"low"}}`,
		`{"format":null,"verbosity":"low"}`:           `{"text":{"verbosity":"low"}}`,
		`{"format":1}`:                                `{"text":{"format":1}}`,
		`{"format":{"strict":true,"schema":null}}`:    `{"text":{"format":{"strict":true,"type":"json"}}}`,
		`{"format":{"type":"json","schema":{"b":3}}}`: `{"text":{"format":{"schema":{"a":2,"b":3,"z":1},"type":"json"}}}`,
		`{"format":{"type":"text"}}`:                  `{"text":{"format":{"type":"text"}}}`,
		`"plain"`:                                     `{"text":"plain"}`,
		`null`:                                        `{}`,
	} {
		req := map[string]any{"text": json.RawMessage(text)}
		Join(req, "text", json.RawMessage(option))
		if body, _ := JSON(req); strings.TrimSpace(string(body)) != want {
			t.Errorf("%s: %s, want %s", option, body, want)
		}
	}
}

// An error teaches only if it says that a field is not taken, and which.
func TestUnwanted(t *testing.T) {
	for message, want := range map[string]bool{
		"`temperature` is deprecated for this model.":                                      true,
		"temperature: Extra inputs are not permitted":                                      true,
		"Unsupported parameter: 'temperature' is not supported with this model.":           true,
		"Unsupported value: 'temperature' does not support 0.2 with this model.":           true,
		"`temperature` may only be set to 1 when thinking is enabled.":                     true,
		"temperature: Input should be less than or equal to 1":                             false,
		"generation_config.temperature_scale is not supported":                             false,
		"`top_k` is deprecated for this model.":                                            false,
		"prompt is too long: 210000 tokens > 200000 maximum, whatever the temperature is.": false,
	} {
		if got := Unwanted(&pawl.ModelError{Class: pawl.ClassInvalid, Message: message}, "temperature"); got != want {
			t.Errorf("%s: %v, want %v", message, got, want)
		}
		if Unwanted(&pawl.ModelError{Class: pawl.ClassOverloaded, Message: message}, "temperature") {
			t.Errorf("%s: an overloaded server teaches", message)
		}
	}
}

// Thinking goes back to the model and the account that it is of, behind what it was made behind.
func TestRecalls(t *testing.T) {
	account := func(o Options) string {
		s := vendor.Server("none", "tiny", o)
		return s.Account()
	}
	key := Options{APIKey: "a", BaseURL: "http://one"}
	for name, c := range map[string]struct {
		part  pawl.Thinking
		bound bool
		want  bool
	}{
		"of this account":        {pawl.Thinking{Model: "none/tiny", Account: account(key)}, true, true},
		"of no account":          {pawl.Thinking{Model: "none/tiny"}, true, true},
		"of another key":         {pawl.Thinking{Model: "none/tiny", Account: account(Options{APIKey: "b", BaseURL: "http://one"})}, false, false},
		"of another endpoint":    {pawl.Thinking{Model: "none/tiny", Account: account(Options{APIKey: "a", BaseURL: "http://two"})}, false, false},
		"of another model":       {pawl.Thinking{Model: "none/huge", Account: account(key)}, false, false},
		"behind something else":  {pawl.Thinking{Model: "none/tiny", Moved: true}, true, false},
		"behind whatever it was": {pawl.Thinking{Model: "none/tiny", Moved: true}, false, true},
	} {
		s := vendor.Server("none", "tiny", key)
		s.Traits.Bound = c.bound
		if got := s.Recalls(c.part); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if a := account(key); len(a) != 12 || strings.Contains(a, "a\n") {
		t.Errorf("account %q", a)
	}
}
