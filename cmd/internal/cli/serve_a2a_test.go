package cli_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl/a2a"
)

// get gets a document without a token.
func (s *site) get(path string, to any) []byte {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.at+path, nil)
	if err != nil {
		s.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err == nil {
		err = json.Unmarshal(data, to)
	}
	if err != nil {
		s.Fatalf("%s: %s: %v", path, data, err)
	}
	return data
}

// TestServeA2A: the command serves signed cards and tasks, keeps its key, and notifies the
// webhooks that clients set.
func TestServeA2A(t *testing.T) {
	told := make(chan string, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		told <- r.Header.Get("Authorization") + " " + string(body)
	}))
	defer receiver.Close()
	files(t, map[string]string{
		"one.yaml": "name: one\nmodel: script:say.yaml\n", "two.yaml": "name: two\nversion: '7'\nmodel: script:say.yaml\n", "say.yaml": "replies: [{text: done}]\n",
		"bad.pem": "no key",
	})
	for _, c := range [][2]string{{"one.yaml --a2a-key key.pem", "add --a2a"}, {"--a2a", "name their specs"}, {"one.yaml --a2a --a2a-key bad.pem", "PRIVATE KEY"}} {
		if code, _, said := invoke(t, t.Context(), nil, append([]string{"serve", "--addr", "127.0.0.1:0"}, strings.Fields(c[0])...)...); code != 2 || !strings.Contains(said, c[1]) {
			t.Errorf("%s: %d %s", c[0], code, said)
		}
	}
	kid := ""
	t.Setenv("PAWL_WEBHOOK_ALLOW", strings.TrimPrefix(receiver.URL, "http://"))
	for range 2 {
		s := serveUntil(t, "serve", "two.yaml", "one.yaml", "--a2a", "--a2a-key", "key.pem", "--addr", "127.0.0.1:0")
		var keys a2a.JWKS
		s.get(a2a.KeysPath, &keys)
		var card, other a2a.Card
		if err := a2a.Verify(s.get(a2a.CardPath, &card), keys); err != nil || card.Name != "two" || card.Version != "7" {
			t.Errorf("%+v: %v", card, err)
		}
		if err := a2a.Verify(s.get("/a2a/agents/one"+a2a.CardPath, &other), keys); err != nil || other.Name != "one" || other.SupportedInterfaces[0].Tenant != "one" {
			t.Errorf("%+v: %v", other, err)
		}
		if info, err := os.Stat("key.pem"); err != nil || info.Mode().Perm() != 0o600 || kid != "" && kid != keys.Keys[0].Kid {
			t.Errorf("the key is not kept: %v %v", info, err)
		}
		kid = keys.Keys[0].Kid
		client, err := a2a.NewClient(s.at+"/a2a/agents/one", hookToken)
		if err != nil {
			t.Fatal(err)
		}
		u, err := client.Send(t.Context(), &a2a.Send{
			Message:       a2a.Message{MessageID: kid + s.at, Role: a2a.User, Parts: []a2a.Part{a2a.Text("go")}},
			Configuration: &a2a.SendOptions{Push: &a2a.PushConfig{URL: receiver.URL, Authentication: &a2a.Auth{Scheme: "Bearer", Credentials: "theirs"}}},
		})
		if err != nil || u.Task == nil || u.Task.Status.State != a2a.Completed {
			t.Fatalf("%+v: %v", u, err)
		}
		select {
		case got := <-told:
			if !strings.HasPrefix(got, "Bearer theirs ") || !strings.Contains(got, u.Task.ID) || !strings.Contains(got, "TASK_STATE_COMPLETED") {
				t.Error(got)
			}
		case <-time.After(time.Minute):
			t.Error("the webhook is not called")
		}
		if code, said := s.end(); code != 130 {
			t.Errorf("%d: %s", code, said)
		}
	}
}
