package fakeprovider

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/script"
)

// TestOptions shows what the server asks whatever is said.
func TestOptions(t *testing.T) {
	_, url := serve(t, script.Replies(pawl.Say("Fine.")), &Options{Key: "k", Models: []string{"m"}, MaxBytes: 1000})
	bodies := map[string][2]string{ // a sound one, and one of another model
		"/v1/messages":                     {`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}`, ""},
		"/v1/chat/completions":             {`{"model":"m","messages":[{"role":"user","content":"Hi"}]}`, ""},
		"/v1/responses":                    {`{"model":"m","input":"Hi"}`, ""},
		"/v1beta/models/m:generateContent": {`{"contents":[{"role":"user","parts":[{"text":"Hi"}]}]}`, "/v1beta/models/other:generateContent"},
	}
	for path, b := range bodies {
		other, body := path, strings.Replace(b[0], `"m"`, `"other"`, 1)
		if b[1] != "" {
			other = b[1]
		}
		wrong := http.StatusUnauthorized
		if strings.Contains(path, "models/") {
			wrong = http.StatusBadRequest
		}
		for i, c := range []struct {
			path, body, key string
			want            int
		}{
			{path, b[0], "k", http.StatusOK},
			{path, b[0], "x", wrong},
			{other, body, "k", http.StatusNotFound},
			{path, strings.Repeat(" ", 1001), "k", http.StatusRequestEntityTooLarge},
		} {
			res, text := send(t, url, c.path, c.body, "Authorization", "Bearer "+c.key)
			if res.StatusCode != c.want || (i > 0) != strings.Contains(text, `"error":{`) {
				t.Errorf("%s, case %d: %d %s, want %d", path, i, res.StatusCode, text, c.want)
			}
		}
	}
	if res, _ := send(t, url, "/v1/embeddings", "{}"); res.StatusCode != http.StatusNotFound {
		t.Errorf("status %d", res.StatusCode)
	}
}

// TestBrainErrors tells what a brain failed with as each provider would.
func TestBrainErrors(t *testing.T) {
	want := map[pawl.Class]map[Wire]int{
		pawl.ClassRateLimit:  {Anthropic: 429, Chat: 429, Responses: 429, Google: 429},
		pawl.ClassOverloaded: {Anthropic: 529, Chat: 503, Responses: 503, Google: 503},
		pawl.ClassQuota:      {Anthropic: 400, Chat: 429, Responses: 429, Google: 429},
		pawl.ClassAuth:       {Anthropic: 401, Chat: 401, Responses: 401, Google: 400},
		pawl.ClassNotFound:   {Anthropic: 404, Chat: 404, Responses: 404, Google: 404},
		pawl.ClassTooLong:    {Anthropic: 400, Chat: 400, Responses: 400, Google: 400},
		pawl.ClassRefused:    {Anthropic: 400, Chat: 400, Responses: 400, Google: 400},
		pawl.ClassUnknown:    {Anthropic: 500, Chat: 500, Responses: 500, Google: 500},
	}
	for class, statuses := range want {
		fake, url := serve(t, pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
			return pawl.Reply{}, &pawl.ModelError{Class: class, Message: "The brain said so."}
		}), nil)
		for w, m := range models(url) {
			_, err := last(t.Context(), m, asked())
			said := "model: " + class.String()
			if class == pawl.ClassUnknown || class == pawl.ClassRefused && w == Google { // which the wire does not tell
				said = "model: "
			}
			if err == nil || !strings.Contains(err.Error(), "said so") || !strings.Contains(err.Error(), said) {
				t.Errorf("%v on %v: %v", class, w, err)
			}
		}
		send(t, url, "/v1/responses", responsesAsk)
		send(t, url, googleStream, googleAsk)
		for _, r := range fake.Requests() {
			if r.Status != statuses[r.Wire] {
				t.Errorf("%v on %v: status %d, want %d", class, r.Wire, r.Status, statuses[r.Wire])
			}
		}
	}
}
