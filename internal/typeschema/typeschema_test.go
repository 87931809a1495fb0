package typeschema_test

import (
	"encoding/json"
	"math/big"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl/internal/typeschema"
)

type Scalars struct {
	S    string  `json:"s" jsonschema:"some <text>"`
	B    bool    `json:"b"`
	I    int     `json:"i,omitempty"`
	I8   int8    `json:"i8,omitzero"`
	U    uint    `json:"u"`
	U16  uint16  `json:"u16"`
	F    float64 `json:"f"`
	Skip string  `json:"-"`
	Dash string  `json:"-,"`
	Bare string
	own  string
}

type Place struct {
	Lat, Lon float64
}

type Enums struct {
	Mode  string   `json:"mode" enum:"r,w" jsonschema:"how to open"`
	Level int      `json:"level,omitempty" enum:"1,-2"`
	Scale *float64 `json:"scale" enum:"0.5,1e3"`
	Flags []string `json:"flags" enum:"a,b"`
	Pair  [2]uint8 `json:"pair" enum:"0,255"`
}

type Composites struct {
	List  []string         `json:"list"`
	Pts   []*Place         `json:"pts"`
	Pair  [2]int           `json:"pair"`
	Map   map[string][]int `json:"map"`
	Opt   *Place           `json:"opt"`
	Far   **string         `json:"far"`
	Any   any              `json:"any"`
	Raw   json.RawMessage  `json:"raw" jsonschema:"what you like"`
	Free  map[string]any   `json:"free"`
	At    time.Time        `json:"at"`
	Bytes []byte           `json:"bytes"`
	Hash  [2]byte          `json:"hash"`
	Num   json.Number      `json:"num"`
	Big   *big.Int         `json:"big"`
	Addr  netip.Addr       `json:"addr"`
	Empty struct{}         `json:"empty"`
}

type Base struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type Extra struct {
	Note string `json:"note"`
}

type Embedding struct {
	Base
	*Extra
	Named Base `json:"named"`
	Name  int  `json:"name"`
}

type Node struct {
	Value int     `json:"value"`
	Next  *Node   `json:"next,omitempty"`
	Kids  []*Node `json:"kids,omitempty"`
}

type Forest struct {
	Trees []Tree[string] `json:"trees"`
	Best  *Tree[string]  `json:"best" jsonschema:"the tallest"`
	First *Node          `json:"first"`
}

type Tree[T any] struct {
	Leaf     T
	Branches []Branch[T]
}

type Branch[T any] struct {
	To *Tree[T] `json:"to,omitempty"`
}

type Ring []Ring

func TestSchemas(t *testing.T) { // Promises: T14.
	tests := []struct {
		name string
		of   func() (json.RawMessage, error)
		want string
	}{
		{"scalars", typeschema.Object[Scalars], `{"type":"object","properties":{` +
			`"s":{"type":"string","description":"some \u003ctext\u003e"},"b":{"type":"boolean"},"i":{"type":"integer"},"i8":{"type":"integer","minimum":-128,"maximum":127},` +
			`"u":{"type":"integer","minimum":0},"u16":{"type":"integer","minimum":0,"maximum":65535},"f":{"type":"number"},"-":{"type":"string"},"Bare":{"type":"string"}},` +
			`"required":["s","b","u","u16","f","-","Bare"],"additionalProperties":false}`},
		{"enums", typeschema.Object[Enums], `{"type":"object","properties":{` +
			`"mode":{"type":"string","description":"how to open","enum":["r","w"]},"level":{"type":"integer","enum":[1,-2]},"scale":{"type":"number","enum":[0.5,1e3]},` +
			`"flags":{"type":"array","items":{"type":"string","enum":["a","b"]}},"pair":{"type":"array","items":{"type":"integer","enum":[0,255],"minimum":0,"maximum":255},"minItems":2,"maxItems":2}},` +
			`"required":["mode","flags","pair"],"additionalProperties":false}`},
		{"composites", typeschema.Object[*Composites], `{"type":"object","properties":{` +
			`"list":{"type":"array","items":{"type":"string"}},` +
			`"pts":{"type":"array","items":{"type":"object","properties":{"Lat":{"type":"number"},"Lon":{"type":"number"}},"required":["Lat","Lon"],"additionalProperties":false}},` +
			`"pair":{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":2},` +
			`"map":{"type":"object","additionalProperties":{"type":"array","items":{"type":"integer"}}},` +
			`"opt":{"type":"object","properties":{"Lat":{"type":"number"},"Lon":{"type":"number"}},"required":["Lat","Lon"],"additionalProperties":false},` +
			`"far":{"type":"string"},"any":{"description":"any JSON value"},"raw":{"description":"what you like"},` +
			`"free":{"type":"object","additionalProperties":{"description":"any JSON value"}},` +
			`"at":{"type":"string","format":"date-time"},"bytes":{"type":"string","contentEncoding":"base64"},` +
			`"hash":{"type":"array","items":{"type":"integer","minimum":0,"maximum":255},"minItems":2,"maxItems":2},` +
			`"num":{"type":"number"},"big":{"type":"integer"},"addr":{"type":"string"},"empty":{"type":"object","properties":{},"additionalProperties":false}},` +
			`"required":["list","pts","pair","map","any","raw","free","at","bytes","hash","num","addr","empty"],"additionalProperties":false}`},
		{"embedding", typeschema.Object[Embedding], `{"type":"object","properties":{` +
			`"id":{"type":"string"},"note":{"type":"string"},` +
			`"named":{"type":"object","properties":{"id":{"type":"string"},"name":{"type":"string"}},"required":["id","name"],"additionalProperties":false},` +
			`"name":{"type":"integer"}},"required":["id","named","name"],"additionalProperties":false}`},
		{"recursive root", typeschema.Object[Node], `{"type":"object","properties":{"value":{"type":"integer"},"next":{"$ref":"#"},"kids":{"type":"array","items":{"$ref":"#"}}},"required":["value"],"additionalProperties":false}`},
		{"recursive parts", typeschema.Object[Forest], `{"type":"object","properties":{"trees":{"type":"array","items":{"$ref":"#/$defs/Tree_string_"}},` +
			`"best":{"$ref":"#/$defs/Tree_string_","description":"the tallest"},"first":{"$ref":"#/$defs/Node"}},` +
			`"$defs":{"Node":{"type":"object","properties":{"value":{"type":"integer"},"next":{"$ref":"#/$defs/Node"},"kids":{"type":"array","items":{"$ref":"#/$defs/Node"}}},"required":["value"],"additionalProperties":false},` +
			`"Tree_string_":{"type":"object","properties":{"Leaf":{"type":"string"},"Branches":{"type":"array","items":{"type":"object","properties":{"to":{"$ref":"#/$defs/Tree_string_"}},"additionalProperties":false}}},"required":["Leaf","Branches"],"additionalProperties":false}},` +
			`"required":["trees"],"additionalProperties":false}`},
		{"ring", typeschema.For[Ring], `{"type":"array","items":{"$ref":"#"}}`},
		{"list", typeschema.For[[]Node], `{"type":"array","items":{"$ref":"#/$defs/Node"},"$defs":{"Node":{"type":"object","properties":{"value":{"type":"integer"},"next":{"$ref":"#/$defs/Node"},"kids":{"type":"array","items":{"$ref":"#/$defs/Node"}}},"required":["value"],"additionalProperties":false}}}`},
		{"map", typeschema.Object[map[string]int], `{"type":"object","properties":{},"additionalProperties":{"type":"integer"}}`},
		{"string", typeschema.For[*string], `{"type":"string"}`},
		{"any", typeschema.For[any], `{"description":"any JSON value"}`},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.of()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("-want +got\n%s\n%s", diff, got)
			}
			for range 20 {
				if again, _ := c.of(); string(again) != string(got) {
					t.Fatalf("not the same bytes: %s", again)
				}
			}
		})
	}
}

