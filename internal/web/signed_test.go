package web

import (
	"net/http"
	"testing"
	"time"
)

// The examples of GitHub's, Slack's and Standard Webhooks' references.
func TestReferences(t *testing.T) {
	const slack = "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
	for _, c := range []struct {
		scheme, secret, body string
		at                   int64
		header               map[string]string
	}{
		{"github", "It's a Secret to Everybody", "Hello, World!", 0, map[string]string{
			"X-Hub-Signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"}},
		{"slack", "8f742231b10e8888abcd99yyyzzz85a5", slack, 1531420618, map[string]string{
			"X-Slack-Request-Timestamp": "1531420618", "X-Slack-Signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"}},
		{"standard", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", `{"test": 2432232314}`, 1614265330, map[string]string{
			"Webhook-Id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "Webhook-Timestamp": "1614265330", "Webhook-Signature": "v2,x v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="}},
	} {
		h := http.Header{}
		for k, v := range c.header {
			h.Set(k, v)
		}
		at := time.Unix(c.at, 0)
		if err := CheckSignature(c.scheme, []byte(c.secret), h, []byte(c.body), at); err != nil {
			t.Errorf("%s: %v", c.scheme, err)
		}
		if CheckSignature(c.scheme, []byte(c.secret+"x"), h, []byte(c.body), at) == nil || CheckSignature(c.scheme, []byte(c.secret), h, []byte(c.body+" "), at) == nil ||
			CheckSignature(c.scheme, []byte(c.secret), http.Header{}, []byte(c.body), at) == nil {
			t.Errorf("%s takes another secret, another body, or no signature", c.scheme)
		}
		for _, off := range []time.Duration{-6 * time.Minute, 6 * time.Minute} {
			if err := CheckSignature(c.scheme, []byte(c.secret), h, []byte(c.body), at.Add(off)); (err == nil) != (c.scheme == "github") {
				t.Errorf("%s, %v later: %v", c.scheme, off, err)
			}
		}
	}
}
