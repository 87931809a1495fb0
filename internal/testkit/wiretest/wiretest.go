// Package wiretest replays what a provider answered, byte for byte and over
// real HTTP, and compares what an adapter sent and what it made of the answer
// with what is written beside it.
//
// A transcript is a txtar file with the sections
//
//	request   what the adapter sent: method, path, headers of interest, body
//	response  what it is answered: a line "HTTP 200", headers, an empty line, the
//	          body; "HTTP 200 cut" breaks the connection after the body
//	result    what the adapter made of it
//
// A transcript NAME.VARIANT.txtar without a request has that of NAME.txtar. Run the tests with
// -update to rewrite request and result.
package wiretest

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/pawl-run/pawl"
)

var update = flag.Bool("update", false, "rewrite the requests and results of transcripts")

// The pieces a body is sent in. Small, and prime, so that frames and runes are
// cut everywhere.
const piece = 13

// Run replays every transcript in a directory. For each, call gives the model at
// a URL and what to ask it; name is the file's name without its ending, up to the
// first dot, so that several transcripts may share a request. Headers are the
// names of headers to show of a request.
func Run(t *testing.T, dir string, headers []string, call func(url, name string) (pawl.Model, pawl.Request)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts in %s: %v", dir, err)
	}
	slices.SortFunc(files, func(a, b string) int { return len(a) - len(b) }) // whose request others share comes first
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			old, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			request := "nothing was sent\n"
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				request = show(r, headers)
				answer(w, section(old, "response"))
			}))
			defer srv.Close()
			name, _, _ := strings.Cut(name, ".")
			m, r := call(srv.URL, name)
			if r.Messages == nil {
				t.Fatalf("no request is called %s", name)
			}
			got := Result(t, m, r)
			// A port is another one each time.
			got = strings.ReplaceAll(got, strings.TrimPrefix(srv.URL, "http://"), "HOST")
			fresh := &txtar.Archive{Comment: old.Comment, Files: []txtar.File{
				{Name: "request", Data: []byte(request)},
				{Name: "response", Data: section(old, "response")},
				{Name: "result", Data: []byte(got)},
			}}
			shared, err := txtar.ParseFile(filepath.Join(dir, name+".txtar"))
			if err != nil {
				t.Fatal(err)
			}
			if filepath.Base(file) != name+".txtar" && request == string(section(shared, "request")) {
				fresh.Files = fresh.Files[1:]
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(fresh), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if len(old.Files) != len(fresh.Files) {
				t.Errorf("it has %d sections, not %d: the request is another", len(old.Files), len(fresh.Files))
			}
			for _, f := range fresh.Files {
				if d := cmp.Diff(string(section(old, f.Name)), string(f.Data)); d != "" {
					t.Errorf("%s (-want +got):\n%s", f.Name, d)
				}
			}
		})
	}
}

func section(a *txtar.Archive, name string) []byte {
	for _, f := range a.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

func show(r *http.Request, headers []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", r.Method, r.URL.Path)
	for _, h := range headers {
		if v := r.Header.Get(h); v != "" {
			fmt.Fprintf(&b, "%s: %s\n", h, v)
		}
	}
	body, _ := io.ReadAll(r.Body)
	var pretty bytes.Buffer
	if json.Indent(&pretty, body, "", "  ") != nil {
		pretty.Write(body)
	}
	fmt.Fprintf(&b, "\n%s\n", pretty.Bytes())
	return b.String()
}

func answer(w http.ResponseWriter, response []byte) {
	head, body, _ := strings.Cut(string(response), "\n\n")
	lines := strings.Split(head, "\n")
	var status int
	if _, err := fmt.Sscanf(lines[0], "HTTP %d", &status); err != nil {
		panic(fmt.Sprintf("want a response that begins with HTTP and a status, got %q", lines[0]))
	}
	for _, line := range lines[1:] {
		k, v, _ := strings.Cut(line, ": ")
		w.Header().Set(k, v)
	}
	w.WriteHeader(status)
	for body != "" {
		n := min(piece, len(body))
		_, _ = io.WriteString(w, body[:n]) // a client that hung up is part of the test
		w.(http.Flusher).Flush()
		body = body[n:]
	}
	if strings.HasSuffix(lines[0], " cut") {
		panic(http.ErrAbortHandler)
	}
}

// Result writes down what a stream yields, increments of one kind in a row as
// one line.
func Result(t *testing.T, m pawl.Model, r pawl.Request) string {
	var b strings.Builder
	kind, text := "", ""
	flush := func(next string) {
		if kind != next && text != "" {
			fmt.Fprintf(&b, "%s %q\n", kind, text)
			text = ""
		}
		kind = next
	}
	for c, err := range m.Stream(t.Context(), r) {
		switch {
		case err != nil:
			flush("")
			var me *pawl.ModelError
			if !errors.As(err, &me) {
				t.Fatalf("error %#v, want a ModelError", err)
			}
			fmt.Fprintf(&b, "error %v\n  %s\n", me.Class, me.Message)
			if me.RetryAfter != 0 {
				fmt.Fprintf(&b, "  retry after %v\n", me.RetryAfter)
			}
			usage(&b, me.Usage)
		case c.Reply != nil:
			flush("")
			fmt.Fprintf(&b, "reply, stop %v\n", c.Reply.Stop)
			if c.Reply.Filter != "" {
				fmt.Fprintf(&b, "  filter %s\n", c.Reply.Filter)
			}
			if c.Reply.Repaired {
				b.WriteString("  repaired\n")
			}
			for _, p := range c.Reply.Parts {
				switch p := p.(type) {
				case pawl.Text:
					fmt.Fprintf(&b, "  text %q\n", p.Text)
				case pawl.Thinking:
					fmt.Fprintf(&b, "  thinking %q by %s\n    %s\n", p.Text, p.Model, p.Opaque)
				case pawl.Citation:
					fmt.Fprintf(&b, "  citation %q %s %q\n", p.Title, p.URL, p.Quote)
					if p.Opaque != nil {
						fmt.Fprintf(&b, "    by %s: %s\n", p.Model, p.Opaque)
					}
				case pawl.Call:
					fmt.Fprintf(&b, "  call %s id=%q ref=%q %s\n", p.Tool, p.ID, p.Ref, p.Args)
				}
			}
			for _, n := range c.Reply.Notes {
				fmt.Fprintf(&b, "  note: %s\n", n)
			}
			usage(&b, c.Reply.Usage)
		case c.Call != "":
			flush("")
			fmt.Fprintf(&b, "call %s\n", c.Call)
		case c.Thinking != "":
			flush("thinking")
			text += c.Thinking
		default:
			flush("text")
			text += c.Text
		}
	}
	flush("")
	return b.String()
}

func usage(b *strings.Builder, u pawl.Usage) {
	if u != (pawl.Usage{}) {
		fmt.Fprintf(b, "  input %d, of it read %d and written %d; output %d, of it reasoning %d\n", u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning)
		if u.CacheLong > 0 {
			fmt.Fprintf(b, "  written for long %d\n", u.CacheLong)
		}
	}
}

// Class returns the class of a model's error; 0: it is none.
func Class(err error) pawl.Class {
	if me, ok := errors.AsType[*pawl.ModelError](err); ok {
		return me.Class
	}
	return 0
}
