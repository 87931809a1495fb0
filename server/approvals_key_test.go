package server_test

import (
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/web"
	"github.com/pawl-run/pawl/server"
	"github.com/pawl-run/pawl/server/client"
)

// A server that never heard of a request's token knows the link that was made with
// its key, as long as that very request stands.
func TestLinkByKey(t *testing.T) {
	key := web.NewLinkKey()
	w := serve(t, &server.Options{LinkKey: key})
	run := w.begin(admin, "payer").Run
	link := func(key []byte) client.Link {
		t.Helper()
		s, err := engine.Load(t.Context(), w.journal, run)
		must(t, err)
		c, _ := s.Call("c_1")
		if c.TokenHash == "" {
			t.Fatal("the request has no hash")
		}
		return client.Link{Run: run, Call: "c_1", Token: web.LinkToken(key, run, "c_1", c.TokenHash)}
	}
	old := link(key)
	for _, forged := range []client.Link{link(web.NewLinkKey()), link(nil), {Run: w.begin(admin, "payer").Run, Call: old.Call, Token: old.Token}} {
		w.refused("", "POST", "/v1/approvals", decide(forged, true, ""), 404, "same --link-key")
	}
	w.ask("", "GET", "/v1/runs/"+run, "", 401)
	w.ask(old.Token, "GET", "/v1/runs/"+run, "", 401)
	w.ask(admin, "POST", "/v1/runs/"+run+"/resume?wait=true", "{}", 200) // it asks again
	w.refused("", "POST", "/v1/approvals", decide(old, true, ""), 409, "replaced")
	fresh := link(key)
	if r := w.look(fresh); fresh == old || r.State != "open" {
		t.Errorf("%+v", r)
	}
	w.ask("", "POST", "/v1/approvals", decide(fresh, true, ""), 200)
	w.until(run, pawl.StatusSuccess)
	w.ask("", "POST", "/v1/approvals", decide(fresh, true, ""), 200)
	w.refused("", "POST", "/v1/approvals", decide(fresh, false, ""), 409, "the request was already approved by approval link")
}
