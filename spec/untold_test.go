package spec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Webhooks of an agent that is a tool are told nothing, which checking says, unless
// its caller has the same.
func TestUntoldWebhooks(t *testing.T) {
	t.Setenv("HOOK_SECRET", "long enough a secret")
	dir := t.TempDir()
	hook := func(host string) string {
		return "webhooks: [{url: https://" + host + "/x, secret: HOOK_SECRET}]\n"
	}
	for name, text := range map[string]string{
		"deep.yaml":  "name: deep\ndescription: d\n" + hook("deep.example.org"),
		"sub.yaml":   "name: sub\ndescription: d\ntools: [{agent: ./deep.yaml}]\n",
		"own.yaml":   "name: own\ndescription: d\n" + hook("own.example.org"),
		"quiet.yaml": "name: quiet\ndescription: d\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const tools = "tools:\n  - {agent: ./quiet.yaml}\n  - {agent: ./own.yaml}\n  - {agent: ./sub.yaml}\n"
	for hooks, want := range map[string]string{
		"": "spec.yaml:5:13: the webhooks of ./own.yaml are told nothing of what it does for this agent (name them under webhooks here, too)\n" +
			"spec.yaml:6:13: the webhooks of ./sub.yaml are told nothing of what it does for this agent (name them under webhooks here, too)",
		hook("own.example.org"):  "spec.yaml:6:13: the webhooks of ./sub.yaml are told nothing of what it does for this agent (name them under webhooks here, too)",
		hook("deep.example.org"): "spec.yaml:5:13: the webhooks of ./own.yaml are told nothing of what it does for this agent (name them under webhooks here, too)",
	} {
		s, _ := parseAgent(t, dir, least+tools+hooks, nil)
		var got []string
		for _, w := range s.Warnings(nil) {
			got = append(got, strings.ReplaceAll(w.String(), dir+"/", ""))
		}
		if text := strings.Join(got, "\n"); text != want {
			t.Errorf("with %q it warns\n%s\nand not\n%s", hooks, text, want)
		}
	}
}
