package aside

import (
	"sync"
	"testing"
)

// Everybody finds what was left on a page, and only on that one.
func TestBook(t *testing.T) {
	var b Book[[]int]
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() { b.Open([]string{"a", "b"}[i%2], func(p *[]int) { *p = append(*p, i) }) })
	}
	all.Wait()
	for odd, name := range []string{"a", "b"} {
		b.Open(name, func(p *[]int) {
			if len(*p) != 50 {
				t.Errorf("%s has %d", name, len(*p))
			}
			for _, i := range *p {
				if i%2 != odd {
					t.Errorf("%s has %d", name, i)
				}
			}
		})
	}
}

// A reader that panics does not keep the book shut.
func TestPanic(t *testing.T) {
	var b Book[int]
	func() {
		defer func() { _ = recover() }()
		b.Open("a", func(p *int) { *p = 1; panic("no") })
	}()
	b.Open("a", func(p *int) {
		if *p != 1 {
			t.Error(*p)
		}
	})
}
