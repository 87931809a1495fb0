package export

import (
	"context"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// spans sends spans. It is a SpanExporter of the SDK.
type spans struct{ to *place }

// ExportSpans sends a batch.
func (s *spans) ExportSpans(ctx context.Context, batch []sdk.ReadOnlySpan) error {
	if len(batch) == 0 {
		return nil
	}
	return s.to.send(ctx, request(batch))
}

// Shutdown has nothing to do: every batch was sent when it came.
func (*spans) Shutdown(context.Context) error { return nil }

// request writes an ExportTraceServiceRequest. All spans have one resource, that
// of the one provider there is.
func request(batch []sdk.ReadOnlySpan) (w wire) {
	w.message(1, func(w *wire) {
		w.message(1, func(w *wire) { w.resource(batch[0].Resource()) })
		for _, scope := range scopes(batch) {
			w.message(2, func(w *wire) {
				w.message(1, func(w *wire) { w.scope(scope) })
				for _, s := range batch {
					if s.InstrumentationScope() == scope {
						w.message(2, func(w *wire) { w.span(s) })
					}
				}
			})
		}
	})
	return w
}

func scopes(batch []sdk.ReadOnlySpan) (all []instrumentation.Scope) {
	seen := map[instrumentation.Scope]bool{}
	for _, s := range batch {
		if scope := s.InstrumentationScope(); !seen[scope] {
			seen[scope] = true
			all = append(all, scope)
		}
	}
	return all
}

func (w *wire) resource(r *resource.Resource) { w.attributes(1, r.Attributes()) }

func (w *wire) scope(s instrumentation.Scope) {
	w.text(1, s.Name)
	w.text(2, s.Version)
}

// Of the flags of a span or a link, those that say whether its parent is remote.
const (
	knowsRemote = 1 << 8
	isRemote    = 1 << 9
)

func flags(own trace.SpanContext, remote bool) uint32 {
	f := uint32(own.TraceFlags()) | knowsRemote
	if remote {
		f |= isRemote
	}
	return f
}

func (w *wire) span(s sdk.ReadOnlySpan) {
	sc, parent := s.SpanContext(), s.Parent()
	id, span := sc.TraceID(), sc.SpanID()
	w.text(1, string(id[:]))
	w.text(2, string(span[:]))
	w.text(3, sc.TraceState().String())
	if parent.SpanID().IsValid() {
		above := parent.SpanID()
		w.text(4, string(above[:]))
	}
	w.text(5, s.Name())
	w.uint(6, uint64(s.SpanKind())) // the numbers are the same
	w.time(7, s.StartTime())
	w.time(8, s.EndTime())
	w.attributes(9, s.Attributes())
	w.uint(10, uint64(s.DroppedAttributes()))
	for _, e := range s.Events() {
		w.message(11, func(w *wire) {
			w.time(1, e.Time)
			w.text(2, e.Name)
			w.attributes(3, e.Attributes)
			w.uint(4, uint64(e.DroppedAttributeCount))
		})
	}
	w.uint(12, uint64(s.DroppedEvents()))
	for _, l := range s.Links() {
		w.message(13, func(w *wire) {
			id, span := l.SpanContext.TraceID(), l.SpanContext.SpanID()
			w.text(1, string(id[:]))
			w.text(2, string(span[:]))
			w.text(3, l.SpanContext.TraceState().String())
			w.attributes(4, l.Attributes)
			w.uint(5, uint64(l.DroppedAttributeCount))
			w.short(6, flags(l.SpanContext, l.SpanContext.IsRemote()))
		})
	}
	w.uint(14, uint64(s.DroppedLinks()))
	if st := s.Status(); st.Code != codes.Unset {
		w.message(15, func(w *wire) {
			w.text(2, st.Description)
			code := uint64(1) // fine
			if st.Code == codes.Error {
				code = 2
			}
			w.uint(3, code)
		})
	}
	w.short(16, flags(sc, parent.IsRemote()))
}
