package export

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
)

// settings are what the environment says
// (https://opentelemetry.io/docs/specs/otel/protocol/exporter/).
type settings struct {
	getenv func(string) string
	client *http.Client
}

func (s settings) disabled() bool { return strings.EqualFold(s.getenv("OTEL_SDK_DISABLED"), "true") }

// of is a variable of a signal, or the one for all signals.
func (s settings) of(signal, name string) string {
	if v := s.getenv("OTEL_EXPORTER_OTLP_" + strings.ToUpper(signal) + "_" + name); v != "" {
		return v
	}
	return s.getenv("OTEL_EXPORTER_OTLP_" + name)
}

// place is where a signal is sent; nil: nowhere.
func (s settings) place(signal string) (*place, error) {
	if s.disabled() {
		return nil, nil
	}
	variable := "OTEL_" + strings.ToUpper(signal) + "_EXPORTER"
	switch by := s.getenv(variable); by {
	case "", "otlp":
	case "none":
		return nil, nil
	default:
		return nil, fmt.Errorf("%s is %q; write otlp or none", variable, by)
	}
	own := "OTEL_EXPORTER_OTLP_" + strings.ToUpper(signal) + "_ENDPOINT"
	address := s.getenv(own)
	if address == "" {
		own = "OTEL_EXPORTER_OTLP_ENDPOINT"
		if address = s.getenv(own); address == "" {
			return nil, nil
		}
		address = strings.TrimSuffix(address, "/") + "/v1/" + signal
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%s is no URL; write one such as http://localhost:4318", own)
	}
	if by := s.of(signal, "PROTOCOL"); by != "" && by != "http/protobuf" {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %q; only http/protobuf is spoken here, at port 4318 of most collectors", by)
	}
	p := &place{signal: signal, url: address, header: http.Header{}, timeout: 10 * time.Second, client: s.client}
	if ms := s.of(signal, "TIMEOUT"); ms != "" {
		n, err := strconv.Atoi(ms)
		if err != nil || n <= 0 {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_TIMEOUT is %q; write milliseconds", ms)
		}
		p.timeout = time.Duration(n) * time.Millisecond
	}
	switch how := s.of(signal, "COMPRESSION"); how {
	case "", "none":
	case "gzip":
		p.gzip = true
	default:
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_COMPRESSION is %q; write gzip or none", how)
	}
	pairs, err := list(s.of(signal, "HEADERS"))
	if err != nil {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_HEADERS: %w", err)
	}
	for _, kv := range pairs {
		p.header.Set(kv[0], kv[1])
	}
	return p, nil
}

// list reads a list of the form name=value,name=value with values as in URLs. Its
// error does not say what is in it.
func list(text string) (pairs [][2]string, err error) {
	for i, item := range strings.Split(text, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		name, value, ok := strings.Cut(item, "=")
		decoded, bad := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); !ok || name == "" || bad != nil {
			return nil, fmt.Errorf("its part %d is not of the form name=value", i+1)
		}
		pairs = append(pairs, [2]string{name, decoded})
	}
	return pairs, nil
}

// resource is who sends. The name of the service goes before what the attributes say.
func (s settings) resource(version string) (*resource.Resource, error) {
	attrs := []attribute.KeyValue{
		attribute.String("service.name", "pawl"), attribute.String("service.version", version),
		attribute.String("telemetry.sdk.name", "opentelemetry"), attribute.String("telemetry.sdk.language", "go"),
		attribute.Int("process.pid", os.Getpid()), attribute.String("process.executable.name", filepath.Base(os.Args[0])),
	}
	if host, err := os.Hostname(); err == nil {
		attrs = append(attrs, attribute.String("host.name", host))
	}
	pairs, err := list(s.getenv("OTEL_RESOURCE_ATTRIBUTES"))
	for _, kv := range pairs {
		attrs = append(attrs, attribute.String(kv[0], kv[1]))
	}
	if name := s.getenv("OTEL_SERVICE_NAME"); name != "" {
		attrs = append(attrs, attribute.String("service.name", name))
	}
	if err != nil {
		err = fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	return resource.NewSchemaless(attrs...), err // of equal names the last one counts
}

// Secrets are the values of headers that the environment has requests carry, by
// the variable they stand in and their place in it.
func Secrets(getenv func(string) string) map[string]string {
	all := map[string]string{}
	for _, signal := range []string{"", "TRACES_", "METRICS_", "LOGS_"} {
		name := "OTEL_EXPORTER_OTLP_" + signal + "HEADERS"
		pairs, _ := list(getenv(name)) // what cannot be read is not sent either
		for i, kv := range pairs {
			key := name + "_" + strconv.Itoa(i+1)
			all[key] = kv[1]
			if _, token, ok := strings.Cut(kv[1], " "); ok { // as behind Bearer
				all[key+"_TOKEN"] = token
			}
		}
	}
	return all
}

// contents reports whether spans are to say what was said.
func (s settings) contents() bool {
	return strings.EqualFold(s.getenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"), "true")
}

func join(errs ...error) error { return errors.Join(errs...) }
