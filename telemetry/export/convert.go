package export

import (
	"math"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/encoding/protowire"
)

// The numbers of the fields are those of opentelemetry-proto 1.11, packages trace, metrics, logs,
// resource and common. A request of the protocol has the encoding of the message that files hold for
// the same signal: of one resource, of a list of scopes, of a list of spans, metrics or records.

// grouped is the request for items, which all have one resource.
func grouped[T any](items []T, from func(T) (*resource.Resource, instrumentation.Scope), item func(T) message) message {
	if len(items) == 0 {
		return nil
	}
	by, order := map[instrumentation.Scope]*message{}, []instrumentation.Scope(nil)
	for _, it := range items {
		_, scope := from(it)
		if by[scope] == nil {
			by[scope] = &message{}
			by[scope].blob(1, scopeOf(scope))
			order = append(order, scope)
		}
		by[scope].blob(2, item(it))
	}
	of, _ := from(items[0])
	var all, out message
	all.blob(1, attributes(nil, 1, of.Attributes()))
	for _, scope := range order {
		by[scope].text(3, scope.SchemaURL)
		all.blob(2, *by[scope])
	}
	all.text(3, of.SchemaURL())
	out.blob(1, all)
	return out
}

func scopeOf(s instrumentation.Scope) message {
	var m message
	m.text(1, s.Name)
	m.text(2, s.Version)
	return attributes(m, 3, s.Attributes.ToSlice())
}

func tracesOf(batch []sdktrace.ReadOnlySpan) message {
	return grouped(batch, func(s sdktrace.ReadOnlySpan) (*resource.Resource, instrumentation.Scope) {
		return s.Resource(), s.InstrumentationScope()
	}, spanOf)
}

func spanOf(s sdktrace.ReadOnlySpan) message {
	var m message
	m.context(1, s.SpanContext())
	if id := s.Parent().SpanID(); id.IsValid() {
		m.blob(4, id[:])
	}
	m.text(5, s.Name())
	m.count(6, uint64(max(0, s.SpanKind()))) // of the same numbers
	m.fixed64(7, nanos(s.StartTime()))
	m.fixed64(8, nanos(s.EndTime()))
	m = attributes(m, 9, s.Attributes())
	m.count(10, dropped(s.DroppedAttributes()))
	for _, e := range s.Events() {
		var event message
		event.fixed64(1, nanos(e.Time))
		event.text(2, e.Name)
		event = attributes(event, 3, e.Attributes)
		event.count(4, dropped(e.DroppedAttributeCount))
		m.blob(11, event)
	}
	m.count(12, dropped(s.DroppedEvents()))
	for _, l := range s.Links() {
		var link message
		link.context(1, l.SpanContext)
		link = attributes(link, 4, l.Attributes)
		link.count(5, dropped(l.DroppedAttributeCount))
		link.fixed32(6, flags(l.SpanContext.TraceFlags(), l.SpanContext))
		m.blob(13, link)
	}
	m.count(14, dropped(s.DroppedLinks()))
	var status message
	status.text(2, s.Status().Description)
	status.count(3, map[codes.Code]uint64{codes.Ok: 1, codes.Error: 2}[s.Status().Code])
	m.blob(15, status)
	m.fixed32(16, flags(s.SpanContext().TraceFlags(), s.Parent()))
	return m
}

// context adds the three fields that name a span.
func (m *message) context(first protowire.Number, c trace.SpanContext) {
	id, span := c.TraceID(), c.SpanID()
	m.blob(first, id[:])
	m.blob(first+1, span[:])
	m.text(first+2, c.TraceState().String())
}

// flags are those of the W3C in the lowest eight bits; bit 8 says that bit 9 is known: whether the
// parent is in another process.
func flags(f trace.TraceFlags, parent trace.SpanContext) uint32 {
	return uint32(f) | 1<<8 | uint32(flag(parent.IsRemote()))<<9
}

func dropped(n int) uint64 { return uint64(max(0, n)) }

// metricsOf is the request for metrics.
func metricsOf(all *metricdata.ResourceMetrics) message {
	type one struct {
		scope instrumentation.Scope
		metricdata.Metrics
	}
	var flat []one
	for _, s := range all.ScopeMetrics {
		for _, m := range s.Metrics {
			flat = append(flat, one{s.Scope, m})
		}
	}
	return grouped(flat, func(m one) (*resource.Resource, instrumentation.Scope) { return all.Resource, m.scope },
		func(m one) message { return metricOf(m.Metrics) })
}

