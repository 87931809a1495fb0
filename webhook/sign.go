package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-run/pawl/internal/web"
)

// The headers of Standard Webhooks 1.0. The signature is HMAC-SHA256 over id, time and body,
// separated by full stops, in base64 after "v1,".
const (
	headerID        = "Webhook-Id"
	headerTime      = "Webhook-Timestamp"
	headerSignature = "Webhook-Signature"

	secretPrefix = "whsec_"
)

// ErrNotSigned is the error of [Verify].
var ErrNotSigned = errors.New("the notice is not signed with the secret, or was sent at another time")

// Verify checks that a notice was sent by a holder of the secret, within five minutes of now:
// older ones may be replays. body is the body exactly as received. It takes constant time for
// any wrong signature. Receivers recognise repeated notices by the header Webhook-Id.
func Verify(secret string, header http.Header, body []byte, now time.Time) error {
	if err := CheckSecret(secret); err != nil {
		return err
	}
	if header.Get(headerID) == "" || web.CheckSignature("standard", []byte(secret), header, body, now) != nil {
		return ErrNotSigned
	}
	return nil
}

// CheckSecret returns what is wrong with a secret.
func CheckSecret(secret string) error {
	_, err := keyOf(secret)
	return err
}

func keyOf(secret string) ([]byte, error) {
	coded, ok := strings.CutPrefix(secret, secretPrefix)
	if !ok && secret != "" {
		return []byte(secret), nil
	}
	key, err := base64.StdEncoding.DecodeString(coded)
	if secret == "" {
		return nil, errors.New("the webhook has no secret")
	}
	if err != nil || len(key) == 0 {
		return nil, fmt.Errorf("the secret of a webhook begins with %s, but what follows is not a key in base64", secretPrefix)
	}
	return key, nil
}

// sign sets the headers of a request that is sent now.
func sign(header http.Header, key []byte, id string, now time.Time, body []byte) {
	seconds := strconv.FormatInt(now.Unix(), 10)
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, seconds, body)
	header.Set(headerID, id)
	header.Set(headerTime, seconds)
	header.Set(headerSignature, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}
