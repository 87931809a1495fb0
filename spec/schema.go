package spec

import (
	"bytes"
	"cmp"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/a2a"
	"github.com/pawl-run/pawl/budget"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/guard"
	"github.com/pawl-run/pawl/internal/cron"
	"github.com/pawl-run/pawl/judge"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/tool/fetch"
	"github.com/pawl-run/pawl/webhook"
	"github.com/pawl-run/pawl/workflow"
)

// Schema returns the JSON Schema (2020-12) of specs, for editors and programs that write specs. A
// spec is checked by the same schema. What it cannot say, such as which conditions and models there
// are and what contradicts what, is checked when a spec is read.
func Schema() []byte {
	all := definitions()
	root := &jsonschema.Schema{
		Schema: "https://json-schema.org/draft/2020-12/schema", Title: "Pawl agent", Defs: map[string]*jsonschema.Schema{},
		If:   &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"type": {Enum: []any{"loop"}}}, Required: []string{"type", "properties"}},
		Then: reference("hyphen"), Else: reference("spec"),
	}
	for name, def := range all {
		if !strings.HasPrefix(name, "policy") && name != "gate" && name != "skill" {
			root.Defs[name] = def
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(root); err != nil {
		panic("spec: " + err.Error()) // the types are constant
	}
	return b.Bytes()
}

func reference(def string) *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/" + def} }

// schemas are the schemas of mappings by their names.
type schemas map[string]*jsonschema.Schema

// definitions makes the schemas of all mappings.
var definitions = sync.OnceValue(func() schemas {
	m := schemas{}
	for _, t := range []reflect.Type{reflect.TypeFor[Keys](), reflect.TypeFor[hyphenSpec](), reflect.TypeFor[policySpec](), reflect.TypeFor[skillHead]()} {
		m.mapping(t)
	}
	step := m["step"] // in a spec, an agent that is a workflow has a key of its own
	step.Properties["workflow"] = m.value(reflect.TypeFor[string](), `such:"./triage.yaml"`)
	step.Properties["workflow"].Description = "spec of another workflow, relative to this one, as a child run"
	step.PropertyOrder = append(step.PropertyOrder, "workflow")
	node := *step
	node.Title, node.Description, node.Required = "the node", "A node of a graph: a step whose id is the key before it.", nil
	node.Extra = map[string]any{"example": "{single: {prompt: …}}"}
	m["node"] = &node
	m["spec"].Properties["nodes"].AdditionalProperties = reference("node")
	return m
})

// marks are the tags of the mappings whose types are those of Go programs.
var marks = map[reflect.Type]reflect.StructTag{
	reflect.TypeFor[pawl.Limits]():            `def:"limits" title:"limits" about:"Limits of a run. The first three always apply."`,
	reflect.TypeFor[pawl.Price]():             `def:"price" title:"a price" about:"Dollars per million tokens."`,
	reflect.TypeFor[pawl.Tier]():              `def:"long" title:"long" about:"Prices of a whole request whose input is longer than 'from'."`,
	reflect.TypeFor[workflow.Step]():          `def:"step" title:"the step" one:"single,tool,agent,workflow,switch,parallel,for_each,while" such:"{id: ask, single: {prompt: …}}" about:"A step of a [workflow](workflow.md), or a node of a graph. It has exactly one of 'single', 'tool', 'agent', 'workflow', 'switch', 'parallel', 'for_each' and 'while'."`,
	reflect.TypeFor[workflow.Single]():        `def:"single" title:"single" about:"A request to the model."`,
	reflect.TypeFor[engine.Rate]():            `def:"rate" title:"a rate" about:"Limits for each minute."`,
	reflect.TypeFor[webhook.Hook]():           `def:"webhook" title:"a webhook" about:"A receiver of notices about runs."`,
	reflect.TypeFor[tool.MemoryOptions]():     `def:"memory" title:"memory" short:"true" about:"Memories for later runs."`,
	reflect.TypeFor[budget.Budget]():          `def:"budget" title:"a budget" about:"A limit on the runs with one value of a label."`,
	reflect.TypeFor[tool.Cage]():              `def:"cage" title:"cage" about:"[Restrictions](tools.md#the-cage) on every command, MCP server and agent of the spec."`,
	reflect.TypeFor[tool.WaitOptions]():       `def:"wait" title:"wait" short:"true" about:"Bounds of a wait."`,
	reflect.TypeFor[judge.ReflexionOptions](): `def:"reflexion" title:"reflexion" short:"true" about:"When the run is judged."`,
	reflect.TypeFor[judge.GroundingOptions](): `def:"grounding" title:"grounding" short:"true" about:"The check of the final [answer](governance.md#grounding)."`,
	reflect.TypeFor[fetch.Options]():          `def:"fetch" title:"fetch" about:"Hosts for the tool 'fetch'."`,
	reflect.TypeFor[tool.CageFiles]():         `def:"cage_files" title:"files" about:"Files and directories, relative to 'dir', or with './' to the spec's directory."`,
	reflect.TypeFor[workflow.Edge]():          `def:"edge" title:"the edge" about:"An edge of a graph."`,
}

// markOf returns the tags of a mapping.
func markOf(t reflect.Type) reflect.StructTag {
	if f := t.Field(0); f.Type == reflect.TypeFor[mark]() {
		return f.Tag
	}
	return marks[t]
}

// mapping makes the schema of a mapping, and returns what stands for it.
func (m schemas) mapping(t reflect.Type) *jsonschema.Schema {
	mark := markOf(t)
	if mark.Get("oneof") != "" {
		s := &jsonschema.Schema{}
		for f := range t.Fields() {
			if f.Type.Kind() == reflect.Pointer {
				s.AnyOf = append(s.AnyOf, m.mapping(f.Type.Elem()))
			}
		}
		return s
	}
	name := mark.Get("def")
	if name == "" {
		panic("spec: " + t.String() + " has no def")
	}
	s := m[name]
	if s == nil {
		s = &jsonschema.Schema{
			Type: "object", Title: mark.Get("title"), Description: code(mark.Get("about")), Properties: map[string]*jsonschema.Schema{},
			AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
		}
		if such := mark.Get("such"); such != "" {
			s.Extra = map[string]any{"example": such}
		}
		m[name] = s
		m.fields(s, t, "")
		s.OneOf = required(mark.Get("one"))
	}
	ref := reference(name)
	switch short := mark.Get("short"); {
	case short == "":
		return ref
	case short == "true":
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "boolean"}, ref}}
	case short == "key":
		words := &jsonschema.Schema{}
		for _, key := range s.PropertyOrder {
			words.Enum = append(words.Enum, key)
		}
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{words, ref}}
	case short[0] == '=':
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Enum: []any{short[1:]}}, ref}}
	default:
		text := *s.Properties[short]
		text.Description = ""
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{&text, ref}}
	}
}

