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
// Run the tests with -update to write request and result anew.
package wiretest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write the requests and results of transcripts anew")

// The pieces a body is sent in. Small, and prime, so that frames and runes are
// cut everywhere.
const piece = 13

// Run replays every transcript in testdata, and [RunIn] every one in a directory,
// for a package that speaks two wires. For each, call makes one call to
// the server at a URL and says what came of it; name is the file's name without
// its ending, up to the first dot, so that several transcripts may share a
// request. Headers are the names of headers to show of a request.
func Run(t *testing.T, headers []string, call func(t *testing.T, url, name string) string) {
	RunIn(t, "testdata", headers, call)
}

// RunIn replays every transcript in a directory; see [Run].
func RunIn(t *testing.T, dir string, headers []string, call func(t *testing.T, url, name string) string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts in %s: %v", dir, err)
	}
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
			got := call(t, srv.URL, name)
			// A port is another one each time.
			got = strings.ReplaceAll(got, strings.TrimPrefix(srv.URL, "http://"), "HOST")
			fresh := &txtar.Archive{Comment: old.Comment, Files: []txtar.File{
				{Name: "request", Data: []byte(request)},
				{Name: "response", Data: section(old, "response")},
				{Name: "result", Data: []byte(got)},
			}}
			if *update {
				if err := os.WriteFile(file, txtar.Format(fresh), 0o644); err != nil {
					t.Fatal(err)
				}
				return
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
