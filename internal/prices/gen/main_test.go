package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const source = `[
 {"id": "openai", "models": [
  {"id": "gpt-9", "match": {"or": [{"equals": "gpt-9"}, {"starts_with": "gpt-9-nine-"}, {"equals": "gpt-9-audio"}, {"regex": "^x$"}]},
   "prices": [
    {"prices": {"input_mtok": 1, "output_mtok": 2}},
    {"constraint": {"type": "start_date", "start_date": "2026-02-01"},
     "prices": {"input_mtok": {"base": 3, "tiers": [{"start": 200000, "price": 6}]}, "output_mtok": 4, "cache_read_mtok": 0.5}},
    {"constraint": {"type": "start_date", "start_date": "2027-01-01"}, "prices": {"input_mtok": 9, "output_mtok": 9}}]},
  {"id": "gpt-9-realtime", "match": {}, "prices": {}},
  {"id": "gpt-8", "deprecated": true, "match": {}, "prices": {}},
  {"id": "whisper", "match": {}, "prices": {}}]},
 {"id": "nobody", "models": [{"id": "gpt-9", "match": {}, "prices": {}}]}
]`

func TestRowsAreThoseOfTheDay(t *testing.T) {
	for date, row := range map[string]string{
		"2026-01-31": `{"provider":"openai","name":"gpt-9","aliases":["gpt-9-nine"],"input":1,"output":2}`,
		"2026-02-01": `{"provider":"openai","name":"gpt-9","aliases":["gpt-9-nine"],"input":3,"output":4,"cache_read":0.5,"long":{"from":200000,"input":6,"output":4,"cache_read":0.5}}`,
		"2027-05-01": `{"provider":"openai","name":"gpt-9","aliases":["gpt-9-nine"],"input":9,"output":9}`,
	} {
		var out strings.Builder
		if err := run([]byte(source), &out, date); err != nil {
			t.Fatal(err)
		}
		want := `{"as_of": "` + date + `", "source": "genai-prices unversioned", "rows": [` + "\n" + row + "\n]}\n"
		if d := cmp.Diff(want, out.String()); d != "" {
			t.Errorf("on %s (-want +got):\n%s", date, d)
		}
	}
}

func TestBadSources(t *testing.T) {
	const model = `[{"id": "openai", "models": [{"id": "gpt-9", "match": {}, "prices": `
	for _, c := range []struct{ date, source, want string }{
		{"today", "[]", "want -date"},
		{"2026-01-01", "{", "read the price data"},
		{"2026-01-01", "[]", "no model of a known provider"},
		{"2026-01-01", model + `{"input_mtok": 1}}]}]`, "openai/gpt-9: no output_mtok"},
		{"2026-01-01", model + `{"input_mtok": "1", "output_mtok": 1}}]}]`, "input_mtok is neither"},
		{"2026-01-01", model + `[{"constraint": {"type": "time_of_date"}, "prices": {}}]}]}]`, "prices depend on time_of_date"},
		{"2026-01-01", model + `[{"constraint": {"type": "start_date", "start_date": "2026-02-01"}, "prices": {}}]}]}]`, "no price on 2026-01-01"},
	} {
		if err := run([]byte(c.source), &strings.Builder{}, c.date); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.source, err, c.want)
		}
	}
}

// packed is a package as npm publishes it.
func packed(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	archive := tar.NewWriter(zipped)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(files[name]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(archive.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestPackage(t *testing.T) {
	const module = `const E = [
  {
    id: "openai",
    "name": 'it\'s "open"',
    note: ` + "`over\nlines`" + `,
    flags: [!0, !1, null, -.5],
    models: [{ id: "gpt-9", match: { equals: "gpt-9" }, prices: {
      input_mtok: { base: .5, tiers: [{ start: 2e5, price: 1 }] }, output_mtok: 3 } }]
  }
], J = { a: () => 1 };
`
	files := map[string]string{"package/package.json": `{"version": "1.2.3"}`, "package/dist/index.js": module, "package/README.md": "["}
	var out strings.Builder
	if err := run(packed(t, files), &out, "2026-09-23"); err != nil {
		t.Fatal(err)
	}
	want := `{"as_of": "2026-09-23", "source": "genai-prices 1.2.3", "rows": [
{"provider":"openai","name":"gpt-9","input":0.5,"output":3,"long":{"from":200000,"input":1,"output":3}}
]}
`
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for bad, change := range map[string][2]string{
		"has not both":                  {"package/package.json", ""},
		"has no list":                   {"package/dist/index.js", "const E = {}"},
		`"(1 + 2)]" is no part`:         {"package/dist/index.js", "const E = [(1 + 2)]"},
		`"" is no part of a list`:       {"package/dist/index.js", "const E = [1, 2"},
		"read package.json: unexpected": {"package/package.json", "{"},
	} {
		files := maps.Clone(files)
		if files[change[0]] = change[1]; change[1] == "" {
			delete(files, change[0])
		}
		if err := run(packed(t, files), io.Discard, "2026-09-23"); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%q: error %v, want one with %q", change, err, bad)
		}
	}
	whole := packed(t, files)
	if err := run(whole[:len(whole)/2], io.Discard, "2026-09-23"); err == nil {
		t.Error("half a package made a table")
	}
}

func TestSources(t *testing.T) {
	srv := httptest.NewServer(http.FileServer(http.Dir(t.TempDir())))
	defer srv.Close()
	file := filepath.Join(t.TempDir(), "data.json")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "table.json")
	for _, c := range []struct{ source, want string }{
		{"", "want one source"},
		{file, ""},
		{file + "x", "no such file"},
		{srv.URL + "/none", "404"},
	} {
		args := []string{c.source}
		if c.source == "" {
			args = nil
		}
		err := table(args, to, "2026-02-01")
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: error %v, want %q", c.source, err, c.want)
		}
	}
	if got, err := os.ReadFile(to); err != nil || !strings.Contains(string(got), "gpt-9") {
		t.Errorf("wrote %q, %v", got, err)
	}
}
