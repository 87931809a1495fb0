package cli

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/cmd/internal/screen"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/journal/postgres"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// examined is what a doctor says with an environment, as lines of grade, check and detail.
func examined(environ []string, do func(*doctor)) string {
	a := &app{console: console{out: new(bytes.Buffer), err: screen.NewWriter(new(bytes.Buffer))}, environment: environment{environ: environ}}
	d := &doctor{app: a}
	do(d)
	var b strings.Builder
	for _, f := range d.findings {
		b.WriteString(string(f.Grade) + " " + f.Check + ": " + f.Detail + " → " + f.Remedy + "\n")
	}
	return b.String()
}

// A page of the database that SQLite did not write is an error with a remedy.
func TestDoctorDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	j, err := sqlite.Open(t.Context(), path, nil)
	if err == nil {
		err = j.Close()
	}
	db, failed := os.ReadFile(path)
	must(t, errors.Join(err, failed))
	look := func(d *doctor) {
		if j := d.sqlite(t.Context(), path); j != nil {
			_ = j.Close()
		}
	}
	if got := examined(nil, look); !strings.Contains(got, "ok journal: ") {
		t.Error(got)
	}
	clear(db[len(db)-4096:])
	must(t, os.WriteFile(path, db, 0o600))
	if got := examined(nil, look); !strings.Contains(got, "error journal: journal "+path+": the database is damaged; restore the database from a copy, or save") {
		t.Error(got)
	}
}

// A provider that answers is well, one that is broken is not, and no model is called.
func TestDoctorProviders(t *testing.T) {
	status := http.StatusNotFound
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodHead || r.URL.Path != "/" {
			t.Errorf("it asked for %s %s", r.Method, r.URL.Path)
		}
		w.WriteHeader(status)
	}))
	defer web.Close()
	reach := func(d *doctor) { d.reach(t.Context(), nil) }
	openai := []string{"OPENAI_API_KEY=k", "OPENAI_BASE_URL=" + web.URL + "/v1"}
	if got := examined(openai, reach); !strings.HasPrefix(got, "ok provider: openai at 127.0.0.1") {
		t.Errorf("a provider that answers: %s", got)
	}
	status = http.StatusServiceUnavailable
	if got := examined(openai, reach); !strings.HasPrefix(got, "warning provider: openai at 127.0.0.1") {
		t.Errorf("a provider that is broken: %s", got)
	}
	if f := (target{"webhook", "hook", web.URL}).try(t.Context()); f.Grade != doubt || !strings.Contains(f.Remedy, "runs do not wait") {
		t.Errorf("a webhook that is broken: %v", f)
	}
	status = http.StatusNotImplemented
	if f := (target{"webhook", "hook", web.URL}).try(t.Context()); f.Grade != well {
		t.Errorf("a webhook that takes POST only: %v", f)
	}
	status = http.StatusServiceUnavailable
	got := examined([]string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + web.URL + "/otlp"}, reach)
	if !strings.Contains(got, "warning telemetry: ") || !strings.Contains(got, "warning keys: no provider has a key") {
		t.Errorf("a collector that is broken: %s", got)
	}
}

type memoryStore struct{ *memory.Journal }

func (memoryStore) Close() error { return nil }

// Runs that nobody drives are found, with what to do, and those that are driven are not.
func TestDoctorRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := memoryStore{memory.New()}
		put := func(run string, ttl time.Duration, h pawl.Head) {
			t.Helper()
			lease, err := j.Claim(t.Context(), pawl.Claim{Run: run, Owner: "elsewhere", TTL: ttl, New: true})
			must(t, err)
			h.Run, h.Agent, h.Seq, h.Created, h.Updated = run, "help", 1, time.Now(), time.Now()
			row := `{"run":"` + run + `","seq":1}`
			must(t, j.Append(t.Context(), pawl.Batch{Run: run, Epoch: lease.Epoch, Records: [][]byte{[]byte(row)}, Head: h}))
		}
		put("lost", 15*time.Second, pawl.Head{Status: pawl.StatusRunning})
		put("due", 15*time.Second, pawl.Head{Status: pawl.StatusPaused, WakeAt: time.Now().Add(time.Minute)})
		put("later", 15*time.Second, pawl.Head{Status: pawl.StatusPaused, WakeAt: time.Now().Add(time.Hour)})
		put("queued", 15*time.Second, pawl.Head{Status: pawl.StatusQueued})
		put("doubt", 15*time.Second, pawl.Head{Status: pawl.StatusWaitingDoubt})
		time.Sleep(3 * time.Minute)
		put("driven", 15*time.Second, pawl.Head{Status: pawl.StatusRunning})
		put("endless", 2*time.Hour, pawl.Head{Status: pawl.StatusRunning})
		got := examined(nil, func(d *doctor) {
			if err := d.runs(context.Background(), j); err != nil {
				t.Error(err)
			}
		})
		for _, want := range []string{
			"warning leases: 1 run without a process, which nobody resumes, such as lost of help → start pawl serve or pawl worker with the specs of help, or resume one: pawl resume lost\n",
			"warning leases: 1 run leased for more than an hour, such as endless of help",
			"warning runs: 1 run paused beyond the time when to resume, such as due of help",
			"warning runs: 1 run waiting for a person to say what became of a write, such as doubt of help → look up what happened, then pawl settle doubt CALL",
			"warning queue: 1 run waiting longer than 1m0s for a worker, such as queued of help → start pawl worker with the specs of help",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("it does not say %q:\n%s", want, got)
			}
		}
	})
}

// A clock that is a minute off is an error that says which one; a second is none.
func TestDoctorClock(t *testing.T) {
	for ahead, want := range map[time.Duration]string{
		time.Minute:  "error clock: this machine's clock is 1m0s ahead of the database's → synchronise both by NTP",
		-time.Minute: "error clock: this machine's clock is 1m0s behind the database's → synchronise both by NTP",
		time.Second:  "ok clock: within 1s of the database's",
	} {
		if got := examined(nil, func(d *doctor) { d.clock(postgres.Health{Ahead: ahead, Trip: time.Millisecond}) }); !strings.HasPrefix(got, want) {
			t.Errorf("%v ahead: %s", ahead, got)
		}
	}
	j := memoryStore{memory.New()}
	lease, err := j.Claim(t.Context(), pawl.Claim{Run: "r", Owner: "elsewhere", TTL: time.Second, New: true})
	if err == nil {
		h := pawl.Head{Run: "r", Agent: "help", Seq: 1, Status: pawl.StatusPaused, Updated: time.Now().Add(time.Minute)}
		err = j.Append(t.Context(), pawl.Batch{Run: "r", Epoch: lease.Epoch, Records: [][]byte{[]byte(`{"run":"r","seq":1}`)}, Head: h})
	}
	got := examined(nil, func(d *doctor) {
		if err == nil {
			err = d.runs(t.Context(), j)
		}
	})
	if err != nil || !strings.HasPrefix(got, "error clock: run r was written 1m0s in the future → synchronise the clocks of all machines") {
		t.Errorf("%v; a run of a machine whose clock is ahead: %s", err, got)
	}
}
