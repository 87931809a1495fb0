package redact_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pawl-run/pawl/internal/redact"
)

// pieces cuts a text at random, a long one into fewer pieces.
func pieces(r *rand.Rand, text string) (out []string) {
	most := 12 + len(text)/60
	for len(text) > 0 {
		n := 1 + r.IntN(min(len(text), most))
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

// TestFlow holds that a text comes through in pieces as it is when nothing in it
// looks like a secret, and that of one that does no piece shows it.
func TestFlow(t *testing.T) {
	const token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	block := "-----BEGIN RSA PRIVATE KEY-----\nMIIBOgIBAAJBAKj34GkxFhD90vcN\nLYLInFEX6Ppy1tPf9Cnzj4p4WGeK\n-----END RSA PRIVATE KEY-----"
	cases := []struct{ text, hidden string }{
		{"Nothing is secret here: a = 1, b = \"two\".\nAnd a second line\n\nand a last", ""},
		{"the token is " + token + " and must not be shown\nfine", token[4:20]},
		{"password: \"open sesame now\" is what he said\nfine", "sesame"},
		{"first\n" + block + "\nlast", "LYLInFEX6Ppy1tPf9"},
		{"Authorization: Bearer " + strings.Repeat("abcdef0123456789", 4) + "\nok", "abcdef0123456789"},
		{"a long line " + strings.Repeat("of words ", 4000) + token, token[4:20]},
		{strings.Repeat("x", 40000), ""},
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range cases {
		if !strings.Contains(c.text, c.hidden) {
			t.Fatalf("%.60q has no %q to hide", c.text, c.hidden)
		}
		for range 20 {
			var flow redact.Flow
			var out strings.Builder
			for _, piece := range pieces(r, c.text) {
				out.WriteString(flow.Add(piece))
			}
			out.WriteString(flow.Close())
			switch {
			case c.hidden == "" && out.String() != c.text:
				t.Fatalf("%.60q came through as %.60q", c.text, out.String())
			case c.hidden != "" && strings.Contains(out.String(), c.hidden):
				t.Fatalf("%.60q shows %q: %.200q", c.text, c.hidden, out.String())
			}
		}
	}
}

// TestFlowIsLive holds that words do not wait for the end of their line.
func TestFlowIsLive(t *testing.T) {
	var flow redact.Flow
	if got := flow.Add("The vendor is Ac"); got != "The vendor is " {
		t.Errorf("passed on %q", got)
	}
	if got := flow.Add("me Ltd"); got != "Acme " {
		t.Errorf("then %q", got)
	}
	if got := flow.Close(); got != "Ltd" {
		t.Errorf("at the end %q", got)
	}
}
