package cli

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/internal/web"
	"github.com/pawl-run/pawl/telemetry/export"
)

// reports holds the telemetry export, opened with the first engine.
type reports struct {
	once sync.Once
	to   *export.Export // nil: nothing is exported
}

// reporting is the export that the environment asks for; nil: none. An invalid setting
// is reported and does not stop the run.
func (a *app) reporting(metrics bool) *export.Export {
	if a.reports == nil {
		return nil
	}
	a.reports.once.Do(func() {
		to, err := export.Open(a.getenv, &export.Options{Version: thisBuild().Version, Metrics: metrics, Failed: a.unreported})
		if err != nil {
			a.unreported(err)
		}
		a.reports.to = to
	})
	return a.reports.to
}

func (con *console) unreported(err error) {
	con.sayf("pawl: telemetry: %s; runs continue without telemetry", redact.Text(err.Error()))
}

// watchers are the observers of an engine's runs.
func (a *app) watchers(metrics bool) []engine.Watcher {
	if to := a.reporting(metrics); to != nil {
		return []engine.Watcher{to.Telemetry}
	}
	return nil
}

// scraped serves the metrics to Prometheus.
func (a *app) scraped() http.Handler {
	if to := a.reporting(true); to != nil {
		return to.Metrics
	}
	return nil
}

// serverLog is where a server logs for its operator: standard error, and the telemetry
// export if it takes logs.
func (a *app) serverLog(verbose bool) *slog.Logger {
	level := slog.LevelInfo
	if verbose {
		level = slog.LevelDebug
	}
	var to slog.Handler = slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: level})
	if far := a.reporting(true); far != nil && far.Log != nil {
		to = slog.NewMultiHandler(to, far.Log.Handler())
	}
	return slog.New(to)
}

// mostReporting bounds the time to flush telemetry at exit.
const mostReporting = 5 * time.Second

// reported flushes the telemetry.
func (a *app) reported() {
	if a.reports == nil || a.reports.to == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), mostReporting)
	defer cancel()
	if err := a.reports.to.Shutdown(ctx); err != nil {
		a.unreported(err)
	}
}

// asked adds to ctx the parent span that the environment names.
func (env *environment) asked(ctx context.Context) context.Context {
	return web.WithParent(ctx, web.ParseParent(env.getenv(web.ParentVariable), env.getenv(web.StateVariable)))
}
