package pawl

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
)

// odd returns an event of zero's type with random fields, many of them such
// as no log can say; of equal seeds, equal events that share no memory.
func odd(zero Event, seed uint64) Event {
	v := reflect.New(reflect.TypeOf(zero)).Elem()
	randomise(v, rand.New(rand.NewPCG(seed, 1)))
	return v.Interface().(Event)
}

func randomise(v reflect.Value, r *rand.Rand) {
	texts := []string{"", "", "a", "c_1", "a text of plain letters", "é\u2028", "\"\\\n\x00", "a\xffb", "\xed\xa0\x80", "\xff\xff"}
	raws := []string{"", "null", " null", `{"a":[1.0,"x y"]}`, " {\n\"a\" : [ 1 , 2 ] } ", `"x y"`, "\"\xff\\ud800\"", "1e400"}
	if r.IntN(400) == 0 {
		raws = []string{`{`, `1 2`, strings.Repeat("[", 997) + strings.Repeat("]", 997), strings.Repeat("[", 1000) + strings.Repeat("]", 1000)}
	}
	switch v.Interface().(type) {
	case time.Time:
		at := time.Unix(r.Int64N(1e10), r.Int64N(1e9)).In([]*time.Location{time.UTC, time.Local, time.FixedZone("", 3600)}[r.IntN(3)])
		v.Set(reflect.ValueOf([]time.Time{{}, at, started, at.UTC()}[r.IntN(4)]))
		if r.IntN(200) == 0 {
			v.Set(reflect.ValueOf(at.AddDate(9000, 0, 0)))
		}
		return
	case json.RawMessage:
		if s := raws[r.IntN(len(raws))]; r.IntN(4) > 0 {
			v.SetBytes([]byte(s))
		}
		return
	case []Part:
		for range r.IntN(4) {
			zero := []Part{Text{}, Thinking{}, Call{}, Call{}, File{}}[r.IntN(5)]
			p := reflect.New(reflect.TypeOf(zero)).Elem()
			randomise(p, r)
			if id := p.FieldByName("ID"); id.IsValid() && id.String() == "" {
				id.SetString("c_9") // as every call of a run has one
			}
			v.Set(reflect.Append(v, p))
		}
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(texts[r.IntN(len(texts))])
	case reflect.Bool:
		v.SetBool(r.IntN(2) > 0)
	case reflect.Int:
		v.SetInt(int64(r.IntN(8) - 1))
		if v.Type() == reflect.TypeFor[int]() {
			v.SetInt([]int64{0, 1, -1, math.MaxInt, math.MinInt}[r.IntN(5)])
		} else if r.IntN(20) > 0 {
			v.SetInt(int64(r.IntN(3)))
		}
	case reflect.Int64:
		v.SetInt([]int64{0, 1, -1, 3e6, 1500e6, math.MaxInt64, math.MinInt64}[r.IntN(7)])
	case reflect.Uint64:
		v.SetUint([]uint64{0, 1, math.MaxUint64}[r.IntN(3)])
	case reflect.Float64:
		v.SetFloat([]float64{0, math.Copysign(0, -1), 0.1, 1e-10, 1e300, -3}[r.IntN(6)])
		if r.IntN(100) == 0 {
			v.SetFloat([]float64{math.NaN(), math.Inf(-1)}[r.IntN(2)])
		}
	case reflect.Slice:
		if r.IntN(4) > 0 {
			v.Set(reflect.MakeSlice(v.Type(), r.IntN(3), 3))
		}
		for i := range v.Len() {
			if v.Index(i).Kind() == reflect.Uint8 {
				v.Index(i).SetUint(255)
			} else {
				randomise(v.Index(i), r)
			}
		}
	case reflect.Map:
		if r.IntN(4) > 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range r.IntN(3) {
				value := reflect.New(v.Type().Elem()).Elem()
				randomise(value, r)
				v.SetMapIndex(reflect.ValueOf(texts[r.IntN(len(texts))]), value)
			}
		}
	case reflect.Pointer:
		if r.IntN(2) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			randomise(v.Elem(), r)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			randomise(field, r)
		}
	}
}

func source(e Event) string {
	var b strings.Builder
	dump(&b, reflect.ValueOf(e))
	return b.String()
}

// started has a monotonic clock beside the wall's, which no log has.
var started = time.Now()

// normalises holds an event that is normalised to what is read of the event as
// written, and the event handed in to what it was.
func normalises(t *testing.T, zero Event, seed uint64) {
	t.Helper()
	event := odd(zero, seed)
	at := time.Unix(1_800_000_000, int64(seed%1e9)).In(time.FixedZone("", -7200))
	given := Entry{Run: "r", Seq: 2, At: 1, Time: at, Iteration: 1, Event: event}
	e := given
	if err := e.Normalise(); err != nil {
		if line, err := given.AppendJSON(nil); err == nil {
			if _, err := DecodeEntry(line); err == nil {
				t.Errorf("%s, seed %d: refused, but it can be written and read: %s", zero.event(), seed, line)
			}
		}
		return
	}
	if again := odd(zero, seed); source(again) != source(event) {
		t.Errorf("%s, seed %d: the event that was handed in became\n%#v\nit was\n%#v", zero.event(), seed, event, again)
	}
	line, err := given.AppendJSON(nil)
	if err != nil {
		t.Fatalf("%s, seed %d: %v", zero.event(), seed, err)
	}
	back, err := DecodeEntry(line)
	if err != nil || !reflect.DeepEqual(back, e) {
		t.Fatalf("%s, seed %d: normalised\n%#v\nas read (%v)\n%#v", zero.event(), seed, e, err, back)
	}
	if again, err := e.AppendJSON(nil); err != nil || !reflect.DeepEqual(decoded(t, again), e) {
		t.Errorf("%s, seed %d: normalised, it is written as\n%s (%v), which is not read as\n%#v", zero.event(), seed, again, err, e)
	}
	first := e
	if err := e.Normalise(); err != nil || !reflect.DeepEqual(e, first) {
		t.Errorf("%s, seed %d: a second time (%v)\n%#v\nnot\n%#v", zero.event(), seed, err, e, first)
	}
}

func decoded(t *testing.T, line []byte) Entry {
	t.Helper()
	e, err := DecodeEntry(line)
	must(t, err)
	return e
}

func TestNormalise(t *testing.T) {
	for _, zero := range every {
		for seed := range uint64(300) {
			normalises(t, zero, seed)
		}
	}
	said := ModelReplied{Reply: Say("so")}
	for name, e := range map[string]Entry{
		"a pointer":            {Event: &said},
		"a call without an ID": {Event: ModelReplied{Reply: Reply{Parts: []Part{Thinking{}, Call{}}}}},
	} {
		err := e.Normalise()
		line, _ := e.AppendJSON(nil) // else there is no line
		if back, bad := DecodeEntry(line); err != nil || bad != nil || !reflect.DeepEqual(back, e) {
			t.Errorf("%s: normalised (%v)\n%#v\nas read (%v)\n%#v", name, err, e, bad, back)
		}
	}
	for name, e := range map[string]Entry{
		"no event": {},
		"the year": {Event: said, Time: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		if err := e.Normalise(); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func FuzzNormalise(f *testing.F) {
	f.Add(uint64(1), uint8(0))
	f.Fuzz(func(t *testing.T, seed uint64, kind uint8) {
		normalises(t, every[int(kind)%len(every)], seed)
	})
}