type Custom struct{}

func (*Custom) UnmarshalJSON([]byte) error { return nil }

type own struct{ X int }

type Word string

func TestErrors(t *testing.T) { // Promises: T14.
	type inner struct {
		Done chan int
	}
	tests := []struct {
		name string
		of   func() (json.RawMessage, error)
		want []string
	}{
		{"every field", typeschema.For[struct {
			Items []inner
			Calls map[string]func()
			C     *complex128
			Keys  map[int]string
			W     error
			D     time.Duration
			Own   Custom
		}], []string{
			"field Items[].Done: chan int has no JSON form", "field Calls{}: func() has no JSON form", "field C: complex128 has no JSON form",
			"field Keys: map[int]string has keys that are not strings: use map[string]string", "field W: error is an interface with methods",
			"field D: time.Duration", "field Own: typeschema_test.Custom has a JSON form of its own",
		}},
		{"root", typeschema.For[chan int], []string{"chan int: chan int has no JSON form"}},
		{"no object", typeschema.Object[[]string], []string{"[]string is not an object"}},
		{"no object in text", typeschema.Object[time.Time], []string{"time.Time is not an object"}},
		{"no object in pointer", typeschema.Object[*[]string], []string{"is not an object"}},
		{"no string keys", typeschema.Object[map[int]string], []string{"map[int]string has keys that are not strings: use map[string]string"}},
		{"no JSON form in map", typeschema.Object[map[string]chan int], []string{"field {}: chan int has no JSON form"}},
		{"interface", typeschema.Object[any], []string{"is not an object"}},
		{"enum type", typeschema.For[struct {
			B bool `enum:"true"`
		}], []string{"field B: bool cannot have an enum tag"}},
		{"enum value", typeschema.For[struct {
			A int8    `enum:"1,200"`
			B uint    `enum:"-1"`
			C float64 `enum:"NaN"`
			D string  `enum:"a,,b"`
			E string  `enum:"a,a"`
		}], []string{`field A: the enum value "200" is no int8`, `field B: the enum value "-1"`, `field C: the enum value "NaN"`, `field D: the enum tag "a,,b"`, `field E: the enum tag "a,a"`}},
		{"description", typeschema.For[struct {
			A int `jsonschema:"minimum=3"`
		}], []string{`tag must not begin with 'WORD=': "minimum=3"`}},
		{"string option", typeschema.For[struct {
			A int `json:",string"`
		}], []string{"field A: the JSON option string"}},
		{"embedded name", typeschema.For[struct {
			Place `json:"place"`
		}], []string{"field Place: it is embedded"}},
		{"embedded string", typeschema.For[struct{ Word }], []string{"field Word: it is embedded"}},
		{"embedded pointer", typeschema.For[struct{ *own }], []string{"field own: it is embedded"}},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.of()
			if err == nil {
				t.Fatalf("no error, but %s", got)
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) != len(c.want) {
				t.Fatalf("%d errors, want %d:\n%v", len(lines), len(c.want), err)
			}
			for i, want := range c.want {
				if !strings.Contains(lines[i], want) || strings.Contains(lines[i], "typeschema:") {
					t.Errorf("got  %s\nwant %s", lines[i], want)
				}
			}
		})
	}
}
