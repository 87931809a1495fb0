package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/server/client"
)

// A form starts a run with files; the client sends one when it has files.
func TestForm(t *testing.T) {
	t.Parallel()
	agent := pawl.Agent{Name: "clerk", Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		return pawl.Say(r.Messages[0].Text()), nil
	})}
	j := memory.New()
	srv, _ := hosted(t, j, agent)
	c, err := client.New(srv.URL, "t", nil)
	must(t, err)
	r, err := c.StartAndWait(t.Context(), client.StartRun{Agent: "clerk", Input: "Read.", Files: []pawl.File{{Name: "a.txt", Data: []byte("Alpha.")}}})
	if err != nil || !strings.Contains(r.Answer, "\nAlpha.\n") || !strings.HasSuffix(r.Answer, "Read.") {
		t.Errorf("%q, %v", r.Answer, err)
	}
	_, err = c.Start(t.Context(), client.StartRun{Agent: "clerk", Input: "Read.", Files: []pawl.File{{Name: "a.bin", Data: []byte{0, 1}}}})
	if p := new(client.Problem); !errors.As(err, &p) || p.Status != http.StatusUnprocessableEntity || !strings.Contains(p.Detail, "file a.bin: it is neither") {
		t.Errorf("a file for no model: %v", err)
	}
	for body, want := range map[string]string{
		"--x\r\nContent-Disposition: form-data; name=\"run\"\r\n\r\n{\"agent\": 1}\r\n--x--\r\n":                                                      "422 agent cannot be a JSON number",
		"--x\r\nContent-Disposition: form-data; name=\"run\"\r\n\r\n{}\r\n--x\r\nContent-Disposition: form-data; name=\"run\"\r\n\r\n{}\r\n--x--\r\n": "400 the form has more than one part run",
		"--x\r\nContent-Disposition: form-data; name=\"run\"\r\n\r\n\ufeff{\"agent\": 1}\r\n--x--\r\n":                                                "422 agent cannot be a JSON number",
		"--x\r\nContent-Disposition: form-data; name=\"other\"\r\n\r\n{}\r\n--x--\r\n":                                                                "422 the form has a part \"other\"",
		"--x\r\nContent-Disposition: form-data; name=\"run\"\r\n\r\n{":                                                                                "400 the form cannot be read",
		"--x\r\nContent-Disposition: form-data; name=\"run\"\r\n\r\n" + strings.Repeat(" ", mostBody+1) + "\r\n--x--\r\n":                             "413 the body is larger",
		"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n" + strings.Repeat("x", mostForm):                                "413 the form is larger than 33 MiB",
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+"/v1/runs", strings.NewReader(body))
		must(t, err)
		request.Header.Set("Authorization", "Bearer t")
		request.Header.Set("Content-Type", `multipart/form-data; boundary=x`)
		response, err := http.DefaultClient.Do(request)
		must(t, err)
		got, _ := io.ReadAll(response.Body)
		response.Body.Close()
		status, detail, _ := strings.Cut(want, " ")
		if !strings.HasPrefix(response.Status, status) || !strings.Contains(strings.ReplaceAll(string(got), `\"`, `"`), detail) {
			t.Errorf("%s: %s %s", want, response.Status, got)
		}
	}
	n := 0
	for range j.List(t.Context(), pawl.Query{}) {
		n++
	}
	if n != 1 {
		t.Errorf("there are %d runs, want 1", n)
	}
}
