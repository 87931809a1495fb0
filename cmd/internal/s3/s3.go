// Package s3 keeps exports of runs in a bucket of any service that speaks the S3 protocol.
//
// Two requests are all that an archive needs, so this is not a client of S3: it signs PUT and GET.
package s3

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// A Bucket stores objects below a prefix. It implements archive.Store.
type Bucket struct {
	base   *url.URL // of the prefix, ends in a slash
	region string
	keys   keys
	client *http.Client
}

// Open makes the store that s3://BUCKET/PREFIX names. It takes the usual variables of AWS:
// the keys, AWS_REGION, and for other services AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL. It
// sends nothing yet.
func Open(at string, getenv func(string) string) (*Bucket, error) {
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%q is not a bucket; write s3://BUCKET or s3://BUCKET/PREFIX", at)
	}
	b := &Bucket{
		region: cmp.Or(getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION"), "us-east-1"),
		keys:   keys{getenv("AWS_ACCESS_KEY_ID"), getenv("AWS_SECRET_ACCESS_KEY"), getenv("AWS_SESSION_TOKEN")},
		client: &http.Client{Timeout: 5 * time.Minute},
	}
	if b.keys.id == "" || b.keys.secret == "" {
		return nil, fmt.Errorf("%s needs keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", at)
	}
	prefix := strings.Trim(u.Path, "/")
	if prefix != "" {
		prefix += "/"
	}
	if endpoint := cmp.Or(getenv("AWS_ENDPOINT_URL_S3"), getenv("AWS_ENDPOINT_URL")); endpoint != "" {
		e, err := url.Parse(endpoint)
		if err != nil || e.Host == "" || e.Scheme != "https" && e.Scheme != "http" {
			return nil, errors.New("AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL is not a URL; write it as https://HOST:PORT")
		}
		b.base = e.JoinPath(u.Host, prefix)
	} else {
		b.base = &url.URL{Scheme: "https", Host: u.Host + ".s3." + b.region + ".amazonaws.com", Path: "/" + prefix}
	}
	return b, nil
}

// Put stores an object. It tries up to three times while the service is busy or broken.
func (b *Bucket) Put(ctx context.Context, name string, data []byte) error {
	return b.do(ctx, http.MethodPut, name, data, func(r *http.Response) error {
		_, err := io.Copy(io.Discard, io.LimitReader(r.Body, mostError))
		return errors.Join(err, r.Body.Close())
	})
}

// Get opens an object. An unknown name is an fs.ErrNotExist.
func (b *Bucket) Get(ctx context.Context, name string) (body io.ReadCloser, err error) {
	err = b.do(ctx, http.MethodGet, name, nil, func(r *http.Response) error { body = r.Body; return nil })
	return body, err
}

const (
	mostTries = 3
	mostError = 4 << 10 // of what a service says about an error
)

func (b *Bucket) do(ctx context.Context, method, name string, data []byte, take func(*http.Response) error) error {
	at := b.base.JoinPath(name)
	for try := 1; ; try++ {
		r, err := b.send(ctx, method, at, data)
		if err == nil && r.StatusCode == http.StatusOK {
			return take(r)
		}
		again := err != nil
		if err == nil {
			again = r.StatusCode >= http.StatusInternalServerError || r.StatusCode == http.StatusTooManyRequests
			err = failure(method, at, r)
		}
		if !again || try == mostTries {
			return err
		}
		select {
		case <-time.After(time.Duration(try) * time.Second):
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		}
	}
}

func (b *Bucket) send(ctx context.Context, method string, at *url.URL, data []byte) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, at.String(), bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	b.keys.sign(r, data, b.region, time.Now())
	return b.client.Do(r)
}

// failure is the error of an answer. It repeats what the service says, not what was sent.
func failure(method string, at *url.URL, r *http.Response) error {
	defer r.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(r.Body, mostError))
	err := fmt.Errorf("%s %s: %s: %s", method, at.Redacted(), r.Status, strings.Join(strings.Fields(string(text)), " "))
	if r.StatusCode == http.StatusNotFound && method == http.MethodGet {
		err = errors.Join(fs.ErrNotExist, err)
	}
	return err
}
