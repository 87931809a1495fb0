package export_test

import (
	"compress/gzip"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protopath"
	"google.golang.org/protobuf/reflect/protorange"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/pawl-run/pawl/telemetry/export"
)

// collector is an OTLP receiver on this machine, that reads what it gets with
// the code generated from the protocol's own definition.
type collector struct {
	*httptest.Server
	mu       sync.Mutex
	spans    []*tracepb.Span
	metrics  map[string]*metricspb.Metric
	records  []*logspb.LogRecord
	resource map[string]string
	header   http.Header
	refuse   int // how many requests to turn down first
}

func collect(t *testing.T) *collector {
	c := &collector{metrics: map[string]*metricspb.Metric{}, resource: map[string]string{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.refuse > 0 {
			c.refuse--
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		var from io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Error(err)
				return
			}
			from = z
		}
		body, err := io.ReadAll(from)
		if err != nil || r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("%s: %q: %v", r.URL.Path, r.Header.Get("Content-Type"), err)
		}
		c.header = r.Header
		if err := c.take(r.URL.Path, body); err != nil {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// take reads a request. The requests of the protocol are written as the messages
// of the same signals for files, which need no gRPC.
func (c *collector) take(path string, body []byte) error {
	switch path {
	case "/v1/traces":
		var m tracepb.TracesData
		if err := decode(body, &m); err != nil {
			return err
		}
		for _, r := range m.ResourceSpans {
			c.resource = texts(r.Resource.Attributes)
			for _, s := range r.ScopeSpans {
				c.spans = append(c.spans, s.Spans...)
			}
		}
	case "/v1/metrics":
		var m metricspb.MetricsData
		if err := decode(body, &m); err != nil {
			return err
		}
		for _, r := range m.ResourceMetrics {
			for _, s := range r.ScopeMetrics {
				for _, one := range s.Metrics {
					c.metrics[one.Name] = one
				}
			}
		}
	case "/v1/logs":
		var m logspb.LogsData
		if err := decode(body, &m); err != nil {
			return err
		}
		for _, r := range m.ResourceLogs {
			for _, s := range r.ScopeLogs {
				c.records = append(c.records, s.LogRecords...)
			}
		}
	}
	return nil
}

// decode reads a message in which there is nothing that its definition does not know.
func decode(body []byte, m proto.Message) error {
	if err := proto.Unmarshal(body, m); err != nil {
		return err
	}
	return protorange.Range(m.ProtoReflect(), func(p protopath.Values) error {
		if inner, ok := p.Index(-1).Value.Interface().(protoreflect.Message); ok && len(inner.GetUnknown()) > 0 {
			return fmt.Errorf("%s has unknown fields", inner.Descriptor().FullName())
		}
		return nil
	})
}

// named are the spans of a name, in the order in which they came.
func (c *collector) named(name string) (all []*tracepb.Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if s.Name == name {
			all = append(all, s)
		}
	}
	return all
}

func (c *collector) one(t *testing.T, name string) *tracepb.Span {
	t.Helper()
	all := c.named(name)
	if len(all) != 1 {
		t.Fatalf("there are %d spans %q, want one", len(all), name)
	}
	return all[0]
}

func texts(attrs []*common.KeyValue) map[string]string {
	all := map[string]string{}
	for _, a := range attrs {
		switch v := a.Value.Value.(type) {
		case *common.AnyValue_StringValue:
			all[a.Key] = v.StringValue
		case *common.AnyValue_IntValue:
			all[a.Key] = (&common.AnyValue{Value: v}).String()
		default:
			all[a.Key] = a.Value.String()
		}
	}
	return all
}

func id(b []byte) string { return hex.EncodeToString(b) }

// open sets exporting up towards a collector. The function it returns ends it.
func open(t *testing.T, env map[string]string) (*export.Export, func()) {
	t.Helper()
	e, err := export.Open(func(name string) string { return env[name] }, &export.Options{Version: "1.2.3", Metrics: true})
	if err != nil || e == nil {
		t.Fatalf("open: %v, %v", e, err)
	}
	return e, func() {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := e.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
	}
}
