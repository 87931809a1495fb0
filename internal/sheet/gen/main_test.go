package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	source = `[
 {"id": "openai", "models": [
  {"id": "gpt-9", "match": {"or": [{"equals": "gpt-9"}, {"starts_with": "gpt-9-nine-"}]},
   "prices": [
    {"prices": {"input_mtok": 1, "output_mtok": 2}},
    {"constraint": {"type": "start_date", "start_date": "2026-02-01"},
     "prices": {"input_mtok": {"base": 3, "tiers": [{"start": 200000, "price": 6}]}, "output_mtok": 4, "cache_read_mtok": 0.5}},
    {"constraint": {"type": "start_date", "start_date": "2027-01-01"}, "prices": {"input_mtok": 9, "output_mtok": 9}}]},
  {"id": "gpt-9.1", "match": {"or": [{"equals": "gpt-9.1"}, {"starts_with": "gpt-9.1-nine-"}, {"equals": "gpt-9.1-audio"}, {"regex": "^x$"}]}, "prices": {"input_mtok": 4, "output_mtok": 8}},
  {"id": "gpt-9-realtime", "match": {}, "prices": {}},
  {"id": "gpt-8", "deprecated": true, "match": {}, "prices": {}},
  {"id": "whisper", "match": {}, "prices": {}}]},
 {"id": "nobody", "models": [{"id": "gpt-9", "match": {}, "prices": {}}]}
]`
	rest = `{"name":"gpt","provider":"openai","for":["gpt-"],"window":1000,"source":"a page"},
{"name":"other","provider":"anthropic","for":["gpt-9"]}
],
"models": [
{"provider":"openai","name":"o1","input":1,"output":5,"code_session":0.05},
`
	sheetOf = `{"as_of": "2026-01-31", "source": "by hand",
"families": [
` + rest + `{"provider":"openai","name":"gpt-9","family":"gpt","input":1,"output":5,"cache_read":0.2,"cache_write":1.25,"cache_long":2,"next":[{"from":"2026-02-10","input":7,"output":8}],"web_search":0.01,"unforced":false,"efforts":[],"retires":"2027-02-02","source":"a page"},
{"provider":"anthropic","name":"claude-9","aliases":["c"],"input":2,"output":3}
],
"retired": {
"openai": ["gpt-1*"]
}}
`
)

func update(t *testing.T, date, sheet, data string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	file, from := filepath.Join(dir, "sheet.json"), filepath.Join(dir, "data.json")
	for name, text := range map[string]string{file: sheet, from: data} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	err := run(file, from, date, "1.2.3")
	text, _ := os.ReadFile(file)
	return string(text), err
}

// Prices are those of the day; all else of a row stays, and what the data does not have keeps its ratio.
func TestUpdate(t *testing.T) {
	const (
		behind  = `"web_search":0.01,"unforced":false,"efforts":[],"retires":"2027-02-02","source":"a page"},` + "\n"
		added   = `{"provider":"openai","name":"gpt-9.1","aliases":["gpt-9.1-nine"],"family":"gpt","input":4,"output":8,"cache_long":8,"web_search":0.01},` + "\n"
		changes = `"next":[{"from":"2027-01-01","input":9,"output":9,"cache_read":1.8,"cache_write":11.25,"cache_long":18,"web_search":0.01}],`
		row     = `{"provider":"openai","name":"gpt-9","family":"gpt",`
		last    = `{"provider":"anthropic","name":"claude-9","aliases":["c"],"input":2,"output":3}` + "\n],\n\"retired\": {\n\"openai\": [\"gpt-1*\"]\n}}\n"
	)
	for date, want := range map[string]string{
		"2026-01-31": row + `"input":1,"output":2,"cache_read":0.2,"cache_write":1.25,"cache_long":2,"next":[{"from":"2026-02-01","input":3,"output":4,"cache_read":0.5,"cache_write":3.75,"cache_long":6,"long":{"from":200000,"input":6,"output":4,"cache_read":0.5,"cache_write":7.5,"cache_long":12},"web_search":0.01},` + strings.TrimPrefix(changes, `"next":[`),
		"2026-02-01": row + `"input":3,"output":4,"cache_read":0.5,"cache_write":3.75,"cache_long":6,"long":{"from":200000,"input":6,"output":4,"cache_read":0.5,"cache_write":7.5,"cache_long":12},` + strings.Replace(changes, "1.8", "1.5", 1),
		"2027-05-01": row + `"input":9,"output":9,"cache_read":1.8,"cache_write":11.25,"cache_long":18,`,
	} {
		got, err := update(t, date, sheetOf, source)
		wanted := `{"as_of": "` + date + `", "source": "genai-prices 1.2.3",` + "\n\"families\": [\n" + rest + want + behind + added + last
		if d := cmp.Diff(wanted, got); d != "" || err != nil {
			t.Errorf("on %s: %v (-want +got):\n%s", date, err, d)
		}
		if again, err := update(t, date, got, source); again != got || err != nil {
			t.Errorf("on %s, a second time: %v\n%s", date, err, cmp.Diff(got, again))
		}
	}
}

func TestBadSources(t *testing.T) {
	const model = `[{"id": "openai", "models": [{"id": "gpt-9", "match": {}, "prices": `
	for _, c := range []struct{ date, sheet, source, want string }{
		{"today", sheetOf, "[]", "want -date"},
		{"2026-02-02", sheetOf, "{", "read the price data"},
		{"2026-02-02", "[]", "[]", "read the model sheet"},
		{"2026-01-30", sheetOf, source, "the data is of 2026-01-30, and the sheet is newer, of 2026-01-31"},
		{"2026-02-02", sheetOf, "[]", "no model of a known provider"},
		{"2026-02-02", sheetOf, model + `{"input_mtok": 1}}]}]`, "openai/gpt-9: no output_mtok"},
		{"2026-02-02", sheetOf, model + `{"input_mtok": "1", "output_mtok": 1}}]}]`, "input_mtok is neither"},
		{"2026-02-02", sheetOf, model + `[{"constraint": {"type": "time_of_date"}, "prices": {}}]}]}]`, "prices depend on time_of_date"},
		{"2026-02-02", sheetOf, model + `[{"constraint": {"type": "start_date", "start_date": "2026-03-01"}, "prices": {"input_mtok": 1, "output_mtok": 1}}]}]}]`, "no price on 2026-02-02"},
		{"2026-02-02", sheetOf, model + `{"input_mtok": 9, "output_mtok": 1}}]}]`, "odd prices"},
	} {
		if _, err := update(t, c.date, c.sheet, c.source); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.source, err, c.want)
		}
	}
}
