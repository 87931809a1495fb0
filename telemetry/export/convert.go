package export

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
)

// metricsOf are metrics as the protocol has them.
func metricsOf(all *metricdata.ResourceMetrics) *metricspb.ResourceMetrics {
	out := &metricspb.ResourceMetrics{Resource: resourceOf(all.Resource)}
	for _, s := range all.ScopeMetrics {
		scope := &metricspb.ScopeMetrics{Scope: scopeOf(s.Scope), SchemaUrl: s.Scope.SchemaURL}
		for _, m := range s.Metrics {
			scope.Metrics = append(scope.Metrics, metricOf(m))
		}
		out.ScopeMetrics = append(out.ScopeMetrics, scope)
	}
	return out
}

// metricOf converts the aggregations that the instruments of package telemetry have.
func metricOf(m metricdata.Metrics) *metricspb.Metric {
	out := &metricspb.Metric{Name: m.Name, Description: m.Description, Unit: m.Unit}
	switch a := m.Data.(type) {
	case metricdata.Gauge[int64]:
		out.Data = &metricspb.Metric_Gauge{Gauge: &metricspb.Gauge{DataPoints: numbers(a.DataPoints)}}
	case metricdata.Sum[int64]:
		out.Data = sum(a)
	case metricdata.Sum[float64]:
		out.Data = sum(a)
	case metricdata.Histogram[int64]:
		out.Data = histogram(a)
	case metricdata.Histogram[float64]:
		out.Data = histogram(a)
	}
	return out
}

func sum[N int64 | float64](s metricdata.Sum[N]) *metricspb.Metric_Sum {
	return &metricspb.Metric_Sum{Sum: &metricspb.Sum{
		AggregationTemporality: since(s.Temporality), IsMonotonic: s.IsMonotonic, DataPoints: numbers(s.DataPoints)}}
}

func numbers[N int64 | float64](points []metricdata.DataPoint[N]) []*metricspb.NumberDataPoint {
	out := make([]*metricspb.NumberDataPoint, 0, len(points))
	for _, p := range points {
		n := &metricspb.NumberDataPoint{Attributes: attributes(p.Attributes.ToSlice()), StartTimeUnixNano: nanos(p.StartTime), TimeUnixNano: nanos(p.Time)}
		switch v := any(p.Value).(type) {
		case int64:
			n.Value = &metricspb.NumberDataPoint_AsInt{AsInt: v}
		case float64:
			n.Value = &metricspb.NumberDataPoint_AsDouble{AsDouble: v}
		}
		out = append(out, n)
	}
	return out
}

func histogram[N int64 | float64](h metricdata.Histogram[N]) *metricspb.Metric_Histogram {
	out := &metricspb.Histogram{AggregationTemporality: since(h.Temporality)}
	for _, p := range h.DataPoints {
		out.DataPoints = append(out.DataPoints, &metricspb.HistogramDataPoint{
			Attributes: attributes(p.Attributes.ToSlice()), StartTimeUnixNano: nanos(p.StartTime), TimeUnixNano: nanos(p.Time),
			Count: p.Count, Sum: new(float64(p.Sum)), BucketCounts: p.BucketCounts, ExplicitBounds: p.Bounds,
			Min: extreme(p.Min), Max: extreme(p.Max),
		})
	}
	return &metricspb.Metric_Histogram{Histogram: out}
}

func extreme[N int64 | float64](e metricdata.Extrema[N]) *float64 {
	v, ok := e.Value()
	if !ok {
		return nil
	}
	return new(float64(v))
}

func since(t metricdata.Temporality) metricspb.AggregationTemporality {
	if t == metricdata.DeltaTemporality {
		return metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA
	}
	return metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE
}

