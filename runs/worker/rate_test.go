package worker_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs/worker"
)

// acme is a model of the provider acme.
type acme struct{ pawl.Model }

func (acme) Describe() pawl.ModelInfo { return pawl.ModelInfo{Name: "acme/one"} }

// While calls to a provider wait for its rate, workers leave the runs of the agent queued, in
// their order, and take them as the rate allows.
func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, agent := newDisk(), pawl.Agent{Name: "a", Model: acme{says("done")}}
		const runs = 30
		for i := range runs {
			queued(t, j, agent, fmt.Sprint("r", i), nil)
		}
		began := time.Now()
		var programs []*program
		for range 2 {
			e := engine.New(j, &engine.Options{Rates: map[string]engine.Rate{"acme": {Requests: 6}}})
			programs = append(programs, worksOn(t, j, e, agent, &worker.Options{}))
		}
		counted := func() (by map[pawl.Status]int) {
			by = map[pawl.Status]int{}
			for i := range runs {
				by[status(t, j, fmt.Sprint("r", i))]++
			}
			return by
		}
		time.Sleep(9 * time.Second)
		if by := counted(); by[pawl.StatusSuccess] != 6 || by[pawl.StatusRunning] == 0 || by[pawl.StatusQueued] < 14 { // each worker may have begun 7 beside the other
			t.Errorf("after a bucket was emptied the runs are %v", by)
		}
		queued(t, j, agent, "urgent", map[string]string{"priority": "5"})
		time.Sleep(110 * time.Second)
		if s := status(t, j, "urgent"); s != pawl.StatusSuccess {
			t.Errorf("a run of a higher priority is %v", s)
		}
		for counted()[pawl.StatusSuccess] < runs && time.Since(began) < time.Hour {
			time.Sleep(time.Second)
		}
		// A bucket for 6, and one each 10 seconds for the other 25.
		if took := time.Since(began); took < 250*time.Second || took > 262*time.Second {
			t.Errorf("all runs took %v", took)
		}
		claims := 0
		for i := range runs {
			run := fmt.Sprint("r", i)
			if n := len(events(t, j, run, "run.resumed")); n != 1 {
				t.Errorf("%s was resumed %d times", run, n)
			}
			for h, err := range j.List(t.Context(), pawl.Query{Run: run}) {
				if err == nil && h.Run == run {
					claims += int(h.Lease.Epoch)
				}
			}
		}
		t.Logf("%d runs were claimed %d times", runs, claims)
		if claims > 10*runs {
			t.Errorf("%d runs were claimed %d times", runs, claims)
		}
		for _, p := range programs {
			if p.log.Count("level=WARN")+p.log.Count("level=ERROR") > 0 {
				t.Errorf("a worker says %s", p.log.String())
			}
		}
	})
}

// A run that is paused for a rate stays so until there is some, without entries.
func TestRateDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, agent := newDisk(), pawl.Agent{Name: "a", Model: acme{says("done")}}
		rates := map[string]engine.Rate{"acme": {Requests: 1}}
		take := func(requests time.Duration) {
			_, err := j.Reserve(t.Context(), "acme", requests, 0, 24*time.Hour)
			must(t, err)
		}
		take(7 * time.Minute)
		h, err := engine.New(j, &engine.Options{Rates: rates}).Start(t.Context(), agent, "go", &engine.StartOptions{ID: "r"})
		must(t, err)
		if r, err := h.Wait(t.Context()); err != nil || r.Status != pawl.StatusPaused {
			t.Fatalf("the run is %v, %v", r.Status, err)
		}
		take(10 * time.Minute)
		worksOn(t, j, engine.New(j, &engine.Options{Rates: rates}), agent, &worker.Options{})
		time.Sleep(15 * time.Minute)
		if s, n := status(t, j, "r"), len(events(t, j, "r", "run.resumed")); s != pawl.StatusPaused || n != 0 {
			t.Errorf("before there is some of the rate the run is %v, resumed %d times", s, n)
		}
		time.Sleep(3 * time.Minute)
		if s, n := status(t, j, "r"), len(events(t, j, "r", "run.resumed")); s != pawl.StatusSuccess || n != 1 {
			t.Errorf("when there is some the run is %v, resumed %d times", s, n)
		}
	})
}
