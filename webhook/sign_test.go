package webhook_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl/webhook"
)

// The example that the libraries of Standard Webhooks are tested with.
const (
	knownSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	knownID     = "msg_p5jXN8AQM9LWM0D4loKWxJek"
	knownTime   = 1614265330
	knownBody   = `{"test": 2432232314}`
	knownSign   = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
)

func known() http.Header {
	return http.Header{"Webhook-Id": {knownID}, "Webhook-Timestamp": {"1614265330"}, "Webhook-Signature": {knownSign}}
}

func TestKnownSignature(t *testing.T) {
	key, err := webhook.KeyOf(knownSecret)
	must(t, err)
	h := http.Header{}
	webhook.Sign(h, key, knownID, time.Unix(knownTime, 0), []byte(knownBody))
	for name, want := range known() {
		if h.Get(name) != want[0] {
			t.Errorf("%s is %s, not %s", name, h.Get(name), want[0])
		}
	}
}

func TestVerify(t *testing.T) {
	at := time.Unix(knownTime, 0)
	for name, test := range map[string]struct {
		change func(http.Header)
		secret string
		now    time.Time
		ok     bool
	}{
		"as it was sent":        {ok: true},
		"4 minutes later":       {now: at.Add(4 * time.Minute), ok: true},
		"6 minutes later":       {now: at.Add(6 * time.Minute)},
		"6 minutes before":      {now: at.Add(-6 * time.Minute)},
		"another secret":        {secret: "whsec_c2VjcmV0"},
		"a secret of no base64": {secret: "whsec_!"},
		"another id":            {change: func(h http.Header) { h.Set("Webhook-Id", "msg_2") }},
		"another time":          {change: func(h http.Header) { h.Set("Webhook-Timestamp", "1614265331") }},
		"no time":               {change: func(h http.Header) { h.Set("Webhook-Timestamp", "now") }},
		"another scheme":        {change: func(h http.Header) { h.Set("Webhook-Signature", strings.Replace(knownSign, "v1", "v2", 1)) }},
		"half of it":            {change: func(h http.Header) { h.Set("Webhook-Signature", knownSign[:20]) }},
		"two, the second right": {change: func(h http.Header) { h.Set("Webhook-Signature", "v1,AAAA "+knownSign) }, ok: true},
	} {
		h := known()
		if test.change != nil {
			test.change(h)
		}
		if test.secret == "" {
			test.secret = knownSecret
		}
		if test.now.IsZero() {
			test.now = at
		}
		err := webhook.Verify(test.secret, h, []byte(knownBody), test.now)
		if (err == nil) != test.ok {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && test.secret != "whsec_!" && !errors.Is(err, webhook.ErrNotSigned) {
			t.Errorf("%s: %v is not ErrNotSigned", name, err)
		}
	}
}

// What is signed with a secret of any form is known by it and by no other.
func FuzzVerify(f *testing.F) {
	f.Add("whsec_c2VjcmV0", "other", "msg_1", []byte("body"))
	f.Add("plain", "plain ", "", []byte{})
	f.Fuzz(func(t *testing.T, secret, other, id string, body []byte) {
		key, err := webhook.KeyOf(secret)
		if err != nil || id == "" {
			return
		}
		now := time.Unix(knownTime, 0)
		h := http.Header{}
		webhook.Sign(h, key, id, now, body)
		if err := webhook.Verify(secret, h, body, now); err != nil {
			t.Errorf("%q does not verify what it signed: %v", secret, err)
		}
		if second, err := webhook.KeyOf(other); err == nil && strings.TrimRight(string(second), "\x00") != strings.TrimRight(string(key), "\x00") && len(key) <= 64 && len(second) <= 64 {
			if webhook.Verify(other, h, body, now) == nil {
				t.Errorf("%q verifies what %q signed", other, secret)
			}
		}
	})
}

func TestURLs(t *testing.T) {
	for _, ok := range []string{"https://hooks.example.org", "https://hooks.example.org:8443/a?b=c", "http://localhost:1", "http://127.0.0.1:8080/x", "http://[::1]/", "https://10.0.0.7/"} {
		if err := webhook.CheckURL(ok); err != nil {
			t.Errorf("%s: %v", ok, err)
		}
	}
	for _, wrong := range []string{
		"", "hooks.example.org", "http://hooks.example.org", "http://localhost.example.org", "http://127.0.0.1.example.org", "http://127.1/", "http://0/", "http://0x7f000001/",
		"http://2130706433/", "http://[::ffff:127.0.0.1]/", "http://10.0.0.7/", "http://169.254.169.254/", "ftp://hooks.example.org", "https://", "https:///x", "https://a:b@hooks.example.org",
		"https://hooks.example.org/#x", "file:///etc/passwd", "javascript:alert(1)", "https://hooks.example.org:port/", " https://hooks.example.org",
	} {
		if err := webhook.CheckURL(wrong); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}
