package fakeprovider_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/fakeprovider"
)

// TestNoRedirectIsFollowed: neither a key nor a conversation goes to an address
// that a provider names, whatever its answer and whatever client a program brings.
func TestNoRedirectIsFollowed(t *testing.T) {
	var reached atomic.Int32
	fake := fakeprovider.New(pawl.ModelFunc(nil), nil)
	defer fake.Close()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached.Add(1)
		fake.ServeHTTP(w, r)
	}))
	defer elsewhere.Close()
	follows := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return nil }}
	for w, adapter := range adapters {
		for _, status := range []int{301, 302, 303, 307, 308} {
			for _, client := range []*http.Client{{}, follows, nil} {
				for _, to := range []string{elsewhere.URL, "", strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1)} {
					t.Run(fmt.Sprintf("%s %d %s", w, status, to), func(t *testing.T) {
						reached.Store(0)
						own := 0
						srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
							own++
							http.Redirect(w, r, to+"/v2"+r.URL.Path, status)
						}))
						defer srv.Close()
						var failed error
						for _, err := range adapter(srv.URL, client).Stream(t.Context(), pawl.Request{MaxTokens: 100, Messages: []pawl.Message{{Role: pawl.RoleUser, Parts: []pawl.Part{pawl.Text{Text: "hello"}}}}}) {
							failed = err
						}
						if me, ok := failed.(*pawl.ModelError); !ok || me.Class != pawl.ClassInvalid || !strings.Contains(me.Message, "redirects to http://") {
							t.Errorf("the error is %v, which says nothing of a redirect", failed)
						}
						if own != 1 || reached.Load() != 0 {
							t.Errorf("%d requests went to the address, %d elsewhere", own, reached.Load())
						}
					})
				}
			}
		}
	}
}
