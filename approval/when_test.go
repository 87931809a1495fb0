package approval

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pawl-run/pawl/internal/expr"
)

// Each predicate is asked about arguments for which it is false, true and
// unknown.
func TestDecide(t *testing.T) {
	args := map[string]string{
		"small": `{"amount":50,"kind":"gift","urgent":false,"note":null,"list":[1],"to":{"name":"ann"},"tags":["a","b"]}`,
		"large": `{"amount":1000,"kind":"order","urgent":true,"note":"x","list":[1000],"to":{"name":"bob"},"tags":["a"]}`,
		"text":  `{"amount":"1000","kind":7,"urgent":"true","note":{},"list":["1000"],"to":"bob","tags":{}}`,
		"none":  `{}`,
		"list":  `[]`,
		"bad":   `{`,
	}
	order := []string{"small", "large", "text", "none", "list", "bad"}
	for predicate, want := range map[string]string{ // one signal for each of the arguments
		`args.amount > 100`:                                "nyuuuu",
		`args.amount <= 100`:                               "ynuuuu",
		`!(args.amount > 100)`:                             "ynuuuu",
		`100 < args.amount`:                                "nyuuuu",
		`args.amount == 1000.0`:                            "nyuuuu",
		`args.amount != 50`:                                "nyuuuu",
		`args.kind == "order"`:                             "nyuuuu",
		`args.kind != "gift"`:                              "nyuuuu",
		`args.urgent`:                                      "nyuuuu",
		`!args.urgent`:                                     "ynuuuu",
		`args.urgent == true`:                              "nyuuuu",
		`args.note == null`:                                "ynnyyu",
		`args.note != null`:                                "nyynnu",
		`args.list[0] > 100`:                               "nyuuuu",
		`args.list[7] > 100`:                               "uuuuuu",
		`args.to.name == "bob"`:                            "nyuuuu",
		`args["amount"] > 100`:                             "nyuuuu",
		`args.kind == "order" && args.amount > 100`:        "nyuuuu",
		`args.kind == "never" && args.missing > 100`:       "nnuuuu",
		`args.missing > 100 && args.kind == "never"`:       "nnuuuu",
		`args.amount > 10 || args.missing > 100`:           "yyuuuu",
		`args.missing > 100 || args.amount > 10`:           "yyuuuu",
		`args.missing > 100 || args.amount > 100`:          "uyuuuu",
		`args.note == null || args.amount > 100`:           "yyuyyu",
		`!(args.missing > 100 && args.kind == "never")`:    "yyuuuu",
		`args.missing == args.gone`:                        "uuuuuu",
		`args.amount == args.missing`:                      "uuuuuu",
		`args.amount == args.amount`:                       "yyyuuu",
		`(args.amount > 100) == args.urgent`:               "yyuuuu",
		`args.tags == args.tags`:                           "yyyuuu",
		`args.tags < args.tags`:                            "uuuuuu",
		`args.urgent > false`:                              "uuuuuu",
		`args`:                                             "uuuuuu",
		`args == null`:                                     "nnnnnu",
		`args.amount`:                                      "uuuuuu",
		`args.amount > 100 && (args.urgent || args.extra)`: "nyuuuu",
	} {
		tree, err := expr.Parse(predicate)
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range order {
			holds, why := decide(tree, json.RawMessage(args[name]))
			letter := byte('n')
			switch {
			case why != "":
				letter = 'u'
			case holds:
				letter = 'y'
			}
			if letter != want[i] {
				t.Errorf("%s for the %s arguments is %c, want %c (%s)", predicate, name, letter, want[i], why)
			}
		}
	}
}

// FuzzDecide holds what is decided to what a condition says.
func FuzzDecide(f *testing.F) {
	f.Add(`args.amount > 100 && !args.urgent || args.kind == "gift"`, `{"amount":150,"urgent":false}`)
	f.Add(`args.a == null != (args.b < "x")`, `{"a":null,"b":"w"}`)
	f.Add(`!(args.list[0] >= 1e3) && args["a b"].c`, `{"list":[1000],"a b":{"c":true}}`)
	f.Fuzz(func(t *testing.T, predicate, args string) {
		tree, err := expr.Parse(predicate)
		if err != nil || checkPredicate(tree) != nil {
			return
		}
		got, why := decide(tree, json.RawMessage(args))
		var value any
		d := json.NewDecoder(strings.NewReader(args))
		d.UseNumber()
		if d.Decode(&value) != nil || why != "" {
			if why == "" {
				t.Fatalf("%s is decided for %q, which is no JSON", predicate, args)
			}
			return
		}
		holds, err := expr.Holds(tree, expr.Env{Values: map[string]expr.Value{"args": value}})
		if err == nil && holds != got {
			t.Errorf("%s for %s is %v, but a condition would say %v", predicate, args, got, holds)
		}
	})
}
