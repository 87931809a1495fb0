package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// SignatureSchemes are the ways in which requests are signed.
var SignatureSchemes = []string{"standard", "github", "slack"}

// window is how old a signed timestamp may be, and how far ahead.
const window = 5 * time.Minute

// Why a request is refused.
var (
	errSignature = errors.New("the signature is missing, or is not that of this body with the trigger's secret")
	errWindow    = errors.New("the signed time is more than five minutes away from this server's; repeat the request with the current time, and check both clocks")
)

// CheckSignature reports an error unless the header has a signature of the body. SignatureSchemes with a time
// also refuse one outside a window of five minutes.
func CheckSignature(scheme string, secret []byte, h http.Header, body []byte, now time.Time) error {
	switch scheme {
	case "github": // https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
		text, ok := strings.CutPrefix(h.Get("X-Hub-Signature-256"), "sha256=")
		return equal(ok, text, hex.DecodeString, sum(secret, body))
	case "slack": // https://docs.slack.dev/authentication/verifying-requests-from-slack
		stamp := h.Get("X-Slack-Request-Timestamp")
		text, ok := strings.CutPrefix(h.Get("X-Slack-Signature"), "v0=")
		if err := equal(ok, text, hex.DecodeString, sum(secret, []byte("v0:"+stamp+":"), body)); err != nil {
			return err
		}
		return fresh(stamp, now)
	}
	// https://github.com/standard-webhooks/standard-webhooks
	key := secret
	if text, ok := strings.CutPrefix(string(secret), "whsec_"); ok {
		var err error
		if key, err = base64.StdEncoding.DecodeString(text); err != nil {
			return errSignature
		}
	}
	stamp := h.Get("Webhook-Timestamp")
	want := sum(key, []byte(h.Get("Webhook-Id")+"."+stamp+"."), body)
	for one := range strings.FieldsSeq(h.Get("Webhook-Signature")) {
		text, ok := strings.CutPrefix(one, "v1,")
		if equal(ok, text, base64.StdEncoding.DecodeString, want) == nil {
			return fresh(stamp, now)
		}
	}
	return errSignature
}

func sum(key []byte, parts ...[]byte) []byte {
	mac := hmac.New(sha256.New, key)
	for _, p := range parts {
		mac.Write(p)
	}
	return mac.Sum(nil)
}

func equal(ok bool, text string, decode func(string) ([]byte, error), want []byte) error {
	got, err := decode(text)
	if !ok || err != nil || !hmac.Equal(got, want) {
		return errSignature
	}
	return nil
}

func fresh(stamp string, now time.Time) error {
	n, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || now.Sub(time.Unix(n, 0)).Abs() > window {
		return errWindow
	}
	return nil
}
