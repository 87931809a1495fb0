package cli_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pawl-run/pawl/webhook"
)

// receive has a receiver of webhooks listen until the script ends, at an address
// that is written into the spec in place of the one it names. What is signed with
// HOOK_SECRET as it is then goes into a file, a line each: receive SPEC ADDRESS
// FILE. With `refuse` it answers that it is away for an hour, with `once` so that
// it is asked again at once.
func receive(ts *testscript.TestScript, _ bool, args []string) {
	file, secret := ts.MkAbs(args[2]), ts.Getenv("HOOK_SECRET")
	var mu sync.Mutex
	refused := false
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, _ := io.ReadAll(r.Body)
		if err := webhook.Verify(secret, r.Header, body, time.Now()); err != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if slices.Contains(args, "refuse") || slices.Contains(args, "once") && !refused {
			if refused = true; slices.Contains(args, "refuse") {
				w.Header().Set("Retry-After", "3600")
			}
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, "canary of the body")
			return
		}
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, _ = f.Write(append(body, '\n'))
			_ = f.Close()
		}
	}))
	ts.Defer(site.Close)
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s does not name %s", args[0], args[1])
	}
	text = strings.ReplaceAll(text, args[1], site.Listener.Addr().String())
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}
