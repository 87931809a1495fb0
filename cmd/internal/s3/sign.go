package s3

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

type keys struct{ id, secret, session string }

// sign adds the headers of a signature of version 4 to a request without a query
// (https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html). S3 signs the path as it is sent. The
// SDK's package for this brings 28 others into the command.
func (k keys) sign(r *http.Request, body []byte, region string, now time.Time) {
	at := now.UTC().Format("20060102T150405Z")
	r.Header.Set("X-Amz-Date", at)
	r.Header.Set("X-Amz-Content-Sha256", digest(body))
	if k.session != "" {
		r.Header.Set("X-Amz-Security-Token", k.session)
	}
	headers := map[string]string{"host": r.URL.Host}
	for name, values := range r.Header {
		headers[strings.ToLower(name)] = strings.Join(values, ",")
	}
	names := slices.Sorted(maps.Keys(headers))
	signed := strings.Join(names, ";")
	lines := []string{r.Method, r.URL.EscapedPath(), ""}
	for _, name := range names {
		lines = append(lines, name+":"+headers[name])
	}
	request := strings.Join(append(lines, "", signed, digest(body)), "\n")

	scope := strings.Join([]string{at[:8], region, "s3", "aws4_request"}, "/")
	key := []byte("AWS4" + k.secret)
	for part := range strings.SplitSeq(scope, "/") {
		key = mac(key, part)
	}
	signature := mac(key, strings.Join([]string{"AWS4-HMAC-SHA256", at, scope, digest([]byte(request))}, "\n"))
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+k.id+"/"+scope+",SignedHeaders="+signed+",Signature="+hex.EncodeToString(signature))
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func mac(key []byte, text string) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(text))
	return m.Sum(nil)
}
