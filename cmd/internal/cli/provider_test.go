package cli_test

import (
	"net/http/httptest"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pawl-run/pawl/internal/testkit/fakeprovider"
	"github.com/pawl-run/pawl/model/script"
)

func provider(ts *testscript.TestScript, _ bool, args []string) {
	brain, err := script.Load(ts.MkAbs(args[0]))
	ts.Check(err)
	faults := make([]fakeprovider.Fault, len(args))
	for i, name := range args[1:] {
		if name != "-" {
			faults[i+1] = fakeprovider.Must(name)
		}
	}
	fake := fakeprovider.New(brain, &fakeprovider.Options{FaultFor: func(n int) fakeprovider.Fault {
		return faults[min(n, len(faults)-1)]
	}})
	srv := httptest.NewServer(fake)
	ts.Defer(func() {
		fake.Close()
		srv.Close()
		if p := fake.Problems(); len(p) > 0 {
			ts.Logf("the provider objects: %q", p)
		}
	})
	ts.Setenv("ANTHROPIC_BASE_URL", srv.URL)
	ts.Setenv("ANTHROPIC_API_KEY", "key")
	ts.Setenv("OPENAI_BASE_URL", srv.URL+"/v1")
	ts.Setenv("OPENAI_API_KEY", "key")
	ts.Setenv("GOOGLE_GEMINI_BASE_URL", srv.URL)
	ts.Setenv("GEMINI_API_KEY", "key")
}
