package fakeprovider

import (
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
