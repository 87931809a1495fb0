package engine

import (
	"time"

	"github.com/pawl-run/pawl"
)

// groups orders the calls to run: those of one group run at once, each group
// after the one before. A Write is a group of its own, and so is a call of a tool
// that runs alone, and every call of a serial agent.
func groups(serial bool, a pawl.Act) (all [][]pawl.Disposed) {
	apart, begin := true, 0
	for i := range a.Calls {
		d := &a.Calls[i]
		if d.Do != pawl.RunCall {
			continue
		}
		info := d.Info()
		alone := serial || info.Alone || info.Effect == pawl.Write
		last := len(all) - 1
		switch {
		case alone || apart:
			all, begin = append(all, a.Calls[i:i+1:i+1]), i
		case i-begin == len(all[last]): // the group stands in one piece
			all[last] = a.Calls[begin : i+1 : i+1]
		default:
			all[last] = append(all[last], *d)
		}
		apart = alone
	}
	return all
}

// gathering runs the calls of a group beside each other: in call order, as many at
// once as the agent, their tools and the process allow.
type gathering struct {
	s       *session
	at      uint64
	jobs    []job
	waiting []*job // not started yet
	flying  int
	lanes   [2]int         // calls in flight
	tools   map[string]int // calls in flight, of tools that limit them
	tickets [2]*ticket     // in the queues of the pools
	done    chan *job
}

// gather runs a group. A call that has not started when the run is cancelled or
// parked, or when its time is over, stays open: the machine decides about it.
func (s *session) gather(at uint64, calls []pawl.Disposed) error {
	g := gathering{s: s, at: at, jobs: make([]job, len(calls)), waiting: make([]*job, len(calls)), done: make(chan *job, len(calls))}
	for i := range calls {
		g.jobs[i] = job{d: &calls[i], at: at, slot: s.slot(&calls[i])}
		g.waiting[i] = &g.jobs[i]
	}
	defer g.leave()
	return g.run()
}

// leave stops the calls that are still in flight, which is so after an error or a
// panic, and gives back what the group holds of the pools.
func (g *gathering) leave() {
	g.abandon()
	for i := range g.jobs {
		g.jobs[i].slot.free()
	}
	for kind, t := range g.tickets {
		if t != nil {
			pools[kind].leave(t)
		}
	}
}

// run starts the calls and waits for them. Those that have come back when it looks
// are recorded in one commit; none waits for one that has not.
func (g *gathering) run() error {
	ended := g.s.ctx.Done()
	for {
		g.heed()
		if len(g.waiting) > 0 && g.s.overdue(g.at, g.waiting[0].d) {
			g.waiting = nil
		}
		if err := g.start(); err != nil {
			return err
		}
		if g.flying == 0 && len(g.waiting) == 0 {
			return nil
		}
		if err := g.s.flush(); err != nil {
			return err
		}
		select {
		case j := <-g.done:
			g.back(j)
			for len(g.done) > 0 {
				g.back(<-g.done)
			}
		case <-g.s.alarm(g.next()): // in vain, if by then the job is over
			g.expire()
		case <-ended:
			ended = nil
		case <-g.s.wake:
		case <-g.tickets[0].granted():
		case <-g.tickets[1].granted():
		}
	}
}

// granted is closed when the ticket has its share; of no ticket it never is.
func (t *ticket) granted() <-chan struct{} {
	if t == nil {
		return nil
	}
	return t.ready
}

// start starts the calls that may, their intents durable first.
func (g *gathering) start() error {
	if len(g.waiting) == 0 {
		return nil
	}
	left := g.s.left(time.Now()) // as the entries have it: making them durable may take long
	var ready []*job
	kept := g.waiting[:0]
	for _, j := range g.waiting {
		most := j.d.Info().MaxParallel
		switch {
		case g.lanes[j.slot.lane] >= j.slot.most, most > 0 && g.tools[j.d.Call.Tool] >= most:
			kept = append(kept, j)
		case !g.admitted(&j.slot):
			kept = append(kept, j)
		case !g.s.holds(g.at, j.d): // its approval is asked for again
			j.slot.free()
		default:
			g.count(j, 1)
			g.s.intend(j, left)
			ready = append(ready, j)
		}
	}
	if g.waiting = kept; len(ready) == 0 {
		return nil
	}
	if err := g.s.announce(); err != nil {
		return err
	}
	now := time.Now()
	for _, j := range ready {
		j.due(now, left)
		j.depart(g.s.within(j.intent), g.done)
	}
	return nil
}

// admitted takes the share that a call needs of its pool, or queues for it.
func (g *gathering) admitted(l *slot) bool {
	t := g.tickets[l.kind]
	if t == nil {
		if l.try() {
			return true
		}
		g.tickets[l.kind] = pools[l.kind].wait(l.share)
		return false
	}
	select {
	case <-t.ready:
		g.tickets[l.kind], l.held = nil, true
		return true
	default:
		return false
	}
}

// count counts a call that is in flight, or with by = -1 no more.
func (g *gathering) count(j *job, by int) {
	g.flying += by
	g.lanes[j.slot.lane] += by
	if j.d.Info().MaxParallel > 0 {
		if g.tools == nil {
			g.tools = map[string]int{}
		}
		g.tools[j.d.Call.Tool] += by
	}
}

// back records a call that has come back, unless it was left behind before.
func (g *gathering) back(j *job) {
	if !j.over {
		j.ctx.cancel(nil)
		g.over(j, false)
	}
}

func (g *gathering) over(j *job, left bool) {
	j.over = true
	g.count(j, -1)
	g.s.finished(j, j.cut, left)
}

// inFlight yields the calls that run.
func (g *gathering) inFlight(yield func(*job) bool) {
	for i := range g.jobs {
		if j := &g.jobs[i]; !j.began.IsZero() && !j.over && !yield(j) {
			return
		}
	}
}

// heed does what the outside wants. A Write is let finish when the run is parked,
// since cutting it short would leave a doubt; what may be driven again is stopped.
func (g *gathering) heed() {
	cancel, park := g.s.called()
	if !cancel && !park {
		return
	}
	g.waiting = nil
	for j := range g.inFlight {
		switch {
		case cancel:
			j.stop(errCancelled)
		case !j.sheltered():
			j.stop(errParked)
		}
	}
}

// stop tells a call to stop, once.
func (j *job) stop(why error) {
	if j.cut == nil {
		j.cut = why
		j.deadline = time.Now().Add(grace(j.tool))
		j.ctx.cancel(why)
	}
}

// expire stops the calls whose time is over, and leaves those behind that were told.
func (g *gathering) expire() {
	now := time.Now()
	for j := range g.inFlight {
		switch {
		case j.deadline.After(now):
		case j.cut == nil:
			j.stop(errTimeout)
		default:
			g.over(j, true)
		}
	}
}

// next is when to look at the clock again.
func (g *gathering) next() time.Duration {
	var next time.Time
	for j := range g.inFlight {
		if next.IsZero() || j.deadline.Before(next) {
			next = j.deadline
		}
	}
	now := time.Now()
	if len(g.waiting) > 0 && (next.IsZero() || now.Add(g.s.left(now)).Before(next)) {
		return g.s.left(now)
	}
	return next.Sub(now)
}

// abandon cuts the calls short of a run that cannot go on here.
func (g *gathering) abandon() {
	for j := range g.inFlight {
		why := errCancelled
		if j.child != nil {
			why = errParked // whoever has the run now has its children, too
		}
		j.ctx.cancel(why)
	}
}
