package judge

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
)

// drawn is a graph on one line.
func drawn(g Graph) string {
	var parts []string
	for _, e := range g.Edges {
		parts = append(parts, e.From+">"+e.To+" "+strings.Join(e.Values, "+"))
	}
	for _, c := range g.Cycles {
		parts = append(parts, "circle "+strings.Join(c.Calls, " "))
	}
	for _, c := range g.Contradictions {
		parts = append(parts, "contradiction "+c.First+" "+c.Then)
	}
	return strings.Join(parts, "; ")
}

func TestCauses(t *testing.T) { // Promises: L8.
	page := func(token, next string) did {
		return did{tool: "page", args: fmt.Sprintf(`{"token":%q}`, token), result: fmt.Sprintf(`{"token":%q,"next":%q}`, token, next)}
	}
	read := func(result string) did { return did{tool: "read", args: `{"key":"total"}`, result: result} }
	write := did{tool: "write", args: `{"key":"total"}`, result: `"ok"`, effect: pawl.Write}
	turn := func(calls ...did) []did { return calls }
	tools := []pawl.ToolInfo{{Name: "page", Effect: pawl.Read}, {Name: "read", Effect: pawl.Read}, {Name: "write", Effect: pawl.Write},
		{Name: "poll", Effect: pawl.Read, Exempt: true}, {Name: "pick", Effect: pawl.Read, Input: json.RawMessage(`{"properties":{"color":{"enum":["crimson"]}}}`)}}
	for name, c := range map[string]struct {
		turns  [][]did
		answer string
		want   string
	}{
		"a value goes on": {[][]did{turn(did{tool: "find", args: `{"q":"x"}`, result: `{"id":"V-1042"}`}), turn(did{tool: "get", args: `{"vendor":"V-1042"}`, result: `{"phone":"555-0199"}`})},
			"Call 555-0199 for V-1042.", "c_1>c_2 V-1042; c_1>answer V-1042; c_2>answer 555-0199"},
		"within a text":            {[][]did{turn(did{tool: "find", args: `{}`, result: "The order PO-7788 is late."}), turn(did{tool: "mail", args: `{"text":"Where is (PO-7788)?"}`, result: `"sent"`})}, "", "c_1>c_2 PO-7788"},
		"a number":                 {[][]did{turn(did{tool: "find", args: `{}`, result: `{"total":1234.50}`}), turn(did{tool: "pay", args: `{"eur":1234.5}`, result: `"ok"`})}, "", "c_1>c_2 1234.5"},
		"a number with commas":     {[][]did{turn(did{tool: "find", args: `{}`, result: `{"total":1200}`})}, "It is 1,200 in all, or 1,200.0.", "c_1>answer 1200"},
		"the first who brought it": {[][]did{turn(did{tool: "a", args: `{}`, result: `"key-4711"`}), turn(did{tool: "b", args: `{}`, result: `"key-4711"`}), turn(did{tool: "c", args: `{"k":"key-4711"}`, result: `1`})}, "", "c_1>c_3 key-4711"},
		"one comes after another":  {[][]did{turn(did{tool: "a", args: `{"n":1}`, result: `{"ok":true,"n":0}`}), turn(did{tool: "b", args: `{"ok":true,"n":0}`, result: `{"ok":true}`})}, "It is true.", ""},
		"trivial values":           {[][]did{turn(did{tool: "a", args: `{}`, result: `{"status":"pending","n":10,"s":"abc","t":"true","none":null}`}), turn(did{tool: "b", args: `{"status":"pending","n":10,"s":"abc","t":"true","none":null}`, result: `1`})}, "", ""},
		"within one turn":          {[][]did{turn(did{tool: "a", args: `{}`, result: `"key-4711"`}, did{tool: "b", args: `{"k":"key-4711"}`, result: `1`})}, "", ""},
		"asked for":                {[][]did{turn(did{tool: "a", args: `{}`, result: `"ticket-99"`}), turn(did{tool: "b", args: `{"t":"ticket-99"}`, result: `1`})}, "About ticket-99.", ""},
		"said by the model before": {[][]did{turn(did{tool: "a", args: `{"k":"guess-123"}`, result: `{"k":"guess-123"}`}), turn(did{tool: "b", args: `{"k":"guess-123"}`, result: `1`})}, "", ""},
		"named by a schema":        {[][]did{turn(did{tool: "a", args: `{}`, result: `"crimson"`}), turn(did{tool: "pick", args: `{"color":"crimson"}`, result: `1`})}, "", ""},
		"a part of a longer one":   {[][]did{turn(did{tool: "a", args: `{}`, result: `"V-1042"`}), turn(did{tool: "b", args: `{"k":"V-10421"}`, result: `1`})}, "", ""},
		"a call that failed":       {[][]did{turn(did{tool: "a", args: `{}`, result: `error key-4711 is unknown`}), turn(did{tool: "b", args: `{"k":"key-4711"}`, result: `1`})}, "", ""},

		"round in a circle": {[][]did{turn(page("start", "tok-1")), turn(page("tok-1", "tok-2")), turn(page("tok-2", "tok-1")), turn(page("tok-1", "tok-2"))}, "",
			"c_1>c_2 tok-1; c_1>c_4 tok-1; c_2>c_3 tok-2; circle c_2 c_3 c_4"},
		"round and round": {[][]did{turn(page("tok-1", "tok-2")), turn(page("tok-2", "tok-1")), turn(page("tok-1", "tok-2")), turn(page("tok-2", "tok-1")), turn(page("tok-1", "tok-2"))}, "", "c_1>c_2 tok-2; c_1>c_4 tok-2; circle c_1 c_2 c_3"},
		"into a circle": {[][]did{turn(page("outside", "tok-1")), turn(page("tok-1", "tok-2")), turn(page("tok-2", "tok-1")), turn(page("tok-1", "tok-2")), turn(page("outside", "tok-1"))}, "",
			"c_1>c_2 tok-1; c_1>c_4 tok-1; c_2>c_3 tok-2; circle c_2 c_3 c_4"},
		"back without being sent": {[][]did{turn(page("tok-1", "tok-2")), turn(page("tok-2", "tok-3")), turn(page("tok-1", "tok-2"))}, "", "c_1>c_2 tok-2"},
		"an echo":                 {[][]did{turn(did{tool: "get", args: `{"id":"V-1042"}`, result: `{"id":"V-1042"}`}), turn(did{tool: "get", args: `{"id":"V-1042"}`, result: `{"id":"V-1042"}`})}, "", ""},
		"onwards":                 {[][]did{turn(page("start", "tok-1")), turn(page("tok-1", "tok-2")), turn(page("tok-2", "tok-3"))}, "", "c_1>c_2 tok-1; c_2>c_3 tok-2"},

		"other values":                   {[][]did{turn(read(`10`)), turn(read(`12`))}, "", "contradiction c_1 c_2"},
		"the values one wrote otherwise": {[][]did{turn(read(`{"a":1,"b":2}`)), turn(read(` { "b":2.0, "a":1 }`))}, "", ""},
		"written between":                {[][]did{turn(read(`10`)), turn(write), turn(read(`12`))}, "", ""},
		"written in the same turn":       {[][]did{turn(write, read(`10`)), turn(read(`12`), write)}, "", ""},
		"written before":                 {[][]did{turn(write), turn(read(`10`)), turn(read(`12`))}, "", "contradiction c_2 c_3"},
		"a write that failed":            {[][]did{turn(read(`10`)), turn(did{tool: "write", args: `{}`, result: "error broken", effect: pawl.Write}), turn(read(`12`))}, "", ""},
		"other arguments":                {[][]did{turn(read(`10`)), turn(did{tool: "read", args: `{"key":"other"}`, result: `12`})}, "", ""},
		"one of them failed":             {[][]did{turn(read(`10`)), turn(read("error broken"))}, "", ""},
		"polled":                         {[][]did{turn(did{tool: "poll", args: `{}`, result: `10`}), turn(did{tool: "poll", args: `{}`, result: `12`})}, "", ""},
		"a writer itself":                {[][]did{turn(did{tool: "write", args: `{}`, result: `10`, effect: pawl.Write}), turn(did{tool: "write", args: `{}`, result: `12`, effect: pawl.Write})}, "", ""},
		"nothing":                        {nil, "Hello.", ""},
	} {
		s := begin(t, "Look after ticket-99.", tools...)
		for _, calls := range c.turns {
			s.act(calls...)
		}
		if c.answer != "" {
			s.say(c.answer)
		}
		if got := drawn(Causes(&s.state)); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, c.want)
		}
	}
}
