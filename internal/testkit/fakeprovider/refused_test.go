package fakeprovider

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/script"
)

// TestRefused shows that the server is as strict as a provider: what a provider refuses, it refuses
// in the provider's words.
func TestRefused(t *testing.T) {
	datadriven.RunTest(t, "testdata/requests.txt", func(t *testing.T, d *datadriven.TestData) string {
		return sent(t, d.CmdArgs[0].String(), d.Input)
	})
}

// sent is how a request by hand is answered: refused with the words of the provider,
// or taken. What is refused must be recorded so.
func sent(t *testing.T, path, body string) string {
	body = strings.NewReplacer(`\xff`, "\xff").Replace(body)
	fake, url := serve(t, script.Replies(pawl.Say("Fine."), pawl.Say("Fine."), pawl.Say("Fine.")), nil)
	res, text := send(t, url, path, body)
	r := fake.Requests()[0]
	if res.StatusCode == http.StatusOK {
		return "taken"
	}
	if len(r.Problems) == 0 || r.Status != res.StatusCode || !strings.Contains(text, `"error":{`) {
		t.Errorf("%s is recorded with %d, %q", body, r.Status, r.Problems)
	}
	return fmt.Sprintf("%d %s", res.StatusCode, strings.Join(r.Problems, "\n"))
}
