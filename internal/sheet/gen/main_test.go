package main

import (
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
		"2026-01-31": `{"provider":"openai","name":"gpt-9","aliases":["gpt-9-nine"],"input":1,"output":2,"web_search":0.01,"code_session":0.03}`,
		"2026-02-01": `{"provider":"openai","name":"gpt-9","aliases":["gpt-9-nine"],"input":3,"output":4,"cache_read":0.5,"long":{"from":200000,"input":6,"output":4,"cache_read":0.5},"web_search":0.01,"code_session":0.03}`,
		"2027-05-01": `{"provider":"openai","name":"gpt-9","aliases":["gpt-9-nine"],"input":9,"output":9,"web_search":0.01,"code_session":0.03}`,
	} {
		var out strings.Builder
		if err := run([]byte(source), &out, date, "1.2.3"); err != nil {
			t.Fatal(err)
		}
		want := `{"as_of": "` + date + `", "source": "genai-prices 1.2.3", "rows": [` + "\n" + row + "\n]}\n"
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
		if err := run([]byte(c.source), &strings.Builder{}, c.date, "1.2.3"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.source, err, c.want)
		}
	}
}
