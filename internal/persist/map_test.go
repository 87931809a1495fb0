package persist

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

func sameMap(t *testing.T, m Map[int], twin map[string]int) {
	t.Helper()
	if got := maps.Collect(m.All()); m.Len() != len(twin) || !maps.Equal(got, twin) {
		t.Fatalf("got %d keys %v\nwant %d %v", m.Len(), got, len(twin), twin)
	}
}

// poor makes hashes collide to the given degree.
var poor = map[string]func(string) uint64{
	"good":       hash,
	"eight":      func(key string) uint64 { return hash(key) & 7 },
	"one":        func(string) uint64 { return 12345 },
	"high bits":  func(key string) uint64 { return hash(key) &^ (1<<58 - 1) },
	"low shared": func(key string) uint64 { return hash(key)<<40 | 77 },
}

func TestMapVersions(t *testing.T) {
	for name, hash := range poor {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			versions, twins := []Map[int]{{}}, []map[string]int{{}}
			for step := range 3000 {
				k := max(0, len(versions)-1-r.IntN(4))
				if r.IntN(50) == 0 {
					k = r.IntN(len(versions))
				}
				m, twin := versions[k], maps.Clone(twins[k])
				key := fmt.Sprint("key", r.IntN(120))
				if r.IntN(5) < 2 {
					m = m.delete(hash(key), key)
					delete(twin, key)
				} else {
					m = m.set(entry[int]{hash(key), key, step + 1})
					twin[key] = step + 1
				}
				if got, ok := m.get(hash(key), key); ok != (twin[key] != 0) || got != twin[key] {
					t.Fatalf("%s is %d, %v", key, got, ok)
				}
				if got, ok := m.get(hash("none"), "none"); ok {
					t.Fatalf("found %d where nothing was put", got)
				}
				versions, twins = append(versions, m), append(twins, twin)
			}
			for i := range versions {
				sameMap(t, versions[i], twins[i])
			}
		})
	}
}

// TestMapOrder: the order must not tell how the map came about.
func TestMapOrder(t *testing.T) {
	for name, hash := range poor {
		var keys []string
		for i := range 300 {
			keys = append(keys, fmt.Sprint(i))
		}
		build := func(r *rand.Rand) (order []string) {
			r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
			var m Map[int]
			for _, key := range keys {
				m = m.set(entry[int]{hash(key), key, 1})
			}
			for _, key := range keys {
				if len(key) == 3 {
					m = m.delete(hash(key), key)
				}
			}
			for key := range m.All() {
				order = append(order, key)
			}
			return order
		}
		first := build(rand.New(rand.NewPCG(1, 1)))
		for seed := range uint64(10) {
			if got := build(rand.New(rand.NewPCG(seed, 9))); len(got) != 100 || !slices.Equal(got, first) {
				t.Fatalf("%s: %d keys\n%v\n%v", name, len(got), got, first)
			}
		}
	}
}

func TestMapFrozenOrder(t *testing.T) {
	var m Map[int]
	for i, key := range []string{"alpha", "beta", "gamma", "delta", "", "é"} {
		m = m.Set(key, i)
		std := fnv.New64a()
		std.Write([]byte(key))
		if hash(key) != std.Sum64() {
			t.Errorf("hash of %q is %x, FNV-1a %x", key, hash(key), std.Sum64())
		}
	}
	var got []string
	for key := range m.All() {
		got = append(got, key)
	}
	if want := []string{"", "beta", "gamma", "alpha", "delta", "é"}; !slices.Equal(got, want) {
		t.Errorf("order is %q, was %q", got, want)
	}
	for range m.All() {
		break
	}
	m = m.Delete("alpha").Delete("alpha").Delete("nobody")
	if _, ok := m.Get("alpha"); ok || m.Len() != 5 {
		t.Errorf("alpha %v, %d keys", ok, m.Len())
	}
}

func TestMapAtOnce(t *testing.T) {
	var base Map[int]
	for i := range 100 {
		base = base.Set(fmt.Sprint(i), i)
	}
	var group sync.WaitGroup
	for g := range 4 {
		group.Go(func() {
			m := base
			for i := range 200 {
				m = m.Set(fmt.Sprint(i), g)
			}
			for key, v := range m.All() {
				if v != g {
					t.Errorf("%s is %d for goroutine %d", key, v, g)
				}
			}
		})
	}
	group.Wait()
	if v, _ := base.Get("42"); v != 42 || base.Len() != 100 {
		t.Errorf("the base changed: %d, %d", v, base.Len())
	}
}

func FuzzMap(f *testing.F) {
	f.Add([]byte("\x00\x81\x02\x83abc\x00\x80"), uint64(3))
	f.Add([]byte("aAbBcC"), uint64(0))
	f.Fuzz(func(t *testing.T, script []byte, keep uint64) {
		var m Map[int]
		twin := map[string]int{}
		for step, op := range script {
			key := string(rune('a' + op&0x7f))
			h := hash(key) & keep
			if op&0x80 != 0 {
				m = m.delete(h, key)
				delete(twin, key)
			} else {
				m = m.set(entry[int]{h, key, step + 1})
				twin[key] = step + 1
			}
		}
		sameMap(t, m, twin)
		var fresh Map[int]
		for _, key := range slices.Sorted(maps.Keys(twin)) {
			fresh = fresh.set(entry[int]{hash(key) & keep, key, twin[key]})
		}
		a, b := "", ""
		for key := range m.All() {
			a += key
		}
		for key := range fresh.All() {
			b += key
		}
		if a != b {
			t.Fatalf("order %q, built afresh %q", a, b)
		}
	})
}

func BenchmarkMapSet(b *testing.B) {
	for _, size := range []int{8, 1000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			keys := make([]string, size)
			for i := range keys {
				keys[i] = fmt.Sprint("call_", i)
			}
			b.ReportAllocs()
			for b.Loop() {
				var m Map[int]
				for i, key := range keys {
					m = m.Set(key, i)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size), "ns/key")
		})
	}
}

func BenchmarkMapGet(b *testing.B) {
	var m Map[int]
	for i := range 1000 {
		m = m.Set(fmt.Sprint("call_", i), i)
	}
	sum := 0
	for b.Loop() {
		v, _ := m.Get("call_617")
		sum += v
	}
	_ = sum
}
