package pawl

import "github.com/pawl-run/pawl/internal/wire"

func (RunStarted) event()          {}
func (RunPaused) event()           {}
func (RunResumed) event()          {}
func (RunExtended) event()         {}
func (RunForked) event()           {}
func (RunStopped) event()          {}
func (Observed) event()            {}
func (Measured) event()            {}
func (ModelCalled) event()         {}
func (ModelReplied) event()        {}
func (ModelFailed) event()         {}
func (PlanRejected) event()        {}
func (ToolStarted) event()         {}
func (ToolFinished) event()        {}
func (ToolReused) event()          {}
func (ToolRefused) event()         {}
func (ToolDoubted) event()         {}
func (ToolSettled) event()         {}
func (ApprovalRequested) event()   {}
func (ApprovalDecided) event()     {}
func (ApprovalExpired) event()     {}
func (ApprovalInvalidated) event() {}
func (InputRequested) event()      {}
func (InputGiven) event()          {}
func (ClientToolRequested) event() {}
func (ClientToolReturned) event()  {}
func (Reflected) event()           {}
func (Grounded) event()            {}
func (CausesFound) event()         {}
func (ProgressJudged) event()      {}
func (ProgressLogged) event()      {}
func (CancelRequested) event()     {}
func (ContextCompacted) event()    {}
func (MemoryStored) event()        {}
func (ChildStarted) event()        {}
func (ChildStopped) event()        {}
func (HookDirected) event()        {}
func (Noted) event()               {}
func (ModelDelta) event()          {}

// encodeEvent writes an event's fields and returns its type. It and decodeKept
// are plain switches, not a registry, and Type is asked of each kind by itself:
// thus the compiler keeps the events that are written off the heap. The kinds
// every turn has come first, since a function has room on its stack for all
// kinds it deals with, and that of all kinds doubles the stack of every run.
func encodeEvent(c *wire.Coder, event Event) string {
	switch e := event.(type) {
	case ModelCalled:
		e.code(c)
		return e.Type()
	case ModelReplied:
		e.code(c)
		return e.Type()
	case ToolStarted:
		e.code(c)
		return e.Type()
	case ToolFinished:
		e.code(c)
		return e.Type()
	}
	if _, ok := event.(RunStarted); ok {
		return encodeStart(c, event)
	}
	return encodeOther(c, event)
}

//go:noinline
func decodeStart(c *wire.Coder) Event {
	var e RunStarted
	e.code(c)
	return e
}

//go:noinline
func encodeStart(c *wire.Coder, event Event) string {
	e := event.(RunStarted)
	e.code(c)
	return e.Type()
}

//go:noinline
func encodeOther(c *wire.Coder, event Event) string {
	switch e := event.(type) {
	case RunPaused:
		e.code(c)
		return e.Type()
	case RunResumed:
		e.code(c)
		return e.Type()
	case RunExtended:
		e.code(c)
		return e.Type()
	case RunForked:
		e.code(c)
		return e.Type()
	case RunStopped:
		e.code(c)
		return e.Type()
	case Observed:
		e.code(c)
		return e.Type()
	case Measured:
		e.code(c)
		return e.Type()
	case ModelFailed:
		e.code(c)
		return e.Type()
	case PlanRejected:
		e.code(c)
		return e.Type()
	case ToolReused:
		e.code(c)
		return e.Type()
	case ToolRefused:
		e.code(c)
		return e.Type()
	case ToolDoubted:
		e.code(c)
		return e.Type()
	case ToolSettled:
		e.code(c)
		return e.Type()
	case ApprovalRequested:
		e.code(c)
		return e.Type()
	case ApprovalDecided:
		e.code(c)
		return e.Type()
	case ApprovalExpired:
		e.code(c)
		return e.Type()
	case ApprovalInvalidated:
		e.code(c)
		return e.Type()
	case InputRequested:
		e.code(c)
		return e.Type()
	case InputGiven:
		e.code(c)
		return e.Type()
	case ClientToolRequested:
		e.code(c)
		return e.Type()
	case ClientToolReturned:
		e.code(c)
		return e.Type()
	case Reflected:
		e.code(c)
		return e.Type()
	case Grounded:
		e.code(c)
		return e.Type()
	case CausesFound:
		e.code(c)
		return e.Type()
	case ProgressJudged:
		e.code(c)
		return e.Type()
	case ProgressLogged:
		e.code(c)
		return e.Type()
	case CancelRequested:
		e.code(c)
		return e.Type()
	case ContextCompacted:
		e.code(c)
		return e.Type()
	case MemoryStored:
		e.code(c)
		return e.Type()
	case ChildStarted:
		e.code(c)
		return e.Type()
	case ChildStopped:
		e.code(c)
		return e.Type()
	case HookDirected:
		e.code(c)
		return e.Type()
	case Noted:
		e.code(c)
		return e.Type()
	case ModelDelta:
		e.code(c)
		return e.Type()
	}
	return ""
}

