package export

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/trace"
)

// records sends log records, a batch each second. It is a [slog.Handler]'s end.
type records struct {
	to   *place
	from *resource.Resource

	mu    sync.Mutex
	batch []record
	timer *time.Timer // nil: nothing waits
	over  bool
}

type record struct {
	slog.Record
	attrs []attribute.KeyValue
	at    trace.SpanContext
}

// mostRecords may wait; the oldest go first.
const mostRecords = 2048

func (r *records) add(one record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	if len(r.batch) >= mostRecords {
		r.batch = append(r.batch[:0], r.batch[1:]...)
	}
	r.batch = append(r.batch, one)
	if r.timer == nil {
		r.timer = time.AfterFunc(time.Second, func() {
			if err := r.flush(context.Background()); err != nil {
				otel.Handle(err)
			}
		})
	}
}

func (r *records) flush(ctx context.Context) error {
	r.mu.Lock()
	batch := r.batch
	r.batch, r.timer = nil, nil
	r.mu.Unlock()
	if len(batch) == 0 {
		return nil
	}
	var w wire
	w.message(1, func(w *wire) {
		w.message(1, func(w *wire) { w.resource(r.from) })
		w.message(2, func(w *wire) {
			w.message(1, func(w *wire) { w.text(1, "github.com/pawl-run/pawl") })
			for _, one := range batch {
				w.message(2, func(w *wire) { w.record(one) })
			}
		})
	})
	return r.to.send(ctx, w)
}

func (r *records) shutdown(ctx context.Context) error {
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
	return r.flush(ctx)
}

func (w *wire) record(r record) {
	w.time(1, r.Time)
	w.uint(2, severity(r.Level))
	w.text(3, r.Level.String())
	w.message(5, func(w *wire) { w.string(r.Message) })
	w.attributes(6, r.attrs)
	if r.at.IsValid() {
		id, span := r.at.TraceID(), r.at.SpanID()
		w.short(8, uint32(r.at.TraceFlags()))
		w.text(9, string(id[:]))
		w.text(10, string(span[:]))
	}
	w.time(11, r.Time)
}

// severity is a level's number: 5, 9, 13 and 17 are debug, info, warn and error.
func severity(l slog.Level) uint64 { return uint64(min(max(int(l)+9, 1), 24)) }

// handler is a way of writing to records.
type handler struct {
	to    *records
	attrs []attribute.KeyValue
	group string
}

// Enabled reports whether a level is sent: what a run does is in its trace, so
// nothing below information.
func (h *handler) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

// Handle takes a record in.
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	one := record{Record: r, attrs: slices.Clone(h.attrs), at: trace.SpanContextFromContext(ctx)}
	r.Attrs(func(a slog.Attr) bool {
		one.attrs = append(one.attrs, flat(h.group, a)...)
		return true
	})
	h.to.add(one)
	return nil
}

// WithAttrs returns a handler that says these with every record.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := *h
	next.attrs = slices.Clone(h.attrs)
	for _, a := range attrs {
		next.attrs = append(next.attrs, flat(h.group, a)...)
	}
	return &next
}

// WithGroup returns a handler that puts a name before those of attributes.
func (h *handler) WithGroup(name string) slog.Handler {
	next := *h
	if name != "" {
		next.group += name + "."
	}
	return &next
}

// flat is an attribute, one of a group by the names of both.
func flat(group string, a slog.Attr) []attribute.KeyValue {
	v, key := a.Value.Resolve(), group+a.Key
	switch v.Kind() {
	case slog.KindBool:
		return []attribute.KeyValue{attribute.Bool(key, v.Bool())}
	case slog.KindInt64:
		return []attribute.KeyValue{attribute.Int64(key, v.Int64())}
	case slog.KindFloat64:
		return []attribute.KeyValue{attribute.Float64(key, v.Float64())}
	case slog.KindGroup:
		var all []attribute.KeyValue
		inner := group
		if a.Key != "" {
			inner = key + "."
		}
		for _, member := range v.Group() {
			all = append(all, flat(inner, member)...)
		}
		return all
	}
	return []attribute.KeyValue{attribute.String(key, v.String())}
}