// metricOf converts the aggregations that the instruments of package telemetry have.
func metricOf(of metricdata.Metrics) message {
	var m message
	m.text(1, of.Name)
	m.text(2, of.Description)
	m.text(3, of.Unit)
	switch a := of.Data.(type) {
	case metricdata.Gauge[int64]:
		m.blob(5, numbers(a.DataPoints))
	case metricdata.Sum[int64]:
		m.blob(7, sum(a))
	case metricdata.Sum[float64]:
		m.blob(7, sum(a))
	case metricdata.Histogram[int64]:
		m.blob(9, histogram(a))
	case metricdata.Histogram[float64]:
		m.blob(9, histogram(a))
	}
	return m
}

func sum[N int64 | float64](s metricdata.Sum[N]) message {
	m := numbers(s.DataPoints)
	m.count(2, since(s.Temporality))
	m.count(3, flag(s.IsMonotonic))
	return m
}

func numbers[N int64 | float64](points []metricdata.DataPoint[N]) message {
	var m message
	for _, p := range points {
		var point message
		point.fixed64(2, nanos(p.StartTime))
		point.fixed64(3, nanos(p.Time))
		switch v := any(p.Value).(type) {
		case int64:
			point.fixed64(6, uint64(v)) // its two's complement
		case float64:
			point.double(4, v)
		}
		m.blob(1, attributes(point, 7, p.Attributes.ToSlice()))
	}
	return m
}

func histogram[N int64 | float64](h metricdata.Histogram[N]) message {
	var m message
	for _, p := range h.DataPoints {
		var point message
		point.fixed64(2, nanos(p.StartTime))
		point.fixed64(3, nanos(p.Time))
		point.fixed64(4, p.Count)
		point.double(5, float64(p.Sum))
		packed(&point, 6, p.BucketCounts, func(n uint64) uint64 { return n })
		packed(&point, 7, p.Bounds, math.Float64bits)
		point = attributes(point, 9, p.Attributes.ToSlice())
		if v, ok := p.Min.Value(); ok {
			point.double(11, float64(v))
		}
		if v, ok := p.Max.Value(); ok {
			point.double(12, float64(v))
		}
		m.blob(1, point)
	}
	m.count(2, since(h.Temporality))
	return m
}

func since(t metricdata.Temporality) uint64 {
	if t == metricdata.DeltaTemporality {
		return 1
	}
	return 2 // from the start
}

func logsOf(batch []sdklog.Record) message {
	return grouped(batch, func(r sdklog.Record) (*resource.Resource, instrumentation.Scope) {
		return r.Resource(), r.InstrumentationScope()
	}, recordOf)
}

func recordOf(r sdklog.Record) message {
	var m message
	m.fixed64(1, nanos(r.Timestamp()))
	m.count(2, uint64(max(0, r.Severity()))) // of the same numbers
	m.text(3, r.SeverityText())
	m.blob(5, value(r.Body()))
	r.WalkAttributes(func(kv attribute.KeyValue) bool {
		m = attributes(m, 6, []attribute.KeyValue{kv})
		return true
	})
	m.count(7, dropped(r.DroppedAttributes()))
	m.fixed32(8, uint32(r.TraceFlags()))
	if id := r.TraceID(); id.IsValid() {
		m.blob(9, id[:])
	}
	if id := r.SpanID(); id.IsValid() {
		m.blob(10, id[:])
	}
	m.fixed64(11, nanos(r.ObservedTimestamp()))
	m.text(12, r.EventName())
	return m
}

// attributes adds a field for each attribute.
func attributes(m message, number protowire.Number, all []attribute.KeyValue) message {
	for _, kv := range all {
		var pair message
		pair.text(1, string(kv.Key))
		pair.blob(2, value(kv.Value))
		m.blob(number, pair)
	}
	return m
}

// value is a oneof, so that the field is there even if it is zero. It has the types that attributes of
// package telemetry and of slog have; others become text.
func value(v attribute.Value) message {
	var m message
	switch v.Type() {
	case attribute.BOOL:
		m = protowire.AppendVarint(protowire.AppendTag(m, 2, protowire.VarintType), flag(v.AsBool()))
	case attribute.INT64:
		m = protowire.AppendVarint(protowire.AppendTag(m, 3, protowire.VarintType), uint64(v.AsInt64())) // its two's complement
	case attribute.FLOAT64:
		m.double(4, v.AsFloat64())
	case attribute.STRINGSLICE:
		var all message
		for _, text := range v.AsStringSlice() {
			all.blob(1, value(attribute.StringValue(text)))
		}
		m.blob(5, all)
	case attribute.MAP:
		m.blob(6, attributes(nil, 1, v.AsMap()))
	default:
		m.blob(1, []byte(v.String()))
	}
	return m
}

// nanos is a time as the protocol has it, and 0 for none.
func nanos(t time.Time) uint64 { return uint64(max(0, t.UnixNano())) }
