package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/server/client"
	"github.com/pawl-run/pawl/tool"
)

// The files of a run are served to those who may read it, as attachments that no browser runs and
// whose names lead nowhere.
func TestFiles(t *testing.T) {
	t.Parallel()
	w := serve(t, nil)
	page, secret := []byte("<script>alert(1)</script>\x00"), "sk-ant-api03-"+strings.Repeat("a1B2", 23)+"AA"
	files := []pawl.File{
		{Name: "a.png", Type: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")},
		{Name: "page.png", Type: "image/png", Data: page},
		{Name: "page.html", Type: "text/html", Data: page[1:]},
		{Name: "x.html", Type: "text/html", Data: []byte("<script>alert(1)</script>")},
		{Name: "x.svg", Type: "image/svg+xml", Data: []byte("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>")},
		{Name: "a.wav", Data: []byte("RIFF\x04\x00\x00\x00WAVEfmt ")},
		{Name: "ключ.csv", Data: []byte("key," + secret)},
		{Name: "none.txt"},
	}
	report := tool.Func("report", "Reports.", func(context.Context, struct{}) (pawl.Output, error) { return pawl.Output{Files: files}, nil }, pawl.Read)
	call := pawl.Do(pawl.Call{Tool: "report", Args: []byte("{}")})
	agent := pawl.Agent{Name: "clerk", Model: script.Replies(call, call, pawl.Say("done")), Tools: []pawl.Tool{report}}
	h, err := w.engine.Start(t.Context(), agent, "go", &engine.StartOptions{Labels: map[string]string{"tenant": "acme"}, Files: []pawl.File{
		{Name: "../../x\"; filename=\"y.html\r\nX-Evil: 1\n<b>.pdf", Data: []byte("%PDF-1.4")}, {Name: `..\..\`, Data: []byte("hello")}, {Name: "..", Data: []byte("again")},
	}})
	must(t, err)
	_, err = h.Wait(t.Context())
	must(t, err)
	at := "/v1/runs/" + h.ID() + "/files"
	var list client.Files
	must(t, json.Unmarshal(w.ask(acme, "GET", at, "", 200), &list))
	type sent struct{ name, kind, data string }
	var got []sent
	for _, f := range list.Files {
		if f.Digest == "" {
			got = append(got, sent{f.Name, f.Type, ""})
			continue
		}
		res, data := w.send(request{token: reader, method: "GET", path: at + "/" + f.Digest})
		disposition, parameters, err := mime.ParseMediaType(res.Header.Get("Content-Disposition"))
		if res.StatusCode != http.StatusOK || err != nil || disposition != "attachment" || parameters["filename"] != f.Name ||
			res.Header.Get("X-Content-Type-Options") != "nosniff" || res.Header.Get("X-Evil") != "" || !strings.Contains(res.Header.Get("Content-Security-Policy"), "object-src 'none'") {
			t.Errorf("%s: %d, %v, %v", f.Name, res.StatusCode, err, res.Header)
		}
		got = append(got, sent{f.Name, res.Header.Get("Content-Type"), string(data)})
	}
	want := []sent{
		{"x_; filename=_y.html__X-Evil_ 1__b_.pdf", "application/pdf", "%PDF-1.4"},
		{"file", "text/plain; charset=utf-8", "hello"},
		{"file-2", "text/plain; charset=utf-8", "again"},
		{"a.png", "image/png", string(files[0].Data)},
		{"page.png", "image/png", string(page)},
		{"page.html", "application/octet-stream", string(page[1:])},
		{"x.html", "text/plain; charset=utf-8", string(files[3].Data)},
		{"x.svg", "text/plain; charset=utf-8", string(files[4].Data)},
		{"a.wav", "audio/wav", string(files[5].Data)},
		{"ключ.csv", "text/plain; charset=utf-8", "key,[redacted]"},
		{"none.txt", "application/octet-stream", ""},
	}
	again := want[3 : len(want)-1 : len(want)-1] // the same, and another file without data
	if want = append(want, append(again, sent{"none-2.txt", "application/octet-stream", ""})...); !slices.Equal(got, want) {
		t.Errorf("the files are\n%q, want\n%q", got, want)
	}

	// The digest of a file of another run opens nothing, and the run is nobody else's.
	pdf := at + "/" + list.Files[0].Digest
	c, err := client.New(w.web.URL, acme, nil)
	must(t, err)
	if data, err := c.File(t.Context(), h.ID(), list.Files[0].Digest); err != nil || !bytes.Equal(data, []byte("%PDF-1.4")) {
		t.Errorf("the client gets %q, %v", data, err)
	}
	w.refused(other, "GET", at, "", 404, "run not found")
	w.refused(other, "GET", pdf, "", 404, "run not found")
	w.refused("", "GET", pdf, "", 401, "no token")
	calm := w.begin(other, "calm")
	w.refused(other, "GET", "/v1/runs/"+calm.Run+"/files/"+list.Files[0].Digest, "", 404, "no file with this digest")
	if empty := w.ask(other, "GET", "/v1/runs/"+calm.Run+"/files", "", 200); string(empty) != "{\"files\":[]}\n" {
		t.Errorf("a run without files has %s", empty)
	}
	if res, _ := w.send(request{token: acme, method: http.MethodHead, path: pdf}); res.Header.Get("Content-Length") != "8" {
		t.Errorf("HEAD: %d, %v", res.StatusCode, res.Header)
	}

	// What was removed is said to be so.
	_, err = w.journal.RemoveBlobs(t.Context(), time.Now().Add(time.Hour), func(string) bool { return false })
	must(t, err)
	w.refused(acme, "GET", pdf, "", 404, "the journal does not have the file x_; filename=_y.html__X-Evil_ 1__b_.pdf: it was removed")
	if _, err := c.File(t.Context(), h.ID(), list.Files[0].Digest); !errors.Is(err, pawl.ErrUnknownBlob) {
		t.Errorf("the client says %v", err)
	}
}
