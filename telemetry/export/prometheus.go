package export

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// scraped answers Prometheus in its text format, version 0.0.4
// (https://prometheus.io/docs/instrumenting/exposition_formats/), with names as
// the compatibility specification of OpenTelemetry has them.
type scraped struct {
	reader *sdkmetric.ManualReader
	mu     sync.Mutex
	last   metricdata.ResourceMetrics // memory for the next time
}

// ServeHTTP writes all metrics there are.
func (s *scraped) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "metrics are only read", http.StatusMethodNotAllowed)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.reader.Collect(r.Context(), &s.last); err != nil {
		http.Error(w, "the metrics cannot be collected", http.StatusInternalServerError)
		return
	}
	families := process()
	for _, scope := range s.last.ScopeMetrics {
		for _, m := range scope.Metrics {
			if f, ok := familyOf(m); ok {
				families = append(families, f)
			}
		}
	}
	slices.SortStableFunc(families, func(a, b family) int { return strings.Compare(a.name, b.name) })
	var b bytes.Buffer
	for _, f := range families {
		f.write(&b)
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	if r.Method == http.MethodGet {
		_, _ = b.WriteTo(w) // who has gone away needs no answer
	}
}

// family is one metric with its samples, in the order in which they are written.
type family struct {
	name, kind, help string
	samples          []sample
}

type sample struct {
	suffix string
	labels string // between the braces; empty: none
	value  string
}

func (f *family) write(b *bytes.Buffer) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", f.name, escaped.Replace(f.help), f.name, f.kind)
	for _, s := range f.samples {
		b.WriteString(f.name + s.suffix)
		if s.labels != "" {
			b.WriteString("{" + s.labels + "}")
		}
		b.WriteString(" " + s.value + "\n")
	}
}

var (
	escaped = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	quoted  = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

// named is an OpenTelemetry name as Prometheus takes it.
func named(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
}

// units are those that stand in a name. What is in braces only says what is counted.
var units = map[string]string{"s": "_seconds", "By": "_bytes"}

func familyOf(m metricdata.Metrics) (f family, ok bool) {
	f = family{name: named(m.Name) + units[m.Unit], help: m.Description}
	switch d := m.Data.(type) {
	case metricdata.Gauge[int64]:
		f.kind = "gauge"
		numbers(&f, d.DataPoints)
	case metricdata.Sum[int64]:
		f.count(d.IsMonotonic)
		numbers(&f, d.DataPoints)
	case metricdata.Sum[float64]:
		f.count(d.IsMonotonic)
		numbers(&f, d.DataPoints)
	case metricdata.Histogram[int64]:
		buckets(&f, d.DataPoints)
	case metricdata.Histogram[float64]:
		buckets(&f, d.DataPoints)
	}
	return f, len(f.samples) > 0
}

func (f *family) count(rises bool) {
	f.kind = "gauge"
	if rises {
		f.kind = "counter"
		f.name += "_total"
	}
}

func numbers[N int64 | float64](f *family, list []metricdata.DataPoint[N]) {
	for _, p := range list {
		f.samples = append(f.samples, sample{labels: labels(p.Attributes, ""), value: number(float64(p.Value))})
	}
	slices.SortFunc(f.samples, func(a, b sample) int { return strings.Compare(a.labels, b.labels) })
}

func buckets[N int64 | float64](f *family, list []metricdata.HistogramDataPoint[N]) {
	f.kind = "histogram"
	slices.SortFunc(list, func(a, b metricdata.HistogramDataPoint[N]) int {
		return strings.Compare(labels(a.Attributes, ""), labels(b.Attributes, ""))
	})
	for _, p := range list {
		below := uint64(0)
		for i, n := range p.BucketCounts {
			below += n
			bound := "+Inf"
			if i < len(p.Bounds) {
				bound = number(p.Bounds[i])
			}
			f.samples = append(f.samples, sample{"_bucket", labels(p.Attributes, bound), strconv.FormatUint(below, 10)})
		}
		own := labels(p.Attributes, "")
		f.samples = append(f.samples, sample{"_sum", own, number(float64(p.Sum))}, sample{"_count", own, strconv.FormatUint(p.Count, 10)})
	}
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// labels are attributes as labels, in the order of their names; of a bucket with
// its bound at the end.
func labels(set attribute.Set, bound string) string {
	var all []string
	for _, a := range set.ToSlice() { // which is sorted
		all = append(all, named(string(a.Key))+`="`+quoted.Replace(a.Value.String())+`"`)
	}
	if bound != "" {
		all = append(all, `le="`+bound+`"`)
	}
	return strings.Join(all, ",")
}
