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
				if me := refused.(*pawl.ModelError); !lessons.Learn(Lesson{Field: me.Message, Why: "it is " + me.Message}) { //nolint:errorlint // no other
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
		"renamed":               {Lesson{Field: "cold", Rename: "cool", Why: "no"}, `{"cool":1,"think":{"effort":"low","show":1}}`, "cold was sent as cool, because the server refused it: no"},
		"replaced":              {Lesson{Field: "think.effort", Instead: "none", Why: "no"}, `{"cold":1,"think":{"effort":"none","show":1}}`, `think.effort was sent as "none", because the server refused it: no`},
		"left out of an option": {Lesson{Field: "think.show", Why: "no"}, `{"cold":1,"think":{"effort":"low"}}`, "think.show was left out, because the server refused it: no"},
		"not there":             {Lesson{Field: "warm"}, `{"cold":1,"think":{"effort":"low","show":1}}`, ""},
		"not there within":      {Lesson{Field: "cold.warm"}, `{"cold":1,"think":{"effort":"low","show":1}}`, ""},
	} {
		l := &Lessons{}
		if !l.Learn(c.lesson) || l.Learn(c.lesson) {
			t.Errorf("%s: want it to be learned once", name)
		}
		req := map[string]any{"cold": 1, "think": json.RawMessage(`{"effort":"low","show":1}`)}
		notes := l.Apply(req)
		if body, _ := JSON(req); strings.TrimSpace(string(body)) != c.want || strings.Join(notes, "; ") != c.note {
			t.Errorf("%s: %s, notes %q", name, body, notes)
		}
	}
}

func TestJoin(t *testing.T) {
	for option, want := range map[string]string{
		`{"verbosity":"low"}`:               `{"text":{"format":{"type":"json"},"verbosity":"low"}}`,
		`{"format":null,"verbosity":"low"}`: `{"text":{"verbosity":"low"}}`,
		`{"format":1}`:                      `{"text":{"format":1}}`,
		`"plain"`:                           `{"text":"plain"}`,
		`null`:                              `{}`,
	} {
		req := map[string]any{"text": map[string]any{"format": map[string]any{"type": "json"}}}
		Join(req, "text", json.RawMessage(option))
		if body, _ := JSON(req); strings.TrimSpace(string(body)) != want {
			t.Errorf("%s: %s, want %s", option, body, want)
		}
	}
}