// keyOf returns the key of a field, and whether a mapping must have it. A field without a key has
// the empty one.
func keyOf(f reflect.StructField) (key string, required bool) {
	key, option, _ := strings.Cut(f.Tag.Get("json"), ",")
	if own := f.Tag.Get("key"); own != "" {
		key, option = own, "omitempty"
	}
	if key == "-" {
		key = ""
	}
	return key, option == "" && f.Tag.Get("optional") == "" || f.Tag.Get("required") != ""
}

// fields adds the fields of a struct and of those embedded in it, but for some.
func (m schemas) fields(s *jsonschema.Schema, t reflect.Type, without string) {
	for f := range t.Fields() {
		name, needed := keyOf(f)
		switch {
		case f.Anonymous && name == "":
			m.fields(s, f.Type, f.Tag.Get("without"))
		case name == "" || slices.Contains(strings.Split(without, ","), name):
		default:
			p := m.value(f.Type, f.Tag)
			p.Description = code(f.Tag.Get("about"))
			if usual := f.Tag.Get("usual"); usual != "" {
				p.Description += ". Default: " + code(usual)
			}
			such := f.Tag.Get("such")
			if _, err := strconv.ParseFloat(f.Tag.Get("usual"), 64); err == nil {
				such = cmp.Or(such, f.Tag.Get("usual"))
			}
			if such != "" {
				p.Extra = map[string]any{"example": such}
			}
			if with := f.Tag.Get("with"); with != "" {
				if s.DependentSchemas == nil {
					s.DependentSchemas = map[string]*jsonschema.Schema{}
				}
				s.DependentSchemas[name] = &jsonschema.Schema{AnyOf: required(with)}
			}
			if needs := f.Tag.Get("needs"); needs != "" {
				if s.DependentRequired == nil {
					s.DependentRequired = map[string][]string{}
				}
				s.DependentRequired[name] = strings.Split(needs, ",")
			}
			if s.Properties[name] = p; needed {
				s.Required = append(s.Required, name)
			}
			s.PropertyOrder = append(s.PropertyOrder, name)
		}
	}
}

