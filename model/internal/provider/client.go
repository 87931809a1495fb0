package provider

import "net/http"

// Client is a copy of a client that follows no redirect: the request has the key
// and the conversation, which are for the configured address alone. It fails with
// a [*RedirectError] instead. nil is http.DefaultClient.
func Client(c *http.Client) *http.Client {
	if c == nil {
		c = http.DefaultClient
	}
	own := *c
	own.CheckRedirect = func(to *http.Request, _ []*http.Request) error {
		return &RedirectError{to.URL.Scheme + "://" + to.URL.Host}
	}
	return &own
}

// A RedirectError is the answer of a provider that names another address.
type RedirectError struct{ To string }

// Error says why the redirect is not followed, and what to do.
func (e *RedirectError) Error() string {
	return "the provider redirects to " + e.To + ", which is not followed, as the key and the conversation would go there; " +
		"if that address is right, set it as the base URL"
}
