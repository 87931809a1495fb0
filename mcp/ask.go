package mcp

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/jsonschema"
	"github.com/pawl-run/pawl/internal/wire"
)

// The bounds of what a server may ask during one call.
const (
	mostQuestions = 10
	mostFields    = 20
	mostForm      = 16 << 10 // bytes of its schema
)

// A dialogue is what a server asks a person during one call. A call ends when a person has to
// be asked, and begins again with the answers so far, of which the server then hears in turn.
type dialogue struct {
	token   string // of its notifications of progress
	report  func(fraction float64, text string)
	server  string
	answers map[string]string // by keys
	round   int               // how often a result of this attempt has asked
	within  int               // and how often the server has while its latest request was open
	ask     error             // what a person must be asked, as that request has shown
}

// respond answers the requests of a result.
func (d *dialogue) respond(requests sdk.InputRequestMap) (sdk.InputResponseMap, error) {
	d.round++
	if len(requests) == 0 {
		return nil, errors.New("the server is too busy for the call; call again later")
	}
	responses := sdk.InputResponseMap{}
	for _, id := range slices.Sorted(maps.Keys(requests)) {
		asked, ok := requests[id].(*sdk.ElicitParams)
		if !ok {
			return nil, errors.New("the server wants to use the model or to see files, which it may not; call it with everything it needs")
		}
		r, err := d.answer(id, asked)
		if err != nil {
			return nil, err
		}
		responses[id] = r
	}
	return responses, nil
}

// answer returns a person's answer to a request, or the error that asks for it.
func (d *dialogue) answer(id string, p *sdk.ElicitParams) (*sdk.ElicitResult, error) {
	f, err := newForm(p)
	if err != nil {
		return nil, fmt.Errorf("the server asks a person something that cannot be passed on: %w", err)
	}
	key := fmt.Sprintf("%d/%s/%s", d.round, id, wire.Digest([]byte(p.Message), f.schema)[:16])
	problem := ""
	for try := 1; ; try++ {
		of := key + "/" + strconv.Itoa(try)
		text, answered := d.answers[of]
		switch {
		case !answered && len(d.answers) >= mostQuestions:
			return nil, fmt.Errorf("the server asks a person more than %d times during one call", mostQuestions)
		case !answered:
			return nil, pawl.AskPerson{Key: of, Question: problem + f.question(d.server, p)}
		}
		result, err := f.parse(text)
		if err == nil {
			return result, nil
		}
		problem = fmt.Sprintf("The answer does not fit: %v. ", err)
	}
}

// A form is what a request wants to know: a flat object, or nothing but consent.
type form struct {
	schema   []byte // empty: consent
	checked  *jsonschema.Schema
	fields   map[string]field
	required []string
	names    []string // of the fields: those that are required, then by name
}

type field struct {
	Type, Title, Description string
	Enum                     []any
	Default                  any
}

// newForm reads the request's schema.
func newForm(p *sdk.ElicitParams) (*form, error) {
	f := &form{}
	if p.RequestedSchema == nil || p.URL != "" {
		return f, nil
	}
	raw, err := json.Marshal(p.RequestedSchema)
	if err != nil {
		return nil, err
	}
	var object struct {
		Properties map[string]field
		Required   []string
	}
	switch err := json.Unmarshal(raw, &object); {
	case err != nil:
		return nil, fmt.Errorf("its form is not a flat object: %w", err)
	case len(raw) > mostForm || len(object.Properties) > mostFields:
		return nil, fmt.Errorf("its form has more than %d fields or %d bytes", mostFields, mostForm)
	case len(object.Properties) == 0:
		return f, nil
	}
	f.schema, f.fields, f.required = raw, object.Properties, object.Required
	if f.checked, err = jsonschema.Compile(raw, nil); err != nil {
		return nil, err
	}
	f.names = slices.SortedFunc(maps.Keys(f.fields), func(a, b string) int {
		return cmp.Or(cmp.Compare(f.optional(a), f.optional(b)), cmp.Compare(a, b))
	})
	return f, nil
}

// optional is 0 for a field that is required, else 1.
func (f *form) optional(name string) int {
	if slices.Contains(f.required, name) {
		return 0
	}
	return 1
}

// question is what a person reads.
func (f *form) question(server string, p *sdk.ElicitParams) string {
	asks := fmt.Sprintf("The MCP server %s asks: %s", server, described(p.Message))
	switch {
	case p.URL != "":
		return asks + " It wants you to open " + described(p.URL) + " in a browser. Answer accept when you have, or decline."
	case len(f.names) == 0:
		return asks + " Answer accept or decline."
	case len(f.names) == 1:
		return asks + " Answer with " + f.tell(f.names[0]) + ", or decline."
	}
	var all []string
	for _, name := range f.names {
		all = append(all, f.tell(name))
	}
	return asks + " Answer with a JSON object, or decline. Its fields: " + strings.Join(all, "; ") + "."
}

// tell describes a field, such as: size (integer, optional): how many.
func (f *form) tell(name string) string {
	of := f.fields[name]
	kind := []string{cmp.Or(of.Type, "any")}
	if f.optional(name) == 1 && len(f.names) > 1 {
		kind = append(kind, "optional")
	}
	if len(of.Enum) > 0 {
		raw, _ := json.Marshal(of.Enum) // it was JSON
		kind = append(kind, "one of "+string(raw))
	}
	said := fmt.Sprintf("%s (%s)", name, strings.Join(kind, ", "))
	if words := cmp.Or(of.Description, of.Title); words != "" {
		said += ": " + words
	}
	return described(said)
}

// parse reads what a person answered.
func (f *form) parse(text string) (*sdk.ElicitResult, error) {
	text = strings.TrimSpace(text)
	switch word := strings.ToLower(text); {
	case word == "decline":
		return &sdk.ElicitResult{Action: "decline"}, nil
	case len(f.names) == 0 && word == "accept":
		return &sdk.ElicitResult{Action: "accept"}, nil
	case len(f.names) == 0:
		return nil, errors.New("it is neither accept nor decline")
	}
	var content map[string]any
	if json.Unmarshal([]byte(text), &content) != nil {
		if len(f.names) > 1 {
			return nil, errors.New("it is not a JSON object")
		}
		content = map[string]any{f.names[0]: f.fields[f.names[0]].value(text)}
	}
	for name, of := range f.fields {
		if _, given := content[name]; !given && of.Default != nil {
			content[name] = of.Default
		}
	}
	raw, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	if problems := f.checked.Validate(raw); len(problems) > 0 {
		return nil, errors.New(problems[0].String())
	}
	return &sdk.ElicitResult{Action: "accept", Content: content}, nil
}

// value is what a word means for a field.
func (of field) value(text string) any {
	var v any
	switch word := strings.ToLower(text); {
	case of.Type == "string":
		return text
	case of.Type == "boolean" && word == "yes":
		return true
	case of.Type == "boolean" && word == "no":
		return false
	case json.Unmarshal([]byte(text), &v) == nil:
		return v
	}
	return text
}
