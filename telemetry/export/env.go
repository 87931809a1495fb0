package export

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
)

// settings are the variables of the environment
// (https://opentelemetry.io/docs/specs/otel/protocol/exporter/).
type settings struct {
	getenv func(string) string
	end    *end
}

func (s settings) disabled() bool { return strings.EqualFold(s.getenv("OTEL_SDK_DISABLED"), "true") }

// of returns a variable of a signal, or the one for all signals.
func (s settings) of(signal, name string) string {
	if v := s.getenv("OTEL_EXPORTER_OTLP_" + strings.ToUpper(signal) + "_" + name); v != "" {
		return v
	}
	return s.getenv("OTEL_EXPORTER_OTLP_" + name)
}

// outlet is where a signal is sent; nil: nowhere.
func (s settings) outlet(signal string) (*outlet, error) {
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
		return nil, fmt.Errorf("%s is not a URL; write one such as http://localhost:4318", own)
	}
	if u.User != nil || u.RawQuery != "" { // which would be shown with the address
		return nil, fmt.Errorf("%s has a password or a query; use OTEL_EXPORTER_OTLP_HEADERS for credentials", own)
	}
	if by := s.of(signal, "PROTOCOL"); by != "" && by != "http/protobuf" {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %q; only http/protobuf is supported, at port 4318 of most collectors", by)
	}
	o := &outlet{signal: signal, url: address, timeout: 10 * time.Second, end: s.end}
	if ms := s.of(signal, "TIMEOUT"); ms != "" {
		n, err := strconv.Atoi(ms)
		if err != nil || n <= 0 {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_TIMEOUT is %q; write milliseconds", ms)
		}
		o.timeout = time.Duration(n) * time.Millisecond
	}
	switch how := s.of(signal, "COMPRESSION"); how {
	case "", "none":
	case "gzip":
		o.gzip = true
	default:
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_COMPRESSION is %q; write gzip or none", how)
	}
	if o.headers, err = s.headers(signal); err != nil {
		return nil, err
	}
	trust, err := s.trust(signal, address)
	if err != nil {
		return nil, err
	}
	o.http = client(trust)
	return o, nil
}

// temporality says whether metrics count from the beginning or from the last report.
func (s settings) temporality() (sdkmetric.TemporalitySelector, error) {
	switch how := s.getenv("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"); strings.ToLower(how) {
	case "", "cumulative":
		return sdkmetric.CumulativeTemporalitySelector, nil
	case "delta":
		return sdkmetric.DeltaTemporalitySelector, nil
	case "lowmemory":
		return sdkmetric.LowMemoryTemporalitySelector, nil
	default:
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE is %q; write cumulative, delta or lowmemory", how)
	}
}

// lettering are the characters of a header's name (RFC 9110, section 5.6.2).
const lettering = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// headers are the headers for a signal. The lists for one signal and for all must both be
// valid, even if unused.
func (s settings) headers(signal string) (map[string]string, error) {
	headers := map[string]string{}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_" + strings.ToUpper(signal) + "_HEADERS"} {
		text := s.getenv(name)
		if text == "" {
			continue
		}
		clear(headers) // the list of a signal replaces that of all signals
		pairs, err := list(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for i, kv := range pairs {
			if strings.Trim(kv[0], lettering) != "" {
				return nil, fmt.Errorf("%s: its part %d has no name of a header before the =", name, i+1)
			}
			headers[kv[0]] = kv[1]
		}
	}
	return headers, nil
}

// list parses a list of the form name=value,name=value with URL-encoded values. Its error does
// not quote the list.
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

// resource describes the sender. The name of the service overrides the attributes.
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

// Secrets returns the values of the headers that the environment adds to requests, by
// variable and position.
func Secrets(getenv func(string) string) map[string]string {
	all := map[string]string{}
	for _, signal := range []string{"", "TRACES_", "METRICS_", "LOGS_"} {
		name := "OTEL_EXPORTER_OTLP_" + signal + "HEADERS"
		pairs, _ := list(getenv(name)) // an invalid list is not sent either
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

// contents reports whether spans include texts.
func (s settings) contents() bool {
	return strings.EqualFold(s.getenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"), "true")
}

// earlier reports whether the names are those of version 1.41.0 of the semantic conventions.
func (s settings) earlier() bool {
	return slices.Contains(strings.Split(s.getenv("OTEL_SEMCONV_STABILITY_OPT_IN"), ","), "gen_ai/1.41.0")
}
