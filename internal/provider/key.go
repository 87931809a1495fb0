package provider

import (
	"context"
	"net/http"
)

// A Key gives the key for a request. Refused is empty, or the key that was
// refused as wrong or expired.
type Key func(ctx context.Context, refused string) (string, error)

// Fixed is a key that never changes.
func Fixed(key string) Key {
	return func(context.Context, string) (string, error) { return key, nil }
}

// Send sends a request with the key of now. When that is refused with 401 and
// there is another one, the request is sent once more with it. Deny makes the
// error of a key that cannot be had.
func (k Key) Send(ctx context.Context, send func(key string) (*http.Response, error), deny func(error) error) (*http.Response, error) {
	key, err := k(ctx, "")
	if err != nil {
		return nil, deny(err)
	}
	res, err := send(key)
	if err != nil || res.StatusCode != http.StatusUnauthorized || key == "" {
		return res, err
	}
	// What a key service says of its own failure helps less than the refusal.
	other, err := k(ctx, key)
	if err != nil || other == "" || other == key {
		return res, nil
	}
	res.Body.Close()
	return send(other)
}
