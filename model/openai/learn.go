package openai

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/sheet"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// An asking is a request with its attempts, each changed by what the server said of the last.
type asking struct {
	*Model
	r       pawl.Request
	lessons *provider.Lessons
	forget  bool           // the reasoning of earlier turns is left out, because it was refused
	recalls bool           // the last attempt had such reasoning
	only    API            // the one to ask, whatever was learned; empty: see asks
	api     API            // of the last attempt
	sent    map[string]any // its body
}

// next makes the next attempt, or returns the refusal of the last one if nothing helps.
func (a *asking) next(refused error) (*provider.Attempt, error) {
	if refused != nil && !a.learn(refused) {
		return nil, refused
	}
	req, notes, err := a.request()
	if err != nil {
		return nil, err
	}
	body, err := provider.JSON(req)
	at := &provider.Attempt{Path: "/responses", Body: body, Reader: &response{}, Lessons: a.lessons, Notes: notes}
	if a.api == Chat {
		at.Path, at.Reader = "/chat/completions", &turn{tools: a.r.Tools}
	}
	return at, err
}

// request returns the body of the next attempt, and notes on what was left out or changed.
func (a *asking) request() (req map[string]any, notes []string, err error) {
	if a.api = cmp.Or(a.only, a.asks(a.lessons)); a.api == Chat {
		req, notes, err = a.chatRequest()
	} else {
		req, notes, err = a.responsesRequest()
	}
	if err != nil {
		return nil, nil, err
	}
	if taught, ok := a.lessons.Of(endpoint); ok {
		used, refused := "Chat Completions", "Responses"
		if taught.Instead == Responses {
			used, refused = refused, used
		}
		notes = append(notes, used+" was used, because the server refused "+refused+": "+taught.Why)
	}
	notes = append(append(notes, a.temper(req)...), a.lessons.Apply(req)...)
	a.sent = req
	return req, notes, nil
}

// learn reports whether a refusal says how to change the request.
func (a *asking) learn(refused error) bool {
	e, ok := errors.AsType[*pawl.ModelError](refused)
	f, told := errors.AsType[fault](refused)
	if !ok || !told {
		return false
	}
	if a.api == Responses && a.recalls && forReasoning(e) {
		a.forget = true
		return true
	}
	if lesson, ok := a.otherAPI(e, f); ok {
		return a.lessons.Learn(lesson)
	}
	if e.Class == pawl.ClassTooLong {
		lesson, ok := a.shorter(f)
		return ok && a.lessons.Learn(lesson)
	}
	if e.Class != pawl.ClassInvalid {
		return false
	}
	field := a.refusedField(f)
	if field == "" {
		return false
	}
	lesson, ok := a.instead(field, f)
	lesson.Field, lesson.Why = field, f.message
	return ok && a.lessons.Learn(lesson)
}

// otherAPI returns the lesson of a server that wants the other API. A server that has no
// Responses API answers as for any unknown path. If it has just demanded it, as gateways pass on
// what OpenAI says, the model is asked without effort instead, which OpenAI names as the other way.
func (a *asking) otherAPI(e *pawl.ModelError, f fault) (provider.Lesson, bool) {
	said := strings.ToLower(f.message + " " + e.Message)
	lesson := provider.Lesson{Field: endpoint, Why: e.Message}
	switch {
	case e.Class != pawl.ClassInvalid && e.Class != pawl.ClassNotFound:
		return lesson, false
	case a.api == Chat && (strings.Contains(said, "/responses") || strings.Contains(said, "responses api") || strings.Contains(said, "responses endpoint")):
		if _, tried := a.lessons.Of(endpoint); tried {
			return provider.Lesson{Field: "reasoning_effort", Instead: "none", Why: e.Message}, true
		}
		lesson.Instead = Responses
	case a.api == Responses && (strings.Contains(said, "chat/completions") || strings.Contains(said, "responses api") || unknownPath(e, f)):
		lesson.Instead = Chat
	}
	return lesson, lesson.Instead != nil
}

// unknownPath reports whether an error is about the path, and not about the model or an item.
func unknownPath(e *pawl.ModelError, f fault) bool {
	said := strings.ToLower(e.Message)
	named := slices.ContainsFunc(f.kinds, func(kind string) bool { return kinds[kind] != 0 })
	return e.Class == pawl.ClassNotFound && f.param == "" && !named && !strings.Contains(said, "model") && !strings.Contains(said, "deployment") && !strings.Contains(said, "item with id")
}

// unsupported matches the messages and codes for parameters and values that are not taken.
var unsupported = regexp.MustCompile(`(?i)unsupported|unrecogni[sz]ed|unknown|unexpected|extra|instead|deprecated|verified|only the default|\b(not|n't) (be )?(supported?|permitted|allowed|recogni[sz]ed|available|found|accept(ed)?)|` + tooLarge.String())

// tooLarge matches those for numbers.
var tooLarge = regexp.MustCompile(`(?i)too large|at most|valid range|less than or equal`)

// needed are the fields that a request cannot do without.
var needed = []string{"model", "messages", "input", "instructions", "stream", "tools"}

// words are fields whose names are words of any message: only a name in quotes counts.
var words = []string{"text", "store", "include", "user", "stop", "n", "seed", "reasoning", "metadata"}

