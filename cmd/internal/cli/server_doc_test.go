package cli_test

import (
	"bufio"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The lines of docs/server.md that ask a server are asked of the server that is
// started there, in their order, and there is one for every operation on runs.
func TestServerDocument(t *testing.T) {
	text, err := os.ReadFile("../../../docs/server.md")
	must(t, err)
	at := serveExamples(t)
	vars := map[string]string{"AT": at}
	asked := map[string]bool{}
	var openapi []byte
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "curl ") {
			continue
		}
		r := curl(t, strings.TrimSpace(line), vars)
		want := http.StatusOK
		switch r.Header.Set("Authorization", "Bearer "+token); {
		case r.Method == http.MethodPost && r.URL.Path == "/v1/runs", strings.HasSuffix(r.URL.Path, "/fork"), strings.Contains(r.URL.Path, "/tools/"):
			want = http.StatusCreated
		case strings.HasSuffix(r.URL.Path, "/settle"), strings.HasSuffix(r.URL.Path, "/c_3/cancel"):
			want = http.StatusUnprocessableEntity
		}
		status, body := ask(t, r)
		if status != want {
			t.Fatalf("%s answers %d, want %d: %s", line, status, want, body)
		}
		if r.URL.Path == "/openapi.json" {
			openapi = body
		}
		var result struct{ Run string }
		if want == http.StatusCreated && json.Unmarshal(body, &result) == nil {
			vars["RUN"] = result.Run
		}
		var list struct{ Files []struct{ Digest string } }
		if json.Unmarshal(body, &list) == nil && len(list.Files) > 0 {
			vars["FILE"] = list.Files[0].Digest
		}
		asked[r.Method+" "+regexp.MustCompile(`^(/v1/runs|/v1/agents)/[^/]+|(/calls|/tools|/files)/[^/]+|(/requests)/\d+`).ReplaceAllString(r.URL.Path, "$1$2$3/*")] = true
	}
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(openapi, &document); err != nil || len(document.Paths) == 0 {
		t.Fatal(err)
	}
	for path, operations := range document.Paths {
		for method := range operations {
			name := strings.ToUpper(method) + " " + regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, "*")
			if strings.HasPrefix(path, "/v1/runs") && method != "parameters" && !asked[name] {
				t.Errorf("docs/server.md has no line for %s", name)
			}
		}
	}
}

// serveExamples serves what the document serves.
func serveExamples(t *testing.T) string {
	dir := t.TempDir()
	must(t, os.CopyFS(dir, os.DirFS("../../../examples/specs")))
	args := []string{"serve", "--addr", "127.0.0.1:0", "--database", "sqlite:" + filepath.Join(t.TempDir(), "runs.db")}
	for _, name := range []string{"classifier", "question", "refunds", "seats"} {
		args = append(args, filepath.Join(dir, name+".yaml"))
	}
	at, end, err := begin([]string{"PATH=" + os.Getenv("PATH"), "PAWL_TOKEN=" + token, "REFUND_TOKEN=of-the-bank"}, serving, args...)
	must(t, err)
	t.Cleanup(func() { end() })
	return at[1]
}

// curl makes the request that a line makes.
func curl(t *testing.T, line string, vars map[string]string) *http.Request {
	t.Helper()
	var words []string
	for _, m := range regexp.MustCompile(`'([^']*)'|"([^"]*)"|(\S+)`).FindAllStringSubmatch(line, -1) {
		if m[1] != "" {
			words = append(words, m[1])
			continue
		}
		words = append(words, os.Expand(m[2]+m[3], func(name string) string {
			if vars[name] == "" {
				t.Fatalf("%s: there is no %s yet", line, name)
			}
			return vars[name]
		}))
	}
	method, address, body, header := http.MethodGet, "", "", http.Header{}
	var fields strings.Builder
	var form *multipart.Writer
	for i := 1; i < len(words); i++ {
		switch words[i] {
		case "-s", "-N", "-OJ":
		case "-H":
			i++
			if name, value, ok := strings.Cut(words[i], ": "); ok {
				header.Set(name, value)
			} else if words[i] != "@token" {
				t.Fatalf("%s: what is the header %s?", line, words[i])
			}
		case "-F":
			i++
			method = http.MethodPost
			name, value, _ := strings.Cut(words[i], "=")
			if form == nil {
				form = multipart.NewWriter(&fields)
			}
			part := func(w io.Writer, err error) { _, _ = io.WriteString(w, "Dear all.") }
			if file, ok := strings.CutPrefix(value, "@"); ok {
				part(form.CreateFormFile(name, file))
			} else if err := form.WriteField(name, strings.TrimSuffix(value, ";type=application/json")); err != nil {
				t.Fatal(err)
			}
		case "--json":
			i++
			method, body = http.MethodPost, words[i]
			header.Set("Content-Type", "application/json")
		default:
			if address != "" || !strings.HasPrefix(words[i], "http://") {
				t.Fatalf("%s: what is %s?", line, words[i])
			}
			address = words[i]
		}
	}
	if form != nil {
		form.Close()
		body = fields.String()
		header.Set("Content-Type", form.FormDataContentType())
	}
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	must(t, err)
	r.Header = header
	return r
}

// ask makes a request. Of a stream it takes the first event.
func ask(t *testing.T, r *http.Request) (status int, body []byte) {
	t.Helper()
	res, err := http.DefaultClient.Do(r)
	must(t, err)
	defer res.Body.Close()
	if r.Header.Get("Accept") != "text/event-stream" {
		body, err = io.ReadAll(res.Body)
		must(t, err)
		return res.StatusCode, body
	}
	for in := bufio.NewScanner(res.Body); in.Scan(); {
		if strings.HasPrefix(in.Text(), "data: ") {
			return res.StatusCode, in.Bytes()
		}
	}
	t.Fatal("the stream has no event")
	return 0, nil
}
