package telemetry

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"strconv"

	"go.opentelemetry.io/otel/trace"
)

// IDs generates the ids of spans: spans of a [Telemetry] get ids derived from their run, so
// that a resumed run continues its trace and the parent passed to a tool is right; all others
// get random ids. It is an IDGenerator of the SDK, and its zero value is ready.
type IDs struct{}

// NewIDs returns the ids of a span that begins a trace.
func (IDs) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	if w, ok := ctx.Value(wishKey{}).(wish); ok {
		return w.trace, w.span
	}
	var t trace.TraceID
	var s trace.SpanID
	_, _ = rand.Read(t[:]) // which never fails
	_, _ = rand.Read(s[:])
	return t, s
}

// NewSpanID returns the id of a further span.
func (i IDs) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	_, s := i.NewIDs(ctx)
	return s
}

// A wish has the ids that a span must get.
type wish struct {
	trace trace.TraceID
	span  trace.SpanID
}

type wishKey struct{}

func wishing(ctx context.Context, t trace.TraceID, s trace.SpanID) context.Context {
	return context.WithValue(ctx, wishKey{}, wish{t, s})
}

// traceOf is the trace of a run that was not started within another trace.
func traceOf(run string) (id trace.TraceID) {
	sum := sha256.Sum256([]byte("pawl trace\x00" + run))
	copy(id[:], sum[:])
	return id
}

// spanOf is the span that an entry of a run begins.
func spanOf(run string, seq uint64) (id trace.SpanID) {
	sum := sha256.Sum256([]byte("pawl span\x00" + run + "\x00" + strconv.FormatUint(seq, 10)))
	copy(id[:], sum[:])
	return id
}