// A Room is memory that entries are read into which are only folded, one after
// the other, so that reading them takes none. The event of such an entry may be
// a pointer, which [State.Fold] and [Transcript.Add] take for the event itself
// and which nobody else may see; it stands until the next entry is read.
type Room struct {
	called   ModelCalled
	replied  ModelReplied
	started  ToolStarted
	finished ToolFinished
}

// decode reads the fields of an event of the given type; nil: no such type. The
// kinds every turn has are the ones read into a room, if there is one.
func (r *Room) decode(c *wire.Coder, typ string) Event {
	if r == nil {
		return decodeKept(c, typ)
	}
	switch typ {
	case "model.called":
		r.called = ModelCalled{}
		r.called.code(c)
		return &r.called
	case "model.replied":
		r.replied = ModelReplied{}
		r.replied.code(c)
		return &r.replied
	case "tool.started":
		r.started = ToolStarted{}
		r.started.code(c)
		return &r.started
	case "tool.finished":
		r.finished = ToolFinished{}
		r.finished.code(c)
		return &r.finished
	}
	return decodeKept(c, typ)
}

// decodeKept has a function to itself, since the stack of a run would else have
// room for an event of every kind.
//
//go:noinline
func decodeKept(c *wire.Coder, typ string) Event {
	switch typ {
	case "model.called":
		var e ModelCalled
		e.code(c)
		return e
	case "model.replied":
		var e ModelReplied
		e.code(c)
		return e
	case "tool.started":
		var e ToolStarted
		e.code(c)
		return e
	case "tool.finished":
		var e ToolFinished
		e.code(c)
		return e
	case "run.started":
		return decodeStart(c)
	case "run.paused":
		var e RunPaused
		e.code(c)
		return e
	case "run.resumed":
		var e RunResumed
		e.code(c)
		return e
	case "run.extended":
		var e RunExtended
		e.code(c)
		return e
	case "run.forked":
		var e RunForked
		e.code(c)
		return e
	case "run.stopped":
		var e RunStopped
		e.code(c)
		return e
	case "observed":
		var e Observed
		e.code(c)
		return e
	case "measured":
		var e Measured
		e.code(c)
		return e
	case "model.failed":
		var e ModelFailed
		e.code(c)
		return e
	case "plan.rejected":
		var e PlanRejected
		e.code(c)
		return e
	case "tool.reused":
		var e ToolReused
		e.code(c)
		return e
	case "tool.refused":
		var e ToolRefused
		e.code(c)
		return e
	case "tool.doubted":
		var e ToolDoubted
		e.code(c)
		return e
	case "tool.settled":
		var e ToolSettled
		e.code(c)
		return e
	case "approval.requested":
		var e ApprovalRequested
		e.code(c)
		return e
	case "approval.decided":
		var e ApprovalDecided
		e.code(c)
		return e
	case "approval.expired":
		var e ApprovalExpired
		e.code(c)
		return e
	case "approval.invalidated":
		var e ApprovalInvalidated
		e.code(c)
		return e
	case "input.requested":
		var e InputRequested
		e.code(c)
		return e
	case "input.given":
		var e InputGiven
		e.code(c)
		return e
	case "client_tool.requested":
		var e ClientToolRequested
		e.code(c)
		return e
	case "client_tool.returned":
		var e ClientToolReturned
		e.code(c)
		return e
	case "reflected":
		var e Reflected
		e.code(c)
		return e
	case "grounded":
		var e Grounded
		e.code(c)
		return e
	case "causes.found":
		var e CausesFound
		e.code(c)
		return e
	case "progress.judged":
		var e ProgressJudged
		e.code(c)
		return e
	case "progress.logged":
		var e ProgressLogged
		e.code(c)
		return e
	case "cancel.requested":
		var e CancelRequested
		e.code(c)
		return e
	case "context.compacted":
		var e ContextCompacted
		e.code(c)
		return e
	case "memory.stored":
		var e MemoryStored
		e.code(c)
		return e
	case "child.started":
		var e ChildStarted
		e.code(c)
		return e
	case "child.stopped":
		var e ChildStopped
		e.code(c)
		return e
	case "hook.directed":
		var e HookDirected
		e.code(c)
		return e
	case "noted":
		var e Noted
		e.code(c)
		return e
	case "model.delta":
		var e ModelDelta
		e.code(c)
		return e
	}
	return nil
}
