package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/jsonin"
	"github.com/pawl-run/pawl/team"
)

// behind returns the runs in the background that a run has begun, which in a fork excludes
// those of the original.
func behind(s *pawl.State) []pawl.Classified {
	return slices.DeleteFunc(s.Background(), func(c pawl.Classified) bool {
		return !strings.HasPrefix(c.Child, s.Run()+".")
	})
}

// keep has a run go on in the background.
func (k *children) keep(c *child) {
	if c.live == nil {
		return
	}
	if k.live == nil {
		k.live = map[string]*Handle{}
	}
	k.live[c.run] = c.live
}

// suspendBegun suspends the background run that a call has begun, if the parent does not keep it.
func (t *toolCall) suspendBegun() {
	if c := t.child; c != nil && c.behind && c.live != nil {
		c.live.driver.inbox.suspend()
	}
}

// launch resumes the runs in the background that the previous owner drove. If that fails,
// collecting one says why.
func (k *children) launch() {
	r := k.rec
	if k.launched || r.machine == nil {
		return
	}
	k.launched = true
	for _, b := range behind(r.state) {
		if c, _ := r.state.Call(b.Call.ID); c.Phase != pawl.PhaseAnswered {
			continue // its call begins it again
		}
		agent, input, err := r.machine.Child(r.state, b)
		if err == nil {
			c := &child{engine: r.engine, parent: r.lease.Run, run: b.Child, agent: agent, input: input, recorded: true, hasty: true, hooks: r.hooks.above, above: k.above()}
			c.live, err = c.drive(r.base)
			k.keep(c)
		}
		if err != nil && !errors.Is(err, errClosed) {
			r.log(slog.LevelWarn, "a run in the background cannot be resumed", slog.String("child", b.Child), r.engine.because(err))
		}
	}
}

// suspend suspends the runs in the background, before this run is released: its next owner
// resumes them.
func (k *children) suspend() {
	for _, h := range k.live {
		h.driver.inbox.suspend()
	}
	for _, h := range k.live {
		<-h.done
	}
	k.live = nil
}

// rest waits until nothing works in the background, before this run waits for somebody. It
// reports false if there is something to read first.
func (k *children) rest(b *inbox) bool {
	for _, h := range k.live {
		select {
		case <-h.done:
		case <-b.life.Done():
			return false
		case <-b.wake:
			return false
		}
	}
	return true
}

// end cancels the child. If it has ended by itself, its answer is not lost.
func (c *child) end(ctx context.Context) (pawl.Output, error) {
	cancelled := c.cancel(c.why)
	if c.live != nil {
		c.live.over(cancelled)
	}
	state, _, err := c.engine.loadChild(context.WithoutCancel(ctx), c.run)
	if err == nil && !state.Status().Ended() {
		err = cancelled
	}
	if err != nil {
		return pawl.Output{}, c.broke(err)
	}
	c.state, c.result = state, state.Result()
	if !c.result.Status.Ended() {
		c.elsewhere()
	}
	if c.result.Status != pawl.StatusCancelled {
		return c.output()
	}
	return pawl.Output{JSON: fmt.Appendf(nil, `{"id":%s,"status":"cancelled"}`, jsonin.Quote(c.call))}, nil
}

// onBackground has a call deal with a run in the background.
func (t *toolCall) onBackground(r *recorder, what team.BackgroundTool) {
	of, args, err := team.Begun(r.state, t.inv.Args, func(run string) bool {
		h := t.children.live[run]
		return h == nil || h.ended()
	})
	if c, _ := r.state.Call(t.inv.Call); c.Child != "" { // it was dealing with one when the run lost its owner
		of, err = t.begunBefore(r, c.Child)
	}
	switch {
	case err != nil:
		t.tool = invalidChild{t.tool, err}
	case what == team.Message:
		t.tool = messageTo{t.tool, r.engine, of, byParent(r.lease.Run), args.Text, r.state.Tainted()}
	default:
		t.behind, t.classified.Child, t.classified.Limits = &of, of.Child, of.Limits
		if what == team.Cancel {
			t.why = args.Why
		}
	}
}

// begunBefore returns the run that a call dealt with before.
func (t *toolCall) begunBefore(r *recorder, child string) (pawl.Classified, error) {
	for _, b := range r.state.Background() {
		if b.Child == child {
			return b, nil
		}
	}
	state, _, err := r.engine.loadChild(r.base, child)
	begun, ok := r.state.Call(child[strings.LastIndexByte(child, '.')+1:])
	if err == nil && !ok {
		err = fmt.Errorf("run %s was not begun by a call of this run", child)
	}
	return pawl.Classified{Call: begun.Call, Child: child, Limits: new(state.Limits())}, err
}

// ended reports whether the run of the handle is not driven any more.
func (r *Handle) ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// over waits until the run is not driven any more. If it could not be cancelled, it is suspended,
// unless it has ended by itself.
func (r *Handle) over(cancelled error) {
	if cancelled != nil {
		r.driver.inbox.suspend()
	}
	<-r.done
}

// messageTo is a tool that says something to a run in the background.
type messageTo struct {
	pawl.Tool
	engine  *Engine
	to      pawl.Classified
	by      string
	text    string
	tainted bool // who says it
}

// Run sends the message. The call names the message, so that it is sent once.
func (m messageTo) Run(ctx context.Context, inv pawl.Invocation) (pawl.Output, error) {
	request := sayRequest + inv.Run + "." + inv.Call
	state, err := Load(ctx, m.engine.journal, m.to.Child)
	if err != nil {
		return pawl.Output{}, err
	}
	sent := pawl.Output{JSON: []byte(`"sent"`)}
	if m.engine.inbox != nil {
		for l, err := range m.engine.inbox.Signals(ctx, m.to.Child, 0) {
			if err == nil && l.Request == request && l.ID <= state.Signal() {
				return sent, nil // before a crash
			}
		}
	}
	switch {
	case state.Status().Ended():
		return pawl.Output{}, fmt.Errorf("%s has ended: collect its answer", m.to.Call.ID)
	case m.tainted && !state.Tainted() && hasFlow(state.Declaration()):
		return pawl.Output{}, fmt.Errorf("not sent: you have read untrusted text since you began %s, and its guard does not know that; cancel it and begin another", m.to.Call.ID)
	}
	if err := m.engine.say(ctx, m.to.Child, m.by, m.text, request, &SayOptions{}); err != nil {
		return pawl.Output{}, err
	}
	return sent, nil
}

// hasFlow reports whether a run has a guard on its data flow.
func hasFlow(d pawl.Declaration) bool {
	for range d.PoliciesOf("data_flow") {
		return true
	}
	return false
}
