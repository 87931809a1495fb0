package journals_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/pawl-run/pawl/internal/journals"
)

// TestRing holds that names come once however often they are rung, that too many
// become one that stands for all, and that a bell nobody hears keeps nothing.
func TestRing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b journals.Bell
		b.Ring("before")
		heard, again := map[string]int{}, make(chan bool)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan bool)
		go func() {
			defer close(done)
			for name := range b.Listen(ctx) {
				heard[name]++
				<-again
			}
		}()
		synctest.Wait()
		if len(heard) != 1 || heard[""] != 1 {
			t.Fatalf("it begins with %v", heard)
		}
		for range 3 {
			b.Ring("a")
			b.Ring("b")
		}
		for range 3 {
			again <- true
			synctest.Wait()
		}
		if heard["a"] != 1 || heard["b"] != 1 || heard["before"] != 0 {
			t.Errorf("heard %v", heard)
		}
		b.Ring("c")
		synctest.Wait()
		for i := range 2000 {
			b.Ring(fmt.Sprint(i))
		}
		again <- true
		synctest.Wait()
		if heard[""] != 2 || len(heard) > 5 {
			t.Errorf("of very many it heard %d names, %d times that it may be any", len(heard), heard[""])
		}
		stop()
		close(again)
		<-done
	})
}

// TestFirst holds that there is somebody at work outside only while somebody listens.
func TestFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := 0
		b := journals.Bell{First: func() func() { at++; return func() { at += 10 } }}
		listen := func(ctx context.Context) {
			for range b.Listen(ctx) {
			}
		}
		one, stopOne := context.WithCancel(t.Context())
		two, stopTwo := context.WithCancel(t.Context())
		go listen(one)
		go listen(two)
		synctest.Wait()
		stopOne()
		synctest.Wait()
		if at != 1 {
			t.Errorf("with one of two gone it stands at %d, want 1", at)
		}
		stopTwo()
		synctest.Wait()
		if at != 11 {
			t.Errorf("with both gone it stands at %d, want 11", at)
		}
		go listen(t.Context())
		synctest.Wait()
		if at != 12 {
			t.Errorf("with a third it stands at %d, want 12", at)
		}
		b.Close()
		synctest.Wait()
		if at != 22 {
			t.Errorf("closed, it stands at %d, want 22", at)
		}
		listen(t.Context()) // ends at once
	})
}
