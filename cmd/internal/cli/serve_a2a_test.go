package cli_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/pawl-run/pawl/a2a"
)

// get gets a document without a token.
func (s *site) get(path string, to any) []byte {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.at+path, nil)
	must(s, err)
	res, err := http.DefaultClient.Do(r)
	must(s, err)
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

// TestServeA2A: the command serves cards and tasks.
func TestServeA2A(t *testing.T) {
	files(t, map[string]string{
		"one.yaml": "name: one\nmodel: script:say.yaml\n", "two.yaml": "name: two\nversion: '7'\nmodel: script:say.yaml\n", "say.yaml": "replies: [{text: done}]\n",
	})
	if code, _, said := invoke(t, t.Context(), nil, "serve", "--addr", "127.0.0.1:0", "--a2a"); code != 2 || !strings.Contains(said, "name their specs") {
		t.Errorf("%d %s", code, said)
	}
	s := serveUntil(t, "serve", "two.yaml", "one.yaml", "--a2a", "--addr", "127.0.0.1:0")
	var card, other a2a.Card
	if s.get(a2a.CardPath, &card); card.Name != "two" || card.Version != "7" {
		t.Errorf("%+v", card)
	}
	if s.get("/a2a/agents/one"+a2a.CardPath, &other); other.Name != "one" || other.SupportedInterfaces[0].Tenant != "one" {
		t.Errorf("%+v", other)
	}
	client, err := a2a.NewClient(s.at+"/a2a/agents/one", hookToken)
	must(t, err)
	u, err := client.Send(t.Context(), &a2a.Send{Message: a2a.Message{MessageID: "m-1", Role: a2a.User, Parts: []a2a.Part{a2a.Text("go")}}})
	if err != nil || u.Task == nil || u.Task.Status.State != a2a.Completed {
		t.Errorf("%+v: %v", u, err)
	}
	if code, said := s.end(); code != 130 {
		t.Errorf("%d: %s", code, said)
	}
}
