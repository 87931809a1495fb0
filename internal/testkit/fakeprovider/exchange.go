package fakeprovider

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/pawl-run/pawl"
)

// answer makes what goes out for a request: a refusal, the fault in place of a
// reply, or the reply of the brain with the fault in it. It is nil when the
// client has gone.
func (s *Server) answer(ctx context.Context, in *inbound, fault Fault) *outcome {
	s.check(in)
	s.publish(in)
	d, err := fault.deed(in)
	if err != nil {
		in.Problems = append(in.Problems, err.Error())
		return in.refuse(&refusal{class: pawl.ClassUnknown, status: http.StatusNotImplemented, message: err.Error()})
	}
	x := strike{in: in, k: fault.K}
	if in.stale {
		return &outcome{silent: true, ending: reset, struck: true}
	}
	if d.instead != nil {
		out := d.instead(x)
		out.struck = true
		return out
	}
	if len(in.problems) > 0 {
		return in.refuse(in.problems[0])
	}
	in.Decoded.Attempt = s.memory.attempt(in.Body)
	a, failed := in.resumed(), (*outcome)(nil)
	if a == nil {
		a, failed = s.ask(ctx, in)
	}
	if ctx.Err() != nil {
		return nil
	}
	if failed != nil {
		return failed
	}
	struck := false
	if d.reply != nil {
		struck = d.reply(x, a)
	}
	out := in.write(a, d, x, &struck)
	if d.bytes != nil && (d.reply == nil || struck) {
		struck = d.bytes(x, out)
	}
	out.struck = struck
	return out
}

// ask asks the brain for its whole reply. A brain that says its stream broke
// off or the connection was lost, has that happen.
func (s *Server) ask(ctx context.Context, in *inbound) (*answer, *outcome) {
	var partial pawl.Reply
	for chunk, err := range s.brain.Stream(ctx, in.Decoded) {
		if err != nil {
			me, ok := errors.AsType[*pawl.ModelError](err)
			if !ok || me.Class != pawl.ClassTruncated && me.Class != pawl.ClassNetwork && me.Class != pawl.ClassEmpty {
				return nil, in.refuse(refusalOf(err))
			}
			a := answerOf(in, &partial)
			if me.Usage != (pawl.Usage{}) {
				a.usage = me.Usage
			}
			none := false
			switch out := in.write(a, deed{}, strike{in: in}, &none); {
			case me.Class == pawl.ClassNetwork:
				return nil, &outcome{silent: true, ending: reset}
			case me.Class == pawl.ClassTruncated && in.Stream:
				frames := in.dialect.stream(in, a)
				over := slices.IndexFunc(frames, func(f frame) bool { return f.part == finish || f.part == closing })
				out.stream(in, frames[:max(0, over)])
				return nil, out
			case me.Class == pawl.ClassTruncated:
				out.cut(0, whole)
				return nil, out
			}
			return a, nil
		}
		if chunk.Reply != nil {
			return answerOf(in, chunk.Reply), nil
		}
		if chunk.Thinking != "" {
			partial.Parts = append(partial.Parts, pawl.Thinking{Text: chunk.Thinking})
		}
		if chunk.Text != "" {
			partial.Parts = append(partial.Parts, pawl.Text{Text: chunk.Text})
		}
	}
	return nil, in.refuse(&refusal{class: pawl.ClassUnknown, message: "the brain ended without a reply"})
}

// write puts an answer on the wire.
func (in *inbound) write(a *answer, d deed, x strike, struck *bool) *outcome {
	out := &outcome{status: http.StatusOK, header: http.Header{"Request-Id": {in.id("req_", 0)}, "X-Request-Id": {in.id("req_", 0)}}}
	if !in.Stream {
		out.header.Set("Content-Type", "application/json")
		out.units = [][]byte{append(marshal(in.dialect.whole(in, a)), '\n')}
		if d.frames != nil {
			*struck = false
		}
		return out
	}
	frames := in.dialect.stream(in, a)
	if d.frames != nil && (d.reply == nil || *struck) {
		frames, *struck = d.frames(x, a, frames)
	}
	out.stream(in, frames)
	return out
}

// stream writes frames as server-sent events.
func (o *outcome) stream(in *inbound, frames []frame) {
	if o.header == nil {
		o.header = http.Header{}
	}
	o.status, o.units, o.pulse = http.StatusOK, nil, []byte(in.dialect.pulse)
	o.header.Set("Content-Type", "text/event-stream; charset=utf-8")
	o.header.Set("Cache-Control", "no-cache")
	eol := "\n"
	if in.Wire == Google {
		eol = "\r\n"
		o.header.Set("Content-Type", "text/event-stream")
	}
	for _, f := range frames {
		o.units = append(o.units, f.bytes(eol))
	}
}

// refuse writes a refusal.
func (in *inbound) refuse(r *refusal) *outcome {
	r.say(in.Wire).id = in.id("req_", 0)
	h := r.header()
	h.Set("Request-Id", r.id)
	h.Set("X-Request-ID", r.id)
	return &outcome{status: r.status, header: h, units: [][]byte{append(marshal(in.dialect.refuse(r)), '\n')}, pulse: []byte(" ")}
}

func formatSeconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) }
