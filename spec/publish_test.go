package spec

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
)

// The published schema and the reference are those of the tables.
func TestPublished(t *testing.T) {
	published(t, "../docs/spec.schema.json", Schema())
	const reference = "../docs/spec.md"
	old, err := os.ReadFile(reference)
	must(t, err)
	before, rest, ok := strings.Cut(string(old), "<!-- written by the tests of package spec -->\n")
	_, after, ended := strings.Cut(rest, "<!-- end -->\n")
	if !ok || !ended {
		t.Fatal("the reference has no part for the keys")
	}
	published(t, reference, []byte(before+"<!-- written by the tests of package spec -->\n"+keysAsMarkdown(t)+"<!-- end -->\n"+after))
}

func published(t *testing.T, file string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(file)
	if err == nil && bytes.Equal(got, want) {
		return
	}
	if *rewrite {
		must(t, os.WriteFile(file, want, 0o644))
		return
	}
	t.Errorf("%s is not up to date (run the test with -rewrite): %v\n%s", file, err, cmp.Diff(string(got), string(want)))
}

// keysAsMarkdown lists the keys of every mapping. Where several keys say the same as those of an
// earlier mapping, the list refers to that one.
func keysAsMarkdown(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	var met []string
	first := map[string]string{} // by the description of a key: the mapping that has it
	var meet func(s *jsonschema.Schema)
	list := func(name string) {
		if slices.Contains(met, name) {
			return
		}
		met = append(met, name)
		s := definitions()[name]
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n", name, s.Description)
		same := map[string][]string{} // keys by the earlier mapping that describes them
		for _, key := range s.PropertyOrder {
			if before := first[asMarkdown(s, key)]; before != "" {
				same[before] = append(same[before], "`"+key+"`")
			}
		}
		for _, key := range s.PropertyOrder {
			line := asMarkdown(s, key)
			before := first[line]
			switch {
			case before == "":
				first[line] = name
			case len(same[before]) > 1 && same[before][0] == "`"+key+"`":
				fmt.Fprintf(&b, "- %s: see [%s](#%[2]s).\n", strings.Join(same[before], ", "), before)
				continue
			case len(same[before]) > 1:
				continue
			}
			b.WriteString("- " + line + "\n")
		}
		for _, key := range s.PropertyOrder {
			meet(s.Properties[key])
		}
	}
	meet = func(s *jsonschema.Schema) {
		for _, of := range append([]*jsonschema.Schema{s, s.Items, s.AdditionalProperties}, s.AnyOf...) {
			switch {
			case of == nil:
			case of.Ref != "":
				list(strings.TrimPrefix(of.Ref, "#/$defs/"))
			case of != s:
				meet(of)
			}
		}
	}
	for _, root := range []string{"spec", "hyphen", "skill", "policy"} {
		list(root)
	}
	b.WriteString("\n")
	return b.String()
}

// asMarkdown describes a key.
func asMarkdown(s *jsonschema.Schema, key string) string {
	p := s.Properties[key]
	line := "`" + key + "` (" + says(p)
	if slices.Contains(s.Required, key) {
		line += ", required"
	}
	return line + "): " + strings.TrimSuffix(p.Description, ".") + "."
}

// says describes the values of a schema.
func says(s *jsonschema.Schema) string {
	var all []string
	for _, of := range s.AnyOf {
		if w := says(of); !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	switch {
	case s.AnyOf != nil && s.AnyOf[0].Format == "size":
		return "size"
	case s.AnyOf != nil:
		return strings.Join(all, ", or ")
	case s.Ref != "":
		name := strings.TrimPrefix(s.Ref, "#/$defs/")
		return "[" + name + "](#" + name + ")"
	case s.Enum != nil:
		return "`" + strings.Join(words(s), "`, `") + "`"
	case s.Type == "array" && s.Items != nil:
		return "list of " + says(s.Items)
	case s.Type == "object" && s.AdditionalProperties != nil:
		return "mapping to " + says(s.AdditionalProperties)
	case s.Type == "object":
		return "mapping"
	case s.Format == "condition":
		return "[condition](command.md#conditions)"
	case s.Format == "duration":
		return "duration"
	case s.Type == "string":
		return "text"
	case s.Types != nil:
		return strings.Join(s.Types, ", ")
	}
	return s.Type
}
