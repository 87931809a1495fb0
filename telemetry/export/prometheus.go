package export

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// scraped are metrics in the text format of Prometheus, with the process's own. There is one
// scope and one resource, which the samples omit. Prometheus' packages would do the same;
// they are 30 times as much to compile, see docs/decisions.
func scraped() (sdkmetric.Reader, http.Handler) {
	reader := sdkmetric.NewManualReader()
	only := http.NewServeMux() // which answers other methods
	only.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		text, err := page(r.Context(), reader)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = w.Write(text) // the client may be gone
	})
	return reader, only
}

// page is all metrics, in order of their names.
func page(ctx context.Context, from sdkmetric.Reader) ([]byte, error) {
	var all metricdata.ResourceMetrics
	if err := from.Collect(ctx, &all); err != nil {
		return nil, err
	}
	families := ownProcess()
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			families = append(families, familyOf(m))
		}
	}
	slices.SortFunc(families, func(a, b family) int { return strings.Compare(a.name, b.name) })
	var b bytes.Buffer
	for _, f := range families {
		f.write(&b)
	}
	return b.Bytes(), nil
}

// A family is a metric with its samples.
type family struct {
	name, kind, about string
	samples           []sample
}

type sample struct {
	suffix string
	labels []attribute.KeyValue
	value  float64
}

// familyOf converts the aggregations that the instruments of package telemetry have.
func familyOf(m metricdata.Metrics) family {
	f := family{name: escapedName(m.Name), kind: "gauge", about: m.Description}
	if unit := map[string]string{"s": "seconds", "By": "bytes"}[m.Unit]; unit != "" && !strings.HasSuffix(f.name, "_"+unit) {
		f.name += "_" + unit
	}
	switch a := m.Data.(type) {
	case metricdata.Gauge[float64]:
		f.samples = plainSamples(a.DataPoints)
	case metricdata.Gauge[int64]:
		f.samples = plainSamples(a.DataPoints)
	case metricdata.Sum[int64]:
		f.count(a.IsMonotonic)
		f.samples = plainSamples(a.DataPoints)
	case metricdata.Sum[float64]:
		f.count(a.IsMonotonic)
		f.samples = plainSamples(a.DataPoints)
	case metricdata.Histogram[int64]:
		f.kind, f.samples = "histogram", buckets(a.DataPoints)
	case metricdata.Histogram[float64]:
		f.kind, f.samples = "histogram", buckets(a.DataPoints)
	}
	return f
}

// count makes a counter of a sum that only grows.
func (f *family) count(grows bool) {
	if grows {
		f.name, f.kind = strings.TrimSuffix(f.name, "_total")+"_total", "counter"
	}
}

func plainSamples[N int64 | float64](points []metricdata.DataPoint[N]) []sample {
	var out []sample
	for _, p := range points {
		out = append(out, sample{labels: p.Attributes.ToSlice(), value: float64(p.Value)})
	}
	return out
}

// buckets are the samples of histograms, whose buckets each count what lower ones do too.
func buckets[N int64 | float64](points []metricdata.HistogramDataPoint[N]) []sample {
	var out []sample
	for _, p := range points {
		labels, below := p.Attributes.ToSlice(), uint64(0)
		for i, n := range p.BucketCounts {
			below += n
			bound := "+Inf"
			if i < len(p.Bounds) {
				bound = number(p.Bounds[i])
			}
			out = append(out, sample{"_bucket", append(slices.Clone(labels), attribute.String("le", bound)), float64(below)})
		}
		out = append(out, sample{"_sum", labels, float64(p.Sum)}, sample{"_count", labels, float64(p.Count)})
	}
	return out
}

// write writes the text format (https://prometheus.io/docs/instrumenting/exposition_formats).
func (f family) write(b *bytes.Buffer) {
	b.WriteString("# HELP " + f.name + " " + strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(f.about) + "\n")
	b.WriteString("# TYPE " + f.name + " " + f.kind + "\n")
	for _, s := range f.samples {
		b.WriteString(f.name + s.suffix)
		for i, l := range s.labels {
			b.WriteString(map[bool]string{true: "{", false: ","}[i == 0])
			b.WriteString(escapedName(string(l.Key)) + `="` + strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`).Replace(l.Value.String()) + `"`)
		}
		if len(s.labels) > 0 {
			b.WriteByte('}')
		}
		b.WriteString(" " + number(s.value) + "\n")
	}
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// escapedName is a name of OpenTelemetry as Prometheus has it.
func escapedName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == ':' {
			return r
		}
		return '_'
	}, name)
}
