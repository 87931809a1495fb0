package export

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
)

// scraped are metrics in Prometheus format, with the process's own. The registry is ours, since
// the package's default is global to the program. There is one scope and one resource, which
// the samples omit.
func scraped() (sdkmetric.Reader, http.Handler, error) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	reader, err := exporter.New(exporter.WithRegisterer(registry), exporter.WithoutScopeInfo(), exporter.WithoutTargetInfo())
	if err != nil {
		return nil, nil, err
	}
	only := http.NewServeMux() // which answers other methods
	only.Handle("GET /", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	return reader, only, nil
}
