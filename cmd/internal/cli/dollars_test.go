package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// exact is a number in JSON as people and other programs read dollars: in full, and
// not with the error of a sum in binary.
var exact = regexp.MustCompile(`^-?[0-9]+(\.[0-9]{1,9})?$`)

// TestDollarsAreDecimals looks at every number of every document that says what runs
// cost, of a model so cheap that a reply costs less than a millionth of a dollar.
func TestDollarsAreDecimals(t *testing.T) {
	bodies := make(chan []byte, 100)
	told := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- body
	}))
	defer told.Close()
	t.Setenv("HOOK_SECRET", "a-secret-of-any-form")
	b := &bench{T: t, dir: t.TempDir()}
	for name, text := range map[string]string{
		"x.yaml": "name: x\nmodel: script:x.script.yaml\nlimits: {cost: 0.00007}\nhooks: [{log: {format: json}}]\n" + looking + "webhooks: [{url: \"" + told.URL + "\", secret: HOOK_SECRET}]\n",
		"x.script.yaml": "price: {input: 0.007, output: 0.011, cache_read: 0.0007}\nreplies: [{attempts: [{error: {class: overloaded, message: no, usage: {input: 7}}}, {calls: [{tool: look}], usage: {input: 11, output: 3}}]}," +
			" {text: done, usage: {input: 19, cache_read: 3, output: 3}}]\n",
		"boss.yaml":        "name: boss\nmodel: script:boss.script.yaml\ninput: go\nlimits: {cost: 0.00001}\ntools: [{agent: ./y.yaml, description: Do it.}]\n",
		"boss.script.yaml": "price: {input: 0.007, output: 0.011}\nreplies: [{calls: [{tool: y, args: {input: a}}, {tool: y, args: {input: b}}, {tool: y, args: {input: c}}]}, {text: done}]\n",
		"y.yaml":           "name: y\nmodel: script:x.script.yaml\n" + looking,
		"dear.yaml":        "name: dear\nmodel: script:boss.script.yaml\ninput: go\nlimits: {cost: 0.0000001}\n",
	} {
		if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.Chdir(b.dir)
	seen := 0 // numbers that are dollars
	look := func(where, text string) {
		t.Helper()
		seen += dollarsIn(t, where, text)
	}
	commands := func(where string, spec string, more ...string) (run string) {
		t.Helper()
		at := func(args ...string) (stdout, stderr string) {
			_, stdout, stderr = b.pawl(append(args, more...)...)
			look(where+" pawl "+strings.Join(args, " "), stdout)
			return stdout, stderr
		}
		out, said := at("run", spec, "go", "--json", "--events", "-")
		var result struct{ Run string }
		if err := json.Unmarshal([]byte(out), &result); err != nil || result.Run == "" {
			t.Fatalf("%s %s: %v: %s%s", where, spec, err, out, said)
		}
		look(where+" what "+spec+" said", said)
		for _, args := range [][]string{{"show", result.Run, "--json"}, {"show", result.Run, "--cost", "--json"}, {"events", result.Run}, {"explain", result.Run, "--json"}, {"runs", "--json"}, {"export", result.Run}, {"export", result.Run, "--raw"}} {
			if len(more) == 0 || args[0] != "export" {
				at(args...)
			}
		}
		return result.Run
	}
	for _, spec := range []string{"x.yaml", "boss.yaml", "dear.yaml"} {
		run := commands("here", spec)
		if code, out, errs := b.pawl("resume", run, "--limit", "cost=+0.0000002", "--json"); code != 2 {
			look("resumed "+spec+errs, out)
		}
		_, out, _ := b.pawl("plan", spec, "--json")
		look("plan of "+spec, out)
	}
	b.serve()
	defer b.halt()
	run := commands("at the server", "x", "--server", b.url)
	for _, path := range []string{"/v1/runs", "/v1/runs/" + run, "/v1/runs/" + run + "/events", "/v1/runs/" + run + "/explain", "/v1/runs/" + run + "/stop?at=4", "/v1/runs/" + run + "/ag-ui", "/v1/agents"} {
		for _, accept := range []string{"application/json", "text/event-stream"} {
			look(accept+" of "+path, b.get(path, accept))
		}
	}
	select {
	case body := <-bodies:
		look("the webhook", string(body))
	case <-time.After(time.Minute):
		t.Error("no webhook is called")
	}
	if seen < 200 {
		t.Errorf("only %d amounts were seen", seen)
	}
}

// get asks the server for something, as that type if it has it.
func (b *bench) get(path, accept string) string {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, b.url+path, nil)
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Accept", accept)
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}

// dollarsIn counts the amounts of dollars in the JSON documents among lines of text,
// each of whose numbers must be exact.
func dollarsIn(t *testing.T, where, text string) (amounts int) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimPrefix(line, "data: ")
		if !strings.HasPrefix(line, "{") {
			continue
		}
		d := json.NewDecoder(bytes.NewReader([]byte(line)))
		d.UseNumber()
		var document any
		if err := d.Decode(&document); err != nil && !errors.Is(err, io.EOF) {
			t.Fatalf("%s: %v: %s", where, err, line)
		}
		var walk func(path string, v any)
		walk = func(path string, v any) {
			switch v := v.(type) {
			case map[string]any:
				for key, of := range v {
					walk(path+"."+key, of)
				}
			case []any:
				for _, of := range v {
					walk(path+"[]", of)
				}
			case json.Number:
				if strings.HasSuffix(path, "usd") && v != "0" {
					amounts++
				}
				if !exact.MatchString(string(v)) {
					t.Errorf("%s: %s is %s", where, path, v)
				}
			case string:
				if m := regexp.MustCompile(`(\$|cost >= )-?[0-9.]*[0-9]e[-+]?[0-9]+`).FindString(v); m != "" {
					t.Errorf("%s: %s says %q", where, path, v)
				}
			}
		}
		walk("", document)
	}
	return amounts
}
