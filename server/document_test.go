package server_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"mime"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-run/pawl/internal/jsonschema"
	"github.com/pawl-run/pawl/server"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files again")

// openAPI is what a test reads of the document.
type openAPI struct {
	Paths map[string]map[string]struct {
		OperationID string `json:"operationId"`
		RequestBody struct {
			Content map[string]struct{ Schema json.RawMessage }
		} `json:"requestBody"`
		Responses map[string]struct {
			Ref     string `json:"$ref"`
			Content map[string]struct{ Schema json.RawMessage }
		}
	}
	Components struct {
		Schemas   map[string]json.RawMessage
		Responses map[string]struct {
			Content map[string]struct{ Schema json.RawMessage }
		}
	}
}

var read = sync.OnceValues(func() (d openAPI, err error) {
	err = json.Unmarshal(server.Document(), &d)
	return d, err
})

// schema makes a schema of the document stand alone.
func (d *openAPI) schema(raw json.RawMessage) json.RawMessage {
	var s map[string]json.RawMessage
	if json.Unmarshal(raw, &s) != nil {
		return raw
	}
	s["$defs"], _ = json.Marshal(d.Components.Schemas) // what was read as JSON
	whole, _ := json.Marshal(s)
	return bytes.ReplaceAll(whole, []byte("#/components/schemas/"), []byte("#/$defs/"))
}

// conforms holds an answer, and what was taken of a request, to the document.
func conforms(t testing.TB, method, path, body string, res answer, data []byte) {
	t.Helper()
	d, err := read()
	must(t, err)
	path, _, _ = strings.Cut(path, "?")
	for template, item := range d.Paths {
		pattern := regexp.MustCompile(`\\\{[a-z]+\\\}`).ReplaceAllString(regexp.QuoteMeta(template), "[^/]+")
		if !regexp.MustCompile("^" + pattern + "$").MatchString(path) {
			continue
		}
		op, ok := item[strings.ToLower(method)]
		if !ok {
			continue
		}
		documented, ok := op.Responses[strconv.Itoa(res.StatusCode)]
		if !ok {
			t.Errorf("%s %s: the document knows of no answer %d", method, template, res.StatusCode)
			return
		}
		content := documented.Content
		if name, ok := strings.CutPrefix(documented.Ref, "#/components/responses/"); ok {
			content = d.Components.Responses[name].Content
		}
		media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
		as, ok := content[media]
		if !ok {
			t.Errorf("%s %s: the document knows of no answer %d of %s", method, template, res.StatusCode, media)
			return
		}
		if strings.HasSuffix(media, "json") {
			fits(t, d.schema(as.Schema), data, method+" "+template)
		}
		if res.StatusCode < 300 && body != "" {
			fits(t, d.schema(op.RequestBody.Content["application/json"].Schema), []byte(body), "body of "+method+" "+template)
		}
		return
	}
	if res.StatusCode < 300 {
		t.Errorf("%s %s: the document knows nothing of it", method, path)
	}
}

func fits(t testing.TB, schema json.RawMessage, data []byte, what string) {
	t.Helper()
	s, err := jsonschema.Compile(schema, nil)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for _, p := range s.Validate(data) {
		t.Errorf("%s: %s: %s in %s", what, p.Path, p.Message, data)
	}
}

// The document is the one on record, and of the form that OpenAPI 3.1 wants.
func TestDocument(t *testing.T) {
	got := append(server.Document(), '\n')
	const golden = "testdata/openapi.golden.json"
	short := append(inLines(t, got, 3), '\n')
	if *rewrite {
		must(t, os.WriteFile(golden, short, 0o600))
	}
	want, err := os.ReadFile(golden)
	must(t, err)
	if !bytes.Equal(short, want) {
		t.Errorf("the document is not that of %s; look at what -rewrite changes", golden)
	}
	form, err := os.ReadFile("testdata/openapi-3.1.schema.json")
	must(t, err)
	fits(t, form, got, "the document")
	var all struct{ Components map[string]map[string]any }
	must(t, json.Unmarshal(got, &all))
	for _, ref := range regexp.MustCompile(`"\$ref": "#/components/(\w+)/(\w+)"`).FindAllStringSubmatch(string(got), -1) {
		if all.Components[ref[1]][ref[2]] == nil {
			t.Errorf("%s refers to nothing", ref[0])
		}
	}
}

// inLines has a line for each value so many objects deep, as for each operation and schema.
func inLines(t *testing.T, value json.RawMessage, depth int) []byte {
	t.Helper()
	var out bytes.Buffer
	if fields := map[string]json.RawMessage(nil); depth > 0 && json.Unmarshal(value, &fields) == nil {
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			fmt.Fprintf(&out, ",\n%q: %s", name, inLines(t, fields[name], depth-1))
		}
		return []byte("{" + strings.TrimPrefix(out.String(), ",") + "}")
	}
	must(t, json.Compact(&out, value))
	return out.Bytes()
}

// Every handler is in the document under a name of its own, and nothing else is.
func TestDocumentIsWhole(t *testing.T) {
	d, err := read()
	must(t, err)
	w := serve(t, nil)
	handled := w.server.Handled()
	var names []string
	for path, item := range d.Paths {
		for method, op := range item {
			if !handled[method+" "+path] {
				t.Errorf("%s %s is handled by nobody", method, path)
			}
			delete(handled, method+" "+path)
			names = append(names, op.OperationID)
		}
	}
	for left := range handled {
		t.Errorf("%s is not in the document", left)
	}
	if slices.Sort(names); len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("two operations have one name: %q", names)
	}
	var served any
	must(t, json.Unmarshal(w.ask(admin, "GET", "/openapi.json", "", 200), &served))
}
