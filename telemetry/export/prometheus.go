package export

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
)

// scraped are metrics as Prometheus reads them, beside the process's own. The
// registry is ours, since that of the package is the whole program's. There is one
// scope and one resource, and no sample need say so.
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
