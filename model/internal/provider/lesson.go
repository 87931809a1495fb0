package provider

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pawl-run/pawl"
)

// A Lesson is a change to requests that a server taught by refusing one.
type Lesson struct {
	Field   string // what the server refused, as in the body: temperature, or reasoning.effort
	Rename  string // send it under this name; empty: see Instead
	Instead any    // send this value in its place; nil: leave it out
	Most    int    // send no number greater than this; 0: see Instead
	Why     string // what the server said
}

// Lessons are what a server taught about one of its models. They hold for the rest of the
// process once a request that was changed accordingly is accepted: see [Attempt].
type Lessons struct {
	of   string // the model and its server
	list []Lesson
}

var learned = struct {
	sync.Mutex
	of map[string][]Lesson
}{of: map[string][]Lesson{}}

// Lessons returns a copy of what the process knows so far.
func (s *Server) Lessons() *Lessons {
	of := s.base + " " + s.Name
	learned.Lock()
	defer learned.Unlock()
	return &Lessons{of, slices.Clone(learned.of[of])}
}

// Learn adds a lesson for the next attempt. It returns false for a lesson that is known: it
// does not help.
func (l *Lessons) Learn(x Lesson) bool {
	if slices.ContainsFunc(l.list, func(y Lesson) bool {
		return x.Field == y.Field && x.Rename == y.Rename && x.Most == y.Most && string(Marshal(x.Instead)) == string(Marshal(y.Instead))
	}) {
		return false
	}
	x.Why = Clip(x.Why)
	l.list = append(l.list, x)
	return true
}

// Of returns the last lesson about a field. A field may also stand for something that the
// adapter itself heeds, such as an endpoint.
func (l *Lessons) Of(field string) (Lesson, bool) {
	for _, x := range slices.Backward(l.list) {
		if x.Field == field {
			return x, true
		}
	}
	return Lesson{}, false
}

// Apply changes a request and returns a note for the user about each change.
func (l *Lessons) Apply(req map[string]any) (notes []string) {
	for _, x := range l.list {
		within, name := req, x.Field
		for head, rest, nested := strings.Cut(name, "."); nested && within != nil; head, rest, nested = strings.Cut(name, ".") {
			within, name = object(within, head), rest
		}
		value, has := within[name]
		number, _ := value.(int)
		if !has || x.Most > 0 && number <= x.Most {
			continue
		}
		switch {
		case x.Most > 0:
			within[name] = x.Most
		case x.Rename != "":
			delete(within, name)
			within[x.Rename] = value
		case x.Instead != nil:
			within[name] = x.Instead
		default:
			delete(within, name)
		}
		notes = append(notes, x.Note())
	}
	return notes
}

// Note says to the user what is changed, and why.
func (x *Lesson) Note() string {
	how := " was left out"
	switch {
	case x.Rename != "":
		how = " was sent as " + x.Rename
	case x.Most > 0:
		how = " was sent as " + strconv.Itoa(x.Most)
	case x.Instead != nil:
		how = " was sent as " + string(Marshal(x.Instead))
	}
	return x.Field + how + ", because the server refused it: " + x.Why
}

// keep makes the lessons those of the process.
func (l *Lessons) keep() {
	if l == nil {
		return
	}
	learned.Lock()
	defer learned.Unlock()
	if len(l.list) > len(learned.of[l.of]) {
		learned.of[l.of] = slices.Clone(l.list)
	}
}

// object returns a field that is an object, as one that can be changed; nil: it is none.
func object(req map[string]any, name string) map[string]any {
	switch v := req[name].(type) {
	case map[string]any:
		return v
	case json.RawMessage:
		fields, err := Fields(v)
		if err != nil || fields == nil {
			return nil
		}
		own := map[string]any{}
		for k, v := range fields {
			own[k] = v
		}
		req[name] = own
		return own
	}
	return nil
}

// Join puts the keys of an option that is an object into the field of that name, where they
// win over those of the same name, and null removes one. Objects in it join in the same way.
// Any other option takes the place of the field, and so does an object with another type,
// because the fields of the old one mean something else.
func Join(req map[string]any, name string, v json.RawMessage) {
	fields, err := Fields(v)
	own := object(req, name)
	if err != nil || fields == nil || own == nil || fields["type"] != nil && own["type"] != nil && string(Marshal(own["type"])) != string(fields["type"]) {
		Put(req, name, v)
		return
	}
	for k, v := range fields {
		Join(own, k, v)
	}
}

// Unwanted reports whether an error says that the server takes a field not at all, or not with
// a value that the model does not know, and names the field by one of the words. Other errors,
// such as a number out of range, are the user's to fix.
func Unwanted(refused error, words ...string) bool {
	e, ok := errors.AsType[*pawl.ModelError](refused)
	return ok && e.Class == pawl.ClassInvalid && unwanted.MatchString(e.Message) && slices.ContainsFunc(words, func(w string) bool {
		return regexp.MustCompile(`(?i)(^|[^a-z0-9_])` + regexp.QuoteMeta(w) + `([^a-z0-9_]|$)`).MatchString(e.Message)
	})
}

var unwanted = regexp.MustCompile(`(?i)not (be )?(support|permit|allow|accept|available|recogni)|unsupported|un(known|recogni[sz]ed|expected)|extra (inputs|fields)|deprecated|(doesn't|do(es)? not|cannot|can't) (support|be (set|used|specified|combined))|may only be|must be (unset|omitted|removed)|should be '|invalid (value|parameter|argument)|incompatible`)
