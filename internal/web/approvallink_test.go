package web

import "testing"

// Each request has its own token, by which it is known with the same key only.
func TestToken(t *testing.T) {
	key, seen := NewLinkKey(), map[string]bool{}
	for _, r := range [][3]string{
		{"run", "c_1", "hash"}, {"run", "c_1", "other"}, {"run", "c_2", "hash"}, {"runc", "_1", "hash"}, {"ru", "nc_1", "hash"}, {"run", "c_1h", "ash"},
	} {
		token := LinkToken(key, r[0], r[1], r[2])
		if len(token) != 32 || seen[token] || token != LinkToken(key, r[0], r[1], r[2]) {
			t.Errorf("%q has the token %q", r, token)
		}
		if seen[token] = true; !LinkFits(token, key, r[0], r[1], r[2]) || LinkFits(token, NewLinkKey(), r[0], r[1], r[2]) || LinkFits(token[:31], key, r[0], r[1], r[2]) {
			t.Errorf("%q does not fit as it should", token)
		}
	}
	if LinkToken(nil, "run", "c_1", "hash") != "" || LinkToken(key, "run", "c_1", "") != "" || LinkFits("", nil, "run", "c_1", "hash") || LinkFits("", key, "run", "c_1", "") {
		t.Error("there is a token without a key, or for no request")
	}
}