// refusedField returns the field of the last request that a refusal names, as a path; empty:
// it names none. The parameter of the error counts first, and then the place in its message.
func (a *asking) refusedField(f fault) string {
	said := f.message
	if !unsupported.MatchString(said) && !slices.ContainsFunc(f.kinds, unsupported.MatchString) {
		return ""
	}
	var paths []string
	for name, value := range a.sent {
		if slices.Contains(needed, name) {
			continue
		}
		paths = append(paths, name)
		if within, ok := value.(map[string]any); ok {
			for inner := range within {
				paths = append(paths, name+"."+inner)
			}
		}
	}
	slices.Sort(paths)
	found, at, longest := "", -1, 0
	for _, path := range paths {
		if path == f.param || strings.Contains(path, ".") && strings.HasPrefix(f.param, path+".") {
			return path
		}
		name := path[strings.LastIndexByte(path, '.')+1:]
		i := mentioned(said, path, slices.Contains(words, name))
		if i < 0 && name != path { // in masked messages, as in ***.effort
			i = mentioned(said, name, true)
			if strings.HasSuffix(f.param, "."+name) {
				i = 0
			}
		}
		if i >= 0 && (at < 0 || i < at || i == at && len(path) > longest) {
			found, at, longest = path, i, len(path)
		}
	}
	return found
}

// mentioned returns the place of a name in a message, as a word or in quotes; -1: nowhere.
func mentioned(message, name string, quoted bool) int {
	name = regexp.QuoteMeta(name)
	form := `'` + name + `'|"` + name + `"|` + "`" + name + "`"
	if !quoted {
		form = `\b` + name + `\b`
	}
	if at := regexp.MustCompile(form).FindStringIndex(message); at != nil {
		return at[0]
	}
	return -1
}

// instead returns what to send in the place of a refused field.
func (a *asking) instead(field string, f fault) (provider.Lesson, bool) {
	switch field {
	case a.limit, olderLimit, newerLimit, "max_output_tokens":
		sent, _ := a.sent[field].(int)
		if tooLarge.MatchString(f.message) || field == "max_output_tokens" {
			most := largestBelow(f.message, sent)
			return provider.Lesson{Most: most}, most > 0
		}
		other := otherLimit(field)
		_, tried := a.lessons.Of(other)
		return provider.Lesson{Rename: other}, !tried
	case "reasoning_effort", "reasoning.effort":
		if near := nearest(f.message, effortIn(a.sent)); near != "" {
			return provider.Lesson{Instead: near}, true
		}
	}
	return provider.Lesson{}, true
}

// window matches what servers say of a reply that does not fit beside its request.
var window = regexp.MustCompile(`maximum context length is (\d+) tokens.*?(\d+) (?:in the messages|input tokens)`)

// shorter returns the lesson of a server whose window is too small for the reply and not for the
// request: that a reply may have half of the window, or what is left of it.
func (a *asking) shorter(f fault) (provider.Lesson, bool) {
	m := window.FindStringSubmatch(f.message)
	if m == nil {
		return provider.Lesson{}, false
	}
	all, _ := strconv.Atoi(m[1])
	used, _ := strconv.Atoi(m[2])
	for _, field := range []string{a.limit, olderLimit, newerLimit, "max_output_tokens"} {
		if sent, ok := a.sent[field].(int); ok {
			most := min(all/2, all-used)
			return provider.Lesson{Field: field, Most: most, Why: f.message}, most > 0 && most < sent
		}
	}
	return provider.Lesson{}, false
}

var number = regexp.MustCompile(`\d+`)

// largestBelow returns the largest number in a message that is below another one, as the limit
// is of a server that names the range it takes; 0: there is none.
func largestBelow(message string, sent int) (most int) {
	for _, s := range number.FindAllString(message, -1) {
		if n, err := strconv.Atoi(s); err == nil && n < sent && n >= 16 {
			most = max(most, n)
		}
	}
	return most
}

// nearest returns the effort nearest to the one asked for among those that a message lists;
// empty: it lists none.
func nearest(message, asked string) string {
	_, list, _ := strings.Cut(message, "upported values are")
	var levels []string
	for _, e := range sheet.Levels {
		if mentioned(list, e, true) >= 0 {
			levels = append(levels, e)
		}
	}
	if len(levels) == 0 || asked == "" {
		return ""
	}
	return (&sheet.Traits{Thinking: sheet.ByEffort, Efforts: levels}).Clamp(asked)
}

// The servers' names for the limit of a reply.
const (
	olderLimit = "max_tokens"
	newerLimit = "max_completion_tokens"
)

func otherLimit(name string) string {
	if name == newerLimit {
		return olderLimit
	}
	return newerLimit
}

// forReasoning reports whether a request was refused for the reasoning it
// recalls, which the API says in words, and by a code only when it cannot be read.
func forReasoning(e *pawl.ModelError) bool {
	if e.Class != pawl.ClassInvalid && e.Class != pawl.ClassNotFound {
		return false
	}
	for _, words := range []string{"encrypted content", "encrypted_content", "'reasoning'", "Item with id 'rs_"} {
		if strings.Contains(e.Message, words) {
			return true
		}
	}
	return false
}
