package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/webhook"
)

// Somebody is told that a run has ended, and checks that it is true.
func Example() {
	const secret = "whsec_c2VjcmV0IG9mIGFuIGV4YW1wbGU="
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err == nil {
			err = webhook.Verify(secret, r.Header, body, time.Now())
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		var n webhook.Notice
		var result pawl.Result
		if json.Unmarshal(body, &n) == nil && json.Unmarshal(n.Result, &result) == nil {
			fmt.Println(n.Type, n.Run, result.Status, result.Answer)
		}
	}))
	defer receiver.Close()

	ctx := context.Background()
	journal := memory.New()
	out, err := webhook.New(journal, webhook.Always(webhook.Hook{URL: receiver.URL, Secret: secret}), &webhook.Options{Loopback: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	agent := pawl.Agent{Name: "greeter", Model: script.Replies(pawl.Say("Hello."))}
	run, err := engine.New(journal, nil).Start(ctx, agent, "Greet.", &engine.StartOptions{ID: "morning"})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := run.Wait(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	left, err := out.Deliver(ctx, result)
	fmt.Println(left, err)
	// Output:
	// run.stopped morning success Hello.
	// 0 <nil>
}
