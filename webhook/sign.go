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
)

// The headers of Standard Webhooks 1.0. The signature is HMAC-SHA256 over id, time and body,
// separated by full stops, in base64 after "v1,".
const (
	headerID        = "Webhook-Id"
	headerTime      = "Webhook-Timestamp"
	headerSignature = "Webhook-Signature"

	secretPrefix = "whsec_"
	version      = "v1,"
)

// Tolerance is how far the time of a notice may be from the receiver's.
const Tolerance = 5 * time.Minute

// ErrNotSigned is the error of [Verify].
var ErrNotSigned = errors.New("the notice is not signed with the secret, or was sent at another time")

// Verify checks that a notice was sent by a holder of the secret, within [Tolerance] of now:
// older ones may be replays. body is the body exactly as received. It takes constant time for
// any wrong signature. Receivers recognise repeated notices by the header Webhook-Id.
func Verify(secret string, header http.Header, body []byte, now time.Time) error {
	key, err := keyOf(secret)
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseInt(header.Get(headerTime), 10, 64)
	if err != nil || header.Get(headerID) == "" {
		return ErrNotSigned
	}
	if apart := now.Sub(time.Unix(seconds, 0)); apart > Tolerance || apart < -Tolerance {
		return ErrNotSigned
	}
	want := signature(key, header.Get(headerID), seconds, body)
	for one := range strings.FieldsSeq(header.Get(headerSignature)) { // several while a secret is replaced
		given, ok := strings.CutPrefix(one, version)
		raw, err := base64.StdEncoding.DecodeString(given)
		if ok && err == nil && hmac.Equal(raw, want) {
			return nil
		}
	}
	return ErrNotSigned
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
		return nil, fmt.Errorf("the secret of a webhook must be %s and a key in base64, or any other text", secretPrefix)
	}
	return key, nil
}

func signature(key []byte, id string, seconds int64, body []byte) []byte {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%d.", id, seconds)
	mac.Write(body)
	return mac.Sum(nil)
}

// sign sets the headers of a request that is sent now.
func sign(header http.Header, key []byte, id string, now time.Time, body []byte) {
	seconds := now.Unix()
	header.Set(headerID, id)
	header.Set(headerTime, strconv.FormatInt(seconds, 10))
	header.Set(headerSignature, version+base64.StdEncoding.EncodeToString(signature(key, id, seconds, body)))
}
