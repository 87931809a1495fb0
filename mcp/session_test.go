package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-run/pawl"
)

// Each user has a session, all requests of which have the token of that user. What the server keeps there no
// other user gets, also while calls of several are in progress.
func TestSessionsOfUsers(t *testing.T) {
	var mu sync.Mutex
	notes, tokens := map[string][]string{}, map[string]string{}
	server := sdk.NewServer(&sdk.Implementation{Name: "notes", Version: "1"}, nil)
	note := func(_ context.Context, r *sdk.CallToolRequest, in struct{ Text string }) (*sdk.CallToolResult, any, error) {
		mu.Lock()
		defer mu.Unlock()
		notes[r.Session.ID()] = append(notes[r.Session.ID()], in.Text)
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprint(notes[r.Session.ID()])}}}, nil, nil
	}
	sdk.AddTool(server, &sdk.Tool{Name: "note"}, note)
	server.AddResource(&sdk.Resource{URI: "file:///mine", Name: "mine"}, func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		mu.Lock()
		defer mu.Unlock()
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, Text: fmt.Sprint(notes[r.Session.ID()])}}}, nil
	})
	inner := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		id, token := r.Header.Get("Mcp-Session-Id"), r.Header.Get("Authorization")
		if had, known := tokens[id]; known && id != "" && had != token {
			t.Errorf("%s in session %s of %s has the token %s", r.Method, id, had, token)
		}
		tokens[id] = token
		mu.Unlock()
		inner.ServeHTTP(w, r)
	}))
	defer web.Config.Close()
	type user struct{}
	s, err := Connect(t.Context(), "web", HTTP(web.URL, &HTTPOptions{
		Header: http.Header{"Authorization": {"Bearer s"}},
		Token: func(ctx context.Context) (string, error) {
			if name := ctx.Value(user{}).(string); name != "eve" {
				return name, nil
			}
			return "", errors.New("eve is unknown")
		},
	}), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	says := func(name, tool, args string) string {
		i := slices.IndexFunc(s.Tools(), func(of pawl.Tool) bool { return of.Info().Name == "web__"+tool })
		out, err := s.Tools()[i].Run(context.WithValue(t.Context(), user{}, name), pawl.Invocation{Args: []byte(args)})
		return fmt.Sprint(string(out.JSON), err)
	}
	var all sync.WaitGroup
	for _, name := range []string{"ada", "bob", "cy"} {
		all.Go(func() {
			for n := range 5 {
				if got := says(name, "note", fmt.Sprintf(`{"Text":"%s"}`, name)); strings.Count(got, name) != n+1 || strings.Count(got, " ") != n {
					t.Errorf("call %d of %s: %s", n, name, got)
				}
			}
			if got := says(name, "read_resource", `{"uri":"file:///mine"}`); strings.Count(got, name) != 5 {
				t.Errorf("%s reads %s", name, got)
			}
		})
	}
	all.Wait()
	if got := says("eve", "note", `{"Text":"e"}`); got != "eve is unknown" || len(s.users) != 3 {
		t.Errorf("%s; %d users", got, len(s.users))
	}
	ada := s.users["ada"]
	_, _, leave, err := s.enter(context.WithValue(t.Context(), user{}, "ada"), nil)
	s.forget(ada) // it does not end in a call
	if leave(); err != nil || s.users["ada"] != ada {
		t.Error("a session ended in a call", err)
	}
	s.forget(ada)
	if got := says("ada", "note", `{"Text":"new"}`); !strings.HasPrefix(got, `"[new]"`) {
		t.Errorf("after the end of the session: %s", got)
	}
}
