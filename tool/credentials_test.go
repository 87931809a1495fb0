package tool_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/tool"
)

// crm is an agent whose tool says which token it got.
func crm(of *tool.Credentials, calls int) pawl.Agent {
	who := tool.Func("who", "Says who calls.", func(ctx context.Context, _ struct {
		N int `json:"n"`
	}) (string, error) {
		token, err := of.Token(ctx)
		return "called with " + token, err
	}, pawl.Read)
	var replies []pawl.Reply
	for n := range calls {
		replies = append(replies, pawl.Do(pawl.Call{Tool: "who", Args: []byte(`{"n":` + string(rune('0'+n)) + `}`)}))
	}
	return pawl.Agent{Name: "crm", Model: script.Replies(append(replies, pawl.Say("Done."))...), Tools: []pawl.Tool{who}}
}

// Each run gets the token of its own user, which is got again when it is about to expire, and which
// no log has.
func TestCredentialsOfUsers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		of := tool.NewCredentials("crm", []string{"user"}, func(_ context.Context, labels map[string]string) (tool.Credential, error) {
			got = append(got, labels["user"])
			if labels["tenant"] != "" {
				t.Errorf("it gets the labels %v", labels)
			}
			return tool.Credential{Token: "token-of-" + labels["user"], Expires: time.Now().Add(time.Hour)}, nil
		})
		j := memory.New()
		e := engine.New(j, nil)
		run := func(user string) {
			h, err := e.Start(t.Context(), crm(of, 2), "go", &engine.StartOptions{Labels: map[string]string{"user": user, "tenant": "acme"}})
			must(t, err)
			r, err := h.Wait(t.Context())
			if err != nil || r.Status != pawl.StatusSuccess {
				t.Fatalf("%v, %v", r.Reason, err)
			}
			clean := 0
			for row, err := range j.Read(t.Context(), h.ID(), 1) {
				must(t, err)
				if strings.Contains(string(row.Data), "token-of-") {
					t.Errorf("the log has the token: %s", row.Data)
				}
				clean += strings.Count(string(row.Data), "called with {{secret:crm}}")
			}
			if clean != 2 {
				t.Errorf("the log has %d results", clean)
			}
		}
		run("ada")
		run("bob")
		run("ada")
		time.Sleep(59*time.Minute + time.Second)
		run("ada")
		if all := strings.Join(got, " "); all != "ada bob ada" {
			t.Errorf("credentials were got for %s", all)
		}
	})
}

// A user who has not given access is asked, with the link, until there is a token.
func TestCredentialsAsk(t *testing.T) {
	given := false
	of := tool.NewCredentials("crm", nil, func(context.Context, map[string]string) (tool.Credential, error) {
		if !given {
			return tool.Credential{Link: "https://crm.example.org/grant"}, nil
		}
		return tool.Credential{Token: "granted-token"}, nil
	})
	j, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"), nil)
	must(t, err)
	defer func() { _ = j.Close() }()
	e := engine.New(j, nil)
	agent := crm(of, 1)
	h, err := e.Start(t.Context(), agent, "go", &engine.StartOptions{ID: "r", Labels: map[string]string{"user": "ada"}})
	must(t, err)
	answer := func() pawl.Result {
		must(t, e.Answer(t.Context(), "r", "c_1", "ada", "done"))
		h, err := e.Resume(t.Context(), agent, "r", nil)
		must(t, err)
		r, err := h.Wait(t.Context())
		must(t, err)
		return r
	}
	r, err := h.Wait(t.Context())
	must(t, err)
	for range 2 { // the first answer is premature
		if r.Status != pawl.StatusWaitingInput || r.Pending[0].Reason != "crm needs access for user=ada: open https://crm.example.org/grant, then answer." {
			t.Fatalf("%v: %+v", r.Status, r.Pending)
		}
		r = answer()
		given = true
	}
	text := ""
	for row := range j.Read(t.Context(), "r", 1) {
		text += string(row.Data)
	}
	if r.Status != pawl.StatusSuccess || !strings.Contains(text, "called with {{secret:crm}}") || strings.Contains(text, "granted-token") {
		t.Errorf("%v: %s", r.Status, text)
	}
}

// Outside a run, without the user's label, or with a token that cannot be kept out of texts, there is
// no token.
func TestCredentialsRefused(t *testing.T) {
	short := func(context.Context, map[string]string) (tool.Credential, error) {
		return tool.Credential{Token: "abc"}, nil
	}
	broken := func(context.Context, map[string]string) (tool.Credential, error) {
		return tool.Credential{}, errors.New("the vault is closed")
	}
	neither := func(context.Context, map[string]string) (tool.Credential, error) { return tool.Credential{}, nil }
	if _, err := tool.NewCredentials("crm", nil, short).Token(t.Context()); err == nil {
		t.Error("there is a token outside a run")
	}
	for _, c := range []struct {
		of  *tool.Credentials
		why string
	}{
		{tool.NewCredentials("crm", nil, short), "too short"},
		{tool.NewCredentials("crm", nil, broken), "the vault is closed"},
		{tool.NewCredentials("crm", nil, neither), "neither a token nor a link"},
		{tool.NewCredentials("crm", []string{"user"}, short), "for the label user, which the run does not have"},
	} {
		j := memory.New()
		h, err := engine.New(j, nil).Start(t.Context(), crm(c.of, 1), "go", nil)
		must(t, err)
		r, err := h.Wait(t.Context())
		if err != nil || r.Steps[0].Calls[0].Status != "error" {
			t.Errorf("%v %+v", err, r.Steps)
		}
		said := false
		for row := range j.Read(t.Context(), h.ID(), 1) {
			said = said || strings.Contains(string(row.Data), c.why)
		}
		if !said {
			t.Errorf("nothing says that it is %s", c.why)
		}
	}
}