// value makes the schema of a value of a type with the tags of its field.
func (m schemas) value(t reflect.Type, tag reflect.StructTag) *jsonschema.Schema {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	least, most, form := bound(tag, "min"), bound(tag, "max"), tag.Get("format")
	s := &jsonschema.Schema{Format: form, Pattern: formats[form].pattern, MaxLength: formats[form].most}
	switch kind := t.Kind(); {
	case tag.Get("types") != "":
		s.Types = strings.Split(tag.Get("types"), ",")
	case t == reflect.TypeFor[json.RawMessage]():
		s.Type = "object"
	case form == "argv":
		s.Type, s.MinItems, s.Items = "array", new(1), &jsonschema.Schema{Types: []string{"string", "number", "boolean"}}
	case kind == reflect.Slice:
		s.UniqueItems = tag.Get("unique") != "" // these are names
		list := reflect.StructTag(`list:"item" `)
		if s.UniqueItems {
			list = ""
		}
		s.Type, s.Items = "array", m.value(t.Elem(), list+`enum:`+reflect.StructTag(strconv.Quote(tag.Get("enum")))+` format:`+reflect.StructTag(strconv.Quote(form)))
		if s.Format, s.Pattern = "", ""; least != nil {
			s.MinItems = new(int(*least))
			if s.Items.Type == "array" { // nor is a branch
				s.Items.MinItems, s.Items.Extra = s.MinItems, map[string]any{"example": "[{id: ask, single: {prompt: …}}]"}
			}
		}
	case kind == reflect.Map:
		s.Type, s.AdditionalProperties = "object", m.value(t.Elem(), `list:"item"`)
	case t == reflect.TypeFor[pawl.Agent](), t == reflect.TypeFor[pawl.Model](): // the file or the name of one
		s.Type, s.Pattern = "string", `\S`
	case kind == reflect.Struct:
		return m.mapping(t)
	case kind == reflect.Interface:
	case form == "size":
		if least == nil {
			least, most = new(1.0), new(float64(1<<30))
		}
		number := &jsonschema.Schema{Type: "number", Minimum: least, Maximum: most, Format: form}
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string", Pattern: s.Pattern, Format: form, Minimum: least, Maximum: most}, number}}
	case tag.Get("enum") != "":
		for word := range strings.SplitSeq(tag.Get("enum"), ",") {
			var v any = word
			if b, err := strconv.ParseBool(word); err == nil {
				v = b
			}
			s.Enum = append(s.Enum, v)
		}
		if least != nil { // or a number
			return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{s, {Type: "integer", Minimum: least}}}
		}
	case t == reflect.TypeFor[time.Duration]():
		s.Type, s.Format, s.Pattern = "string", "duration", formats["duration"].pattern
	case kind == reflect.Bool:
		s.Type = "boolean"
	case kind == reflect.Int || kind == reflect.Int64:
		if s.Type, s.Minimum, s.Maximum = "integer", least, most; least == nil {
			s.Minimum = new(1.0)
		}
	case kind == reflect.Float64:
		s.Type, s.ExclusiveMinimum, s.Maximum = "number", bound(tag, "above"), most
		if s.ExclusiveMinimum == nil {
			s.Minimum = new(0.0)
		}
	case form == "expression":
		s.Types = []string{"string", "boolean"}
	case kind == reflect.String:
		if s.Type = "string"; s.Pattern == "" && tag.Get("list") == "" {
			s.Pattern = `\S`
		}
	default:
		panic("spec: " + t.String() + " has no schema")
	}
	return s
}

