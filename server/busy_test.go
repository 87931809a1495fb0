package server_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/server"
)

// A server that drives as many runs as it may answers 429 and says when to ask again. A
// run that waits takes no place.
func TestBusy(t *testing.T) {
	w := serve(t, &server.Options{MaxRuns: 1})
	asks := w.begin(admin, "asker")
	// The server lets go of a run just after it waits or has ended.
	begin := func(path, body string) (r pawl.Result) {
		for range 100 {
			res, data := w.send(request{token: admin, method: "POST", path: path, body: body})
			if res.StatusCode == http.StatusCreated {
				must(t, json.Unmarshal(data, &r))
				return r
			}
		}
		t.Fatal("no run takes the place of another")
		return r
	}
	held := begin("/v1/runs", `{"agent":"holder","input":"x"}`)
	res, data := w.send(request{token: admin, method: "POST", path: "/v1/runs", body: `{"agent":"calm","input":"x"}`})
	if res.StatusCode != http.StatusTooManyRequests || res.Header.Get("Retry-After") == "" {
		t.Fatalf("%d, Retry-After %q, %s", res.StatusCode, res.Header.Get("Retry-After"), data)
	}
	w.refused(admin, "POST", "/v1/runs/"+asks.Run+"/resume", `{}`, 429, "no more than 1 run")
	close(w.release)
	w.until(held.Run, pawl.StatusSuccess)
	begin("/v1/runs?wait=true", `{"agent":"calm","input":"x"}`)
}

// paced is a model of a provider with a rate.
type paced struct{ pawl.Model }

func (paced) Describe() pawl.ModelInfo { return pawl.ModelInfo{Name: "paced/model"} }

// While calls to a provider wait for its rate, a request that would start a run is answered
// with 429, and with the time until they can be made. A run is queued all the same.
func TestBusyProvider(t *testing.T) {
	w := serve(t, nil)
	w.agents["paced"] = pawl.Agent{Name: "paced", Model: paced{w.agents["calm"].Model}}
	take := func(requests time.Duration) {
		_, err := w.journal.Reserve(t.Context(), "paced", requests, 0, time.Hour)
		must(t, err)
	}
	take(6 * time.Minute)
	for _, path := range []string{"/v1/runs", "/v1/runs?wait=true"} {
		res, data := w.send(request{token: admin, method: "POST", path: path, body: `{"agent":"paced","input":"x"}`})
		if after, err := strconv.Atoi(res.Header.Get("Retry-After")); res.StatusCode != http.StatusTooManyRequests || err != nil || after < 200 || after > 300 {
			t.Errorf("POST %s: %d, Retry-After %q, %s", path, res.StatusCode, res.Header.Get("Retry-After"), data)
		}
	}
	w.refused(admin, "POST", "/v1/runs", `{"agent":"paced","input":"x"}`, 429, "for the rate that it is asked at")
	w.result(admin, "POST", "/v1/runs", `{"agent":"paced","input":"x","queue":true}`, 201)
	take(-6 * time.Minute)
	w.result(admin, "POST", "/v1/runs?wait=true", `{"agent":"paced","input":"x"}`, 201)
}
