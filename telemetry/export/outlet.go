package export

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/pawl-run/pawl/internal/excerpt"
)

// outlet is the destination of one signal: an OTLP receiver, by HTTP. The exporters get every
// setting explicitly, so that they ignore the environment.
type outlet struct {
	signal  string
	url     string
	headers map[string]string
	gzip    bool
	trust   *tls.Config
	timeout time.Duration // of one batch, tries and all
	end     *end
}

// firstWait is the wait before a second try; later waits grow. The exporters' default is
// five seconds, which is all the time at shutdown.
const firstWait = 300 * time.Millisecond

// client keeps data and keys at their destination: the exporters' own client would follow
// redirects and send headers along.
func (o *outlet) client() *http.Client {
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if usual, ok := http.DefaultTransport.(*http.Transport); ok && o.trust != nil {
		by := usual.Clone()
		by.TLSClientConfig = o.trust
		c.Transport = by
	}
	return c
}

func (o *outlet) spans(ctx context.Context) (sdktrace.SpanExporter, error) {
	opts := []otlptracehttp.Option{
		otlptracehttp.WithEndpointURL(o.url), otlptracehttp.WithHeaders(o.headers), otlptracehttp.WithHTTPClient(o.client()),
		otlptracehttp.WithCompression(otlptracehttp.NoCompression), otlptracehttp.WithEncoding(otlptracehttp.EncodingProtobuf),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: true, InitialInterval: firstWait, MaxInterval: o.timeout, MaxElapsedTime: o.timeout}),
	}
	if o.gzip {
		opts = append(opts, otlptracehttp.WithCompression(otlptracehttp.GzipCompression))
	}
	by, err := otlptracehttp.New(ctx, opts...)
	return spans{by, o}, o.wrong(err)
}

func (o *outlet) readings(ctx context.Context) (sdkmetric.Exporter, error) {
	opts := []otlpmetrichttp.Option{
		otlpmetrichttp.WithEndpointURL(o.url), otlpmetrichttp.WithHeaders(o.headers), otlpmetrichttp.WithHTTPClient(o.client()),
		otlpmetrichttp.WithCompression(otlpmetrichttp.NoCompression),
		otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{Enabled: true, InitialInterval: firstWait, MaxInterval: o.timeout, MaxElapsedTime: o.timeout}),
	}
	if o.gzip {
		opts = append(opts, otlpmetrichttp.WithCompression(otlpmetrichttp.GzipCompression))
	}
	by, err := otlpmetrichttp.New(ctx, opts...)
	return readings{by, o}, o.wrong(err)
}

func (o *outlet) records(ctx context.Context) (sdklog.Exporter, error) {
	opts := []otlploghttp.Option{
		otlploghttp.WithEndpointURL(o.url), otlploghttp.WithHeaders(o.headers), otlploghttp.WithHTTPClient(o.client()),
		otlploghttp.WithCompression(otlploghttp.NoCompression),
		otlploghttp.WithRetry(otlploghttp.RetryConfig{Enabled: true, InitialInterval: firstWait, MaxInterval: o.timeout, MaxElapsedTime: o.timeout}),
	}
	if o.gzip {
		opts = append(opts, otlploghttp.WithCompression(otlploghttp.GzipCompression))
	}
	by, err := otlploghttp.New(ctx, opts...)
	return records{by, o}, o.wrong(err)
}

// send sends a batch within the time for one, and until the end at most: processors let a batch
// continue that they have given up waiting for.
func (o *outlet) send(ctx context.Context, export func(context.Context) error) {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	go func() {
		select {
		case <-o.end.over:
			cancel()
		case <-ctx.Done():
		}
	}()
	if err := export(ctx); err != nil {
		o.end.tell(o.wrong(err))
	}
}

// mostSaid is how much of an error is reported, in bytes: exporters include the server's
// answer.
const mostSaid = 500

// wrong returns the error without the URL, which may contain a key.
func (o *outlet) wrong(err error) error {
	if err == nil {
		return nil
	}
	if at, ok := errors.AsType[*url.Error](err); ok {
		err = at.Err
	}
	text := strings.ReplaceAll(err.Error(), o.url, "the collector")
	return fmt.Errorf("%s cannot be sent: %s", o.signal, strings.Join(strings.Fields(excerpt.Clip(text, mostSaid)), " "))
}
