package provider

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKeys(t *testing.T) {
	lost := errors.New("the vault is shut")
	for _, c := range []struct {
		name   string
		keys   map[string]string // the next key by the one refused; one that is missing is an error
		good   string
		sent   []string
		status int
		err    error
	}{
		{"the first is good", map[string]string{"": "a"}, "a", []string{"a"}, 200, nil},
		{"the second is good", map[string]string{"": "a", "a": "b"}, "b", []string{"a", "b"}, 200, nil},
		{"no third is asked for", map[string]string{"": "a", "a": "b", "b": "c"}, "c", []string{"a", "b"}, 401, nil},
		{"there is no other", map[string]string{"": "a", "a": "a"}, "b", []string{"a"}, 401, nil},
		{"there is none any more", map[string]string{"": "a", "a": ""}, "b", []string{"a"}, 401, nil},
		{"the other cannot be had", map[string]string{"": "a"}, "b", []string{"a"}, 401, nil},
		{"none can be had", map[string]string{}, "b", nil, 0, lost},
		{"none is needed", map[string]string{"": ""}, "", []string{""}, 200, nil},
	} {
		var sent []string
		key := Key(func(_ context.Context, refused string) (string, error) {
			k, ok := c.keys[refused]
			if !ok {
				return "", errors.New("no key")
			}
			return k, nil
		})
		res, err := key.Send(t.Context(), func(k string) (*http.Response, error) {
			sent = append(sent, k)
			status := 401
			if k == c.good {
				status = 200
			}
			return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(k))}, nil
		}, func(error) error { return lost })
		status := 0
		if err == nil {
			status = res.StatusCode
			res.Body.Close()
		}
		if d := cmp.Diff(c.sent, sent); d != "" {
			t.Errorf("%s: sent (-want +got):\n%s", c.name, d)
		}
		if !errors.Is(err, c.err) || status != c.status {
			t.Errorf("%s: %v, %v", c.name, status, err)
		}
	}
	broken := errors.New("reset")
	res, err := Fixed("a").Send(t.Context(), func(string) (*http.Response, error) { return nil, broken }, func(err error) error { return err })
	if err == nil {
		res.Body.Close()
	}
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want what sending says", err)
	}
}
