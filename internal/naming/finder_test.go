package naming

import (
	"slices"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	x := NewIndex([][2]string{
		{"github__create_issue", "Create a new issue in a repository."},
		{"github__list_issues", "List the issues of a repository."},
		{"github__merge_pull", "Merge a pull request."},
		{"calendar_add", "Add an event to the calendar."},
		{"sendEmail", "Send a message to a customer."},
		{"ledger_read", "Read the entries of the ledger, by date."},
	}, []string{"ledger_*", "bank_*"})
	for _, c := range []struct {
		query string
		most  int
		want  []string
	}{
		{"create issue", 1, []string{"github__create_issue"}},
		{"Which ISSUES are there?", 5, []string{"github__list_issues", "github__create_issue"}},
		{"email a customer", 5, []string{"sendEmail"}},
		{"merge requests", 5, []string{"github__merge_pull"}},
		{"an event and ledger_read", 5, []string{"ledger_read"}},
		{"of the", 5, []string{}},
		{"", 5, []string{}},
		{"weather", 5, []string{}},
	} {
		if got := x.Find(c.query, c.most); !slices.Equal(got, c.want) {
			t.Errorf("%q finds %q, want %q", c.query, got, c.want)
		}
	}
	for query, want := range map[string]string{"calender": "calendar_add", "legder": "ledger_read", "mrege": "github__merge_pull", "": "github__create_issue"} {
		if got := x.Nearest(query, 2); len(got) != 2 || query != "" && got[0] != want {
			t.Errorf("%q is nearest to %q, want %q", query, got, want)
		}
	}
	names, result := x.Answer([]byte(`{"query":"merge requests","max":2.0}`))
	if string(names) != `["github__merge_pull"]` || string(result) != `{"found":["github__merge_pull"]}` {
		t.Errorf("the answer is %s, of %s", result, names)
	}
	if names, result = x.Answer([]byte(`{"query":"xyzzy"}`)); names != nil || !strings.HasPrefix(string(result), `{"found":[],"nearest":["`) {
		t.Errorf("the answer is %s, of %s", result, names)
	}
	if !x.Deferred(0) || x.Deferred(5) {
		t.Error("the patterns defer other things")
	}
	if err := x.Err(); err == nil || !strings.HasPrefix(err.Error(), `core: there is no tool "bank_*"; the nearest names are `) {
		t.Errorf("the error is %v", err)
	}
	none := NewIndex(nil, nil)
	if len(none.Find("x", 3))+len(none.Nearest("x", 3)) > 0 {
		t.Error("an empty index has something")
	}
}
