package typeschema_test

import (
	"encoding/json"
	"math/big"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl/internal/jsonschema"
	"github.com/pawl-run/pawl/internal/typeschema"
)

// TestRandomValues checks that what encoding/json writes of a type is valid under
// its schema, read back as it was, and no longer valid with a property more or a
// required one less.
func TestRandomValues(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	checkRandom[Scalars](t, random)
	checkRandom[Enums](t, random)
	checkRandom[Composites](t, random)
	checkRandom[Embedding](t, random)
	checkRandom[Node](t, random)
	checkRandom[Forest](t, random)
	checkRandom[Ring](t, random)
	checkRandom[[]Node](t, random)
	checkRandom[map[string]*Place](t, random)
}

func checkRandom[T any](t *testing.T, random *rand.Rand) {
	t.Run(reflect.TypeFor[T]().String(), func(t *testing.T) {
		text, err := typeschema.For[T]()
		if err != nil {
			t.Fatal(err)
		}
		schema, err := jsonschema.Compile(text, &jsonschema.Options{Closed: true})
		if err != nil {
			t.Fatal(err)
		}
		var needs struct{ Required []string }
		if err := json.Unmarshal(text, &needs); err != nil {
			t.Fatal(err)
		}
		for range 200 {
			value := new(T)
			fill(random, reflect.ValueOf(value).Elem(), "", 4)
			doc, err := json.Marshal(value) // a pointer, as methods of *T count
			if err != nil {
				t.Fatal(err)
			}
			if problems := schema.Validate(doc); problems != nil {
				t.Fatalf("%s\nunder %s\n%v", doc, text, problems)
			}
			back := new(T)
			if err := json.Unmarshal(doc, back); err != nil {
				t.Fatal(err)
			}
			again, err := json.Marshal(back)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(doc), string(again)); diff != "" {
				t.Fatalf("read back otherwise: %s", diff)
			}
			if reflect.TypeFor[T]().Kind() != reflect.Struct {
				continue
			}
			var object map[string]json.RawMessage
			if err := json.Unmarshal(doc, &object); err != nil {
				t.Fatal(err)
			}
			object["more"] = json.RawMessage("1")
			refused(t, schema, object)
			delete(object, "more")
			if len(needs.Required) > 0 {
				delete(object, needs.Required[random.IntN(len(needs.Required))])
				refused(t, schema, object)
			}
		}
	})
}

func refused(t *testing.T, schema *jsonschema.Schema, object map[string]json.RawMessage) {
	t.Helper()
	doc, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if len(schema.Validate(doc)) != 1 {
		t.Fatalf("%s: got %v, want one problem", doc, schema.Validate(doc))
	}
}

// fill sets v to a random value without nil where the schema has no null.
func fill(random *rand.Rand, v reflect.Value, enum string, depth int) {
	choose := func(s ...string) string { return s[random.IntN(len(s))] }
	if enum != "" && v.Kind() != reflect.Slice && v.Kind() != reflect.Array && v.Kind() != reflect.Pointer {
		word := choose(strings.Split(enum, ",")...)
		if v.Kind() == reflect.String {
			v.SetString(word)
		} else if err := json.Unmarshal([]byte(word), v.Addr().Interface()); err != nil {
			panic(err)
		}
		return
	}
	switch p := v.Addr().Interface().(type) {
	case *time.Time:
		*p = time.Unix(random.Int64N(1<<33), random.Int64N(1e9)).UTC()
		return
	case *json.RawMessage:
		*p = json.RawMessage(choose(`null`, `{"a":[1]}`, `"x"`, `3`))
		return
	case *json.Number:
		*p = json.Number(choose("1", "2.5", "-3e9"))
		return
	case *any:
		*p = []any{nil, "x", true, 2.5, []any{"y"}}[random.IntN(5)]
		return
	case *big.Int:
		p.Lsh(big.NewInt(random.Int64()), uint(random.IntN(200)))
		return
	case *netip.Addr:
		*p = netip.AddrFrom4([4]byte{127, 0, 0, byte(random.IntN(256))})
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(random.IntN(2) == 1)
	case reflect.String:
		v.SetString(choose("", "a", "é\n\"", "<&>", "\u2028", "long enough"))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(random.NormFloat64() * 1e6)
	case reflect.Slice:
		n := random.IntN(3)
		if depth <= 0 {
			n = 0
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			fill(random, v.Index(i), enum, depth-1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range random.IntN(3) {
			inner := reflect.New(v.Type().Elem()).Elem()
			fill(random, inner, "", depth-1)
			v.SetMapIndex(reflect.ValueOf(choose("", "a", "b/c")), inner)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(random, v.Elem(), enum, depth-1)
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			omitted := strings.Contains(f.Tag.Get("json"), ",omit") || f.Anonymous && f.Type.Kind() == reflect.Pointer
			if !f.IsExported() || f.Tag.Get("json") == "-" || omitted && (depth <= 0 || random.IntN(2) == 0) {
				continue
			}
			fill(random, v.Field(i), f.Tag.Get("enum"), depth)
			if f.Type.Kind() == reflect.Slice && omitted && v.Field(i).Len() == 0 {
				v.Field(i).SetZero()
			}
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(random.Int64() >> (64 - v.Type().Bits()))
	default:
		v.SetUint(random.Uint64() >> (64 - v.Type().Bits()))
	}
}