// required returns schemas that have a mapping have each of some keys.
func required(keys string) (all []*jsonschema.Schema) {
	for key := range strings.SplitSeq(keys, ",") {
		if key != "" {
			all = append(all, &jsonschema.Schema{Required: []string{key}})
		}
	}
	return all
}

func bound(tag reflect.StructTag, name string) *float64 {
	if v, err := strconv.ParseFloat(tag.Get(name), 64); err == nil {
		return &v
	}
	return nil
}

// A form is what a text has to be.
type form struct {
	pattern string
	most    *int                    // characters
	write   string                  // what to write instead of a text that is not like the pattern
	wanted  string                  // what to write instead of another kind of value
	check   func(text string) error // what else is wrong with a text
	says    string                  // what to say then of the text and the error
}

// formats are the forms of texts by their names in tags.
var formats = map[string]form{
	"agent":      {pattern: `^[a-z0-9-]+$`, write: "use lower-case letters, digits and hyphens"},
	"tool":       {pattern: `^[a-zA-Z0-9_-]{1,64}$`, write: "use 1 to 64 letters, digits, _ or -"},
	"server":     {pattern: `^[a-zA-Z0-9]+([_-]?[a-zA-Z0-9]+)*$`, most: new(32), write: "use 1 to 32 letters and digits, with single _ or - between them"},
	"skill":      {pattern: `^[a-z0-9]+(-[a-z0-9]+)*$`, most: new(64), write: "use up to 64 lower-case letters, digits and single hyphens"},
	"trigger":    {pattern: `^[a-z0-9][a-z0-9-]*$`, write: "use small letters, digits and hyphens: it is a part of the address"},
	"variable":   {pattern: `^[^=\x00]+$`, write: "write the name of a variable, whose value is taken from the environment"},
	"duration":   {pattern: `^\+?([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)`, write: "write one such as 30s or 1h30m", wanted: "a duration such as 30s or 1h30m"},
	"size":       {pattern: `^\+?[0-9.]+ *([KkMmGg]?[Ii]?[Bb])? *$`, write: "write a size such as 16KB or 1MB", wanted: "a size such as 16KB or 1MB"},
	"expression": {wanted: `an expression such as steps.ask.output == "yes"`},
	"cron":       {says: "%[2]v", check: func(text string) error { _, err := cron.Parse(text, time.UTC); return err }},
	"zone": {
		says:  "is %[1]q, which this machine does not know (write one such as Europe/Berlin, or leave it out for UTC)",
		check: func(text string) error { _, err := time.LoadLocation(text); return err },
	},
	"url":     {says: "cannot be used (%[2]v)", check: a2a.CheckURL}, // it may hold a secret
	"webhook": {says: "cannot be posted to (%[2]v)", check: webhook.CheckURL},
	"topic": {
		says:  "has the topic %[1]q, which has no word (write words)",
		check: func(text string) error { return guard.New(guard.Topics(guard.Block, text)).Check(pawl.Agent{}) },
	},
	"host": {
		says: "has %[1]q (write a host, as in docs.example.org, *.example.org, 10.0.0.7 or localhost:8080)",
		check: func(text string) error {
			return objection(fetch.Tool(&fetch.Options{Allow: []string{text}}), pawl.Agent{})
		},
	},
}

// code writes the words in quotes of a description as code.
func code(text string) string { return quoted.ReplaceAllString(text, "$1`$2`") }

var quoted = regexp.MustCompile(`(^|[ (,])'([^']+)'`)