// logsOf are records, of one resource and scope by scope, as the protocol has them.
func logsOf(batch []sdklog.Record) *logspb.ResourceLogs {
	out, scopes := &logspb.ResourceLogs{}, map[instrumentation.Scope]*logspb.ScopeLogs{}
	for _, r := range batch {
		out.Resource = resourceOf(r.Resource())
		from := r.InstrumentationScope()
		if scopes[from] == nil {
			scopes[from] = &logspb.ScopeLogs{Scope: scopeOf(from), SchemaUrl: from.SchemaURL}
			out.ScopeLogs = append(out.ScopeLogs, scopes[from])
		}
		scopes[from].LogRecords = append(scopes[from].LogRecords, recordOf(r))
	}
	return out
}

func recordOf(r sdklog.Record) *logspb.LogRecord {
	out := &logspb.LogRecord{
		TimeUnixNano: nanos(r.Timestamp()), ObservedTimeUnixNano: nanos(r.ObservedTimestamp()), EventName: r.EventName(),
		SeverityNumber: logspb.SeverityNumber(r.Severity()), SeverityText: r.SeverityText(), // of the same numbers
		Body: value(r.Body()), DroppedAttributesCount: uint32(r.DroppedAttributes()), Flags: uint32(r.TraceFlags()),
	}
	r.WalkAttributes(func(kv attribute.KeyValue) bool {
		out.Attributes = append(out.Attributes, attributes([]attribute.KeyValue{kv})...)
		return true
	})
	if id := r.TraceID(); id.IsValid() {
		out.TraceId = id[:]
	}
	if id := r.SpanID(); id.IsValid() {
		out.SpanId = id[:]
	}
	return out
}

func resourceOf(r *resource.Resource) *resourcepb.Resource {
	return &resourcepb.Resource{Attributes: attributes(r.Attributes())}
}

func scopeOf(s instrumentation.Scope) *common.InstrumentationScope {
	return &common.InstrumentationScope{Name: s.Name, Version: s.Version, Attributes: attributes(s.Attributes.ToSlice())}
}

func attributes(all []attribute.KeyValue) []*common.KeyValue {
	out := make([]*common.KeyValue, 0, len(all))
	for _, kv := range all {
		out = append(out, &common.KeyValue{Key: string(kv.Key), Value: value(kv.Value)})
	}
	return out
}

func value(v attribute.Value) *common.AnyValue {
	switch v.Type() {
	case attribute.EMPTY:
		return &common.AnyValue{}
	case attribute.BOOL:
		return &common.AnyValue{Value: &common.AnyValue_BoolValue{BoolValue: v.AsBool()}}
	case attribute.INT64:
		return &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: v.AsInt64()}}
	case attribute.FLOAT64:
		return &common.AnyValue{Value: &common.AnyValue_DoubleValue{DoubleValue: v.AsFloat64()}}
	case attribute.BYTESLICE:
		return &common.AnyValue{Value: &common.AnyValue_BytesValue{BytesValue: v.AsByteSlice()}}
	case attribute.BOOLSLICE:
		return array(v.AsBoolSlice(), attribute.BoolValue)
	case attribute.INT64SLICE:
		return array(v.AsInt64Slice(), attribute.Int64Value)
	case attribute.FLOAT64SLICE:
		return array(v.AsFloat64Slice(), attribute.Float64Value)
	case attribute.STRINGSLICE:
		return array(v.AsStringSlice(), attribute.StringValue)
	case attribute.SLICE:
		return array(v.AsSlice(), func(v attribute.Value) attribute.Value { return v })
	case attribute.MAP:
		return &common.AnyValue{Value: &common.AnyValue_KvlistValue{KvlistValue: &common.KeyValueList{Values: attributes(v.AsMap())}}}
	default:
		return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: v.String()}}
	}
}

func array[T any](all []T, of func(T) attribute.Value) *common.AnyValue {
	out := &common.ArrayValue{}
	for _, v := range all {
		out.Values = append(out.Values, value(of(v)))
	}
	return &common.AnyValue{Value: &common.AnyValue_ArrayValue{ArrayValue: out}}
}

// nanos is a time as the protocol has it, and 0 for none.
func nanos(t time.Time) uint64 { return uint64(max(0, t.UnixNano())) }
