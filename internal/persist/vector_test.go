package persist

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
)

func sameVector(t *testing.T, v Vector[int], want []int) {
	t.Helper()
	if got := v.AppendTo(nil); v.Len() != len(want) || !slices.Equal(got, want) {
		t.Fatalf("got %d items %v\nwant %d %v", v.Len(), got, len(want), want)
	}
	if last, ok := v.Last(); ok != (len(want) > 0) || ok && last != want[len(want)-1] {
		t.Fatalf("last is %d, %v", last, ok)
	}
}

// walk compares every way to read a vector.
func walk(t *testing.T, v Vector[int], want []int, from int) {
	t.Helper()
	sameVector(t, v, want)
	next := 0
	for i, x := range v.All() {
		if i != next || x != want[i] || v.At(i) != x {
			t.Fatalf("item %d is %d, At says %d, want item %d to be %d", i, x, v.At(i), next, want[next])
		}
		next++
	}
	if next != len(want) {
		t.Fatalf("All ended at %d of %d", next, len(want))
	}
	for i, x := range v.Backward() {
		next--
		if i != next || x != want[i] {
			t.Fatalf("backward, item %d is %d", i, x)
		}
	}
	if next != 0 {
		t.Fatalf("Backward ended at %d", next)
	}
	next = max(from, 0)
	for i, x := range v.From(from) {
		if i != next || x != want[i] {
			t.Fatalf("from %d, item %d is %d", from, i, x)
		}
		next++
	}
	if next != max(len(want), from) {
		t.Fatalf("From(%d) ended at %d", from, next)
	}
}

func TestVectorSizes(t *testing.T) {
	var v Vector[int]
	var want []int
	for n := range 32*32*32 + 100 { // three levels above the leaves
		if n < 70 || n&mask < 2 && n > 32*32*32-70 || n >= 32*32-2 && n < 32*32+40 {
			walk(t, v, want, n/2)
		}
		v = v.Append(n)
		want = append(want, n)
	}
	walk(t, v, want, 33000)
	for i := 0; i < len(want); i += 97 {
		v, want[i] = v.Set(i, -i), -i
	}
	walk(t, v, want, -1)
	walk(t, v, want, len(want)+5)
}

// TestVectorVersions goes on from versions picked at random and checks that all
// of them stay as they were.
func TestVectorVersions(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		versions, twins := []Vector[int]{{}}, [][]int{nil}
		for step := range 1500 {
			k := r.IntN(len(versions))
			if r.IntN(3) > 0 { // mostly the newest ones, so that they grow
				k = len(versions) - 1 - r.IntN(min(3, len(versions)))
			}
			v, twin := versions[k], slices.Clone(twins[k])
			switch op := r.IntN(10); {
			case op == 0 && v.Len() > 0:
				i := r.IntN(v.Len())
				v, twin[i] = v.Set(i, step), step
			case op == 1:
				for i := range r.IntN(70) {
					v, twin = v.Append(i), append(twin, i)
				}
			default:
				v, twin = v.Append(step), append(twin, step)
			}
			versions, twins = append(versions, v), append(twins, twin)
		}
		for i := range versions {
			if i%10 == 0 {
				walk(t, versions[i], twins[i], i%40)
			} else {
				sameVector(t, versions[i], twins[i])
			}
		}
	}
}

// TestVectorSiblings has many goroutines append to the same version at once.
func TestVectorSiblings(t *testing.T) {
	for _, size := range []int{0, 1, 3, 4, 31, 32, 33, 40, 1056} {
		var base Vector[int]
		for i := range size {
			base = base.Append(i)
		}
		var group sync.WaitGroup
		ends := make([]Vector[int], 8)
		for g := range ends {
			group.Go(func() {
				v := base
				for i := range 100 {
					v = v.Append(g*1000 + i)
				}
				ends[g] = v
			})
		}
		group.Wait()
		for g, v := range ends {
			var want []int
			for i := range size {
				want = append(want, i)
			}
			for i := range 100 {
				want = append(want, g*1000+i)
			}
			sameVector(t, v, want)
		}
		if base.Len() != size {
			t.Fatalf("the base has %d items", base.Len())
		}
	}
}

func TestVectorStops(t *testing.T) {
	v := VectorOf(1, 2, 3)
	for i := range v.All() {
		if i == 1 {
			break
		}
	}
	for i := range v.Backward() {
		if i == 1 {
			break
		}
	}
	for _, f := range []func(){func() { v.At(3) }, func() { v.At(-1) }, func() { v.Set(3, 0) }, func() { Vector[int]{}.At(0) }} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, "outside a vector of") {
					t.Errorf("panicked with %q", got)
				}
			}()
			f()
		}()
	}
}

// FuzzVector reads a script: each byte appends to or sets in one of the last
// four versions.
func FuzzVector(f *testing.F) {
	f.Add([]byte("\x00\x01\x02\x03abcdefghijklmnopqrstuvwxyz\xff\xfe\xfd0123456789"))
	f.Fuzz(func(t *testing.T, script []byte) {
		versions, twins := []Vector[int]{{}}, [][]int{nil}
		for step, op := range script {
			k := max(0, len(versions)-1-int(op&3))
			v, twin := versions[k], slices.Clone(twins[k])
			if op>>2&3 == 3 && v.Len() > 0 {
				i := int(op>>4) * v.Len() / 16
				v, twin[i] = v.Set(i, step), step
			} else {
				for range op>>4 + 1 {
					v, twin = v.Append(step), append(twin, step)
				}
			}
			versions, twins = append(versions, v), append(twins, twin)
		}
		for i := range versions {
			sameVector(t, versions[i], twins[i])
		}
	})
}

func BenchmarkVectorAppend(b *testing.B) {
	for _, size := range []int{10, 1000, 100000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			x := new(int)
			b.ReportAllocs()
			for b.Loop() {
				var v Vector[*int]
				for range size {
					v = v.Append(x)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size), "ns/item")
		})
	}
}

func BenchmarkVectorAt(b *testing.B) {
	var v Vector[int]
	for i := range 100000 {
		v = v.Append(i)
	}
	i, sum := 0, 0
	for b.Loop() {
		i = (i + 7919) % 100000
		sum += v.At(i)
	}
	_ = sum
}

func BenchmarkVectorAll(b *testing.B) {
	var v Vector[int]
	for i := range 1000 {
		v = v.Append(i)
	}
	sum := 0
	for b.Loop() {
		for _, x := range v.All() {
			sum += x
		}
	}
	_ = sum
}
