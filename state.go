package pawl

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/meter"
	"github.com/pawl-run/pawl/internal/usercode"
	"github.com/pawl-run/pawl/internal/wire"
)

// State is a folded log: [State.Fold] applies the next entry, and all other methods only read.
// The zero State is a run that has not begun. A State must not be copied; [State.Clone] makes another.
//
// Results of methods belong to the caller and cost O(1), unless a method says otherwise. Many
// goroutines may read a State at the same time while none calls Fold or Gather.
type State struct {
	noCopy noCopy
	facts
}

// Internals returns what an engine and a window need of a State.
func (s *State) Internals() Internals { return Internals{s} }

// Internals has the methods of a State that only an engine, a journal's reader or a window needs:
// what is sent to the model, what was read from the inbox, what an import changed. Loops, policies
// and conditions do without.
type Internals struct{ *State }

// noCopy has go vet report a State that is copied.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// Clone returns an equal State that is independent of s. It costs O(open calls and notes).
func (s *State) Clone() *State {
	c := &State{facts: s.facts}
	c.turns, c.trail, c.exchanges, c.calls = slices.Clip(s.turns), slices.Clip(s.trail), slices.Clip(s.exchanges), slices.Clip(s.calls)
	c.open, c.tools, c.meters = slices.Clone(s.open), slices.Clone(s.tools), s.meters.Clone()
	c.notes, c.grants, c.unknown = maps.Clone(s.notes), slices.Clone(s.grants), maps.Clone(s.unknown)
	c.other, c.steps, c.missed = maps.Clone(s.other), maps.Clone(s.steps), maps.Clone(s.missed)
	c.inputs, c.followUps, c.found, c.gathered = slices.Clip(s.inputs), slices.Clip(s.followUps), slices.Clip(s.found), nil
	for i := range c.open {
		c.open[i] = new(*c.open[i])
	}
	return c
}

// put sets a value of a map that may not exist yet.
func put[V any](m *map[string]V, key string, v V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[key] = v
}

// facts are the fields of a State.
type facts struct {
	start     *RunStarted
	earlier   *State // of the run that this one continues; nil: none, or it is not known
	run       string
	seq       uint64
	time      time.Time
	created   time.Time
	iteration int
	asides    int // replies under purposes of the loop's own
	status    Status
	verdict   Verdict
	own       string // answer of the loop's own
	withheld  bool   // a policy kept the model's answer back
	epoch     uint64
	owner     string
	paused    *RunPaused
	cancel    *CancelRequested
	limits    Limits
	stop      string
	origin    imported
	signal    int64 // the last one taken in
	idle      int   // entries in a row that only remember something
	elapsed   time.Duration

	spend
	turn
	memo
	window

	turns    []Turn
	trail    []Track  // of the turns before the one that ended last
	track    Track    // of that one, which may still be measured
	calls    []*call  // answered, in call order
	inputs   []string // texts by people, in order
	notes    map[string]json.RawMessage
	tools    meter.Tally
	grants   []grant                  // what was approved for the run
	unknown  map[string]string        // digest of a Write whose outcome stays unknown, to its call
	gathered map[string]*gathered     // see [State.Gather]
	found    []string                 // tools that were deferred, in the order in which they were found
	other    map[string]*purposeReply // latest reply by purpose, turns apart
	steps    map[string]stepped       // a loop's steps, by name
	at       string                   // the step begun last
}

// purposeReply is a reply and the seq of its entry.
type purposeReply struct {
	Reply
	seq uint64
}

// spend is what the run has used.
type spend struct {
	usage      Usage
	cost       float64
	priced     bool
	modelCalls int
	toolCalls  int
	bytes      int // of conversation, for estimating input
	lastInput  int // input tokens of the last reply that reported them
	lastBytes  int // bytes of conversation it was for
	sentBytes  int // bytes of conversation of the request in flight
	meters     meter.Meters
	wire       Wire // of the run's models; zero: not known
	prefix     int
	asked      string // which system prompt the latest turn had; see systemOf
}

// turn is the present turn.
type turn struct {
	thinking   reservation  // of the model call in flight
	failure    *ModelFailed // the last attempt failed
	shortened  bool         // results were left out of it, because it was too long
	cut        bool         // a reply of this iteration met its limit, and the model was asked for a longer one
	tries      meter.Few    // failed attempts of one model in a row, by class; see [Class.tried]
	fallback   int          // which model was asked last: zero the agent's own, or one of its fallbacks
	attempt    int          // attempts of this turn
	reply      Reply
	malformed  string // why the reply is rejected
	replied    uint64 // its seq; zero: there is none
	open       []*call
	settled    bool   // the reply has no open calls and was not rejected
	withdrawn  bool   // a hook wants another in its place
	unsent     bool   // its calls are answered, and nothing has followed from them
	looped     bool   // the open calls are the loop's, not the reply's
	batch      int    // how many calls were opened at once, last
	byLoop     bool   // by the loop
	step       string // of the loop that the turn is; empty: it is none
	want       string // the schema the step's reply must follow
	refuted    bool   // it claimed to be done and the goal says no
	rejects    bool   // the calls being refused stand in a rejected reply
	rejections int    // rejections in this iteration
	rejected   int    // iterations in a row that ended in rejection
	whyNot     string
	finalAsked bool             // the landing answer has been tried
	counter    int              // calls so far, for their ids
	thought    uint64           // digest of what was thought
	missed     map[string]*miss // judges that failed, by purpose
}

// reservation is what a model call in flight may cost.
type reservation struct {
	made  bool
	usage Usage
	cost  float64

	auxiliary string // which model is asked, and the bytes it is sent
	fallback  int
	bytes     int
	talk      bool // the next request of the conversation begins with it
}

// memo is what the run knows of its progress.
type memo struct {
	observed        uint64 // seq of the latest observation
	sameObservation bool   // it looked at what the one before had looked at: the run did nothing between them
	resumed         uint64 // seq of the latest resumption
	acted           uint64 // seq of the latest thing that may have changed the world
	tainted         bool
	metric          float64
	measured        bool
	baseline        *Measured // before the first turn
	openIDs         []string
	look            *look // the latest observation; nil: there is none
	blind           int   // observations in a row that failed
	confidence      float64
	confident       bool
	complete        *wire.Completion
	final           *wire.Completion // the last answer at a limit
	resetIterations int              // turns that were over at the last reset
	tempo
	was       tempo // before the turn that was closed last
	judged    *ProgressJudged
	followUps []InputGiven     // messages to read when it would be done
	question  *InputRequested  // asked on behalf of no call
	denied    *ApprovalDecided // since the latest resumption
}

// look is an observation with what the goal was measured at then; nil: it was not.
type look struct {
	Observed
	measure *meter.Measure
}

// tempo is what closing a turn changes, kept so that it can be opened again.
type tempo struct {
	last       uint64 // digest of the turn's calls and results
	toolErrors int    // failing tool turns in a row
	stalled    int    // turns in a row that repeated the one before
}

// Run is the run's id.
func (s *State) Run() string { return s.run }

// Seq is the seq of the last entry folded.
func (s *State) Seq() uint64 { return s.seq }

// Time is the time of the last entry folded.
func (s *State) Time() time.Time { return s.time }

// Status returns the run's status. A run that lost its owner is still StatusRunning here; see
// runs.EffectiveStatus.
func (s *State) Status() Status { return s.status }

// Verdict returns how the run ended. While the run goes on, it does not hold.
func (s *State) Verdict() Verdict { return s.verdict }

// Declaration is what the run began with; the zero Declaration before it began.
func (s *State) Declaration() Declaration { return usercode.Copy(*s.declared()) }

// Start is the run's first event, and whether there is one. It costs a copy of the whole
// declaration; [State.Head], [State.Input] and [State.Files] cost less.
func (s *State) Start() (RunStarted, bool) { return value(usercode.Copy(s.start)) }

// first is the run's first event, and declared its declaration, for those who only read them.
func (s *State) first() *RunStarted     { return cmp.Or(s.start, &noStart) }
func (s *State) declared() *Declaration { return &s.first().Declaration }

var noStart RunStarted // a literal would take its room on the stack of each caller

// Limits are the limits in force, extensions included.
func (s *State) Limits() Limits { return s.limits }

// StopSource is the stop condition in force, as source; empty: none.
func (s *State) StopSource() string { return s.stop }

// Epoch is the fencing epoch of the run's latest owner, and Owner who that is.
func (s Internals) Epoch() uint64 { return s.epoch }

// Owner is who last owned the run.
func (s *State) Owner() string { return s.owner }

// Signal is the id of the last signal taken in.
func (s Internals) Signal() int64 { return s.signal }

// WakeAt is when to resume a paused run; zero: only on request.
func (s *State) WakeAt() time.Time {
	if s.paused == nil {
		return time.Time{}
	}
	return s.paused.WakeAt
}

// Iteration is the turn the run is in, from 1; zero before the first.
func (s *State) Iteration() int { return s.iteration }

// Iterations counts the turns that are over, their calls answered, and the replies under
// purposes of the loop's own.
func (s *State) Iterations() int {
	if s.iteration > 0 && !s.settled {
		return s.iterations() - 1
	}
	return s.iterations()
}

// iterations is what the limit counts.
func (s *State) iterations() int { return s.iteration + s.asides }

// Usage is the tokens that model calls have used. Lost and failed attempts
// count with their cost or, when that is unknown, with their reservation.
func (s *State) Usage() Usage { return s.usage }

// Tokens is what the token limit counts.
func (s *State) Tokens() int { return s.usage.Total() }

// Cost is the dollars spent, and whether the model has a price.
func (s *State) Cost() (dollars float64, known bool) { return meter.Dollars(s.cost), s.priced }

func (s *State) costLimit() string { return Decimal(s.limits.Cost).String() }

// Elapsed is the time the run has been running; waiting does not count.
func (s *State) Elapsed() time.Duration { return s.elapsed }

// ModelCalls counts the attempts that reached the provider.
func (s *State) ModelCalls() int { return s.modelCalls }

// ToolCalls counts the calls that ran, here or at a client.
func (s *State) ToolCalls() int { return s.toolCalls }

// ToolErrors counts the latest turns in a row in which no call succeeded.
func (s *State) ToolErrors() int { return s.toolErrors }

// Stalled counts the latest turns in a row that made the same calls with the
// same results as the turn before. Calls of exempt tools do not count.
func (s *State) Stalled() int { return s.stalled }

// ResetIterations is how many turns were over when a person last resumed the
// run or answered its own question. Repetitions count from there.
func (s *State) ResetIterations() int { return s.resetIterations }

// Confidence returns the latest confidence, between 0 and 1, and whether there is one.
func (s *State) Confidence() (float64, bool) { return s.confidence, s.confident }

// Metric is the goal's latest value, and whether it was ever measured.
func (s *State) Metric() (float64, bool) { return s.metric, s.measured }

// StillOpen names what the goal's latest measure found wrong.
func (s *State) StillOpen() []string { return slices.Clone(s.openIDs) }

// Seen is the text of the latest observation.
func (s *State) Seen() string {
	if s.look == nil {
		return ""
	}
	return s.look.Text
}

// Done reports whether the latest turn is a final answer: a reply that calls nothing or
// hands in its answer with __complete__, was not rejected, and was not refuted by the goal.
// [State.Answer] is that answer. A loop of several steps may take it as the end of a step.
func (s *State) Done() bool {
	if s.replied == 0 || !s.settled || s.refuted || s.thinking.made {
		return false
	}
	return s.complete != nil || s.reply.Stop != StopPause && s.reply.Stop != StopRefusal && s.step == "" && !hasCalls(s.reply)
}

// Replied returns the latest reply made for a purpose. It is how a loop reads
// the answer to a Think with a tag of its own.
func (s *State) Replied(p Purpose) (Reply, bool) {
	r := s.repliedFor(p)
	return usercode.Copy(r.Reply), r.seq > 0
}

func (s *State) repliedFor(p Purpose) purposeReply {
	if p == PurposeTurn {
		return purposeReply{s.reply, s.replied}
	}
	r, _ := value(s.other[string(p)])
	return r
}

// RepliedAt is the seq of the latest reply made for a purpose; zero: there is
// none. If it is lower for a judge than for the turn, the judge has not seen
// the turn.
func (s *State) RepliedAt(p Purpose) uint64 { return s.repliedFor(p).seq }

// Missed is the latest failure of a judge's call in the present turn, unless a
// later attempt succeeded; its Class is zero when there is none. The run goes
// on without the judge. A policy may ask again while final is false; asking
// after a final failure ends the run.
func (s *State) Missed(p Purpose) (f ModelFailed, final bool) {
	m, ok := s.missed[string(p)]
	if !ok {
		return ModelFailed{}, false
	}
	if m.Class == ClassCancelled {
		return m.ModelFailed, false
	}
	return m.ModelFailed, !m.Class.Transient() || m.RetryAt.Sub(s.time) > patience || s.exhausts(m.Class, m.tries.Of(m.Class.tried()))
}

// Note returns what was last noted by the given party under the given name.
func (s *State) Note(by, name string) (json.RawMessage, bool) {
	value, ok := s.notes[by+"\x00"+name]
	return bytes.Clone(value), ok
}

// Memory returns what the model stored under a key.
func (s *State) Memory(key string) (json.RawMessage, bool) {
	value, ok := s.notes["\x00memory\x00"+key]
	return bytes.Clone(value), ok
}

// Input is what the run was asked.
func (s *State) Input() string { return s.first().Input }

// Parent is the run that this one was begun by, as a child run; empty: none.
func (s *State) Parent() string { return s.first().Parent }

// Files are the files of the input, without their data.
func (s *State) Files() []File { return slices.Clone(s.first().Files) }

// Text is what a search finds the run by: what people said in it, and its answer.
func (s *State) Text() string {
	text := strings.Join(s.inputs, "\n")
	if answer := s.Answer(); answer != "" {
		text += "\n" + answer
	}
	return text
}

// UserTexts yields the texts by people, oldest first: the inputs and answers of
// the runs that this one continues (see [State.Earlier]), then those of this
// run.
func (s *State) UserTexts() iter.Seq[string] {
	return func(yield func(string) bool) {
		var runs []*State
		for run := s; run != nil; run = run.earlier {
			runs = append(runs, run)
		}
		for _, run := range slices.Backward(runs) {
			for _, text := range run.inputs {
				if !yield(text) {
					return
				}
			}
		}
	}
}

// Prefix counts how often what stands before the conversation has changed, in this run and those
// that it continues: the system prompt or the tools. See [Thinking.Moved].
func (s Internals) Prefix() int { return s.prefix }

// Found names the tools that the model is shown although they are deferred, in the
// order in which it found them; see [Agent.Core]. It costs O(found).
func (s *State) Found() []string { return slices.Clone(s.found) }

// LastText is the text of the latest turn's reply.
func (s *State) LastText() string { return s.reply.Text() }

// Rejected reports whether the latest turn's reply was rejected.
func (s *State) Rejected() bool { return s.refuted && s.rejections > 0 }

// Waits reports whether an open call stands in the given phase.
func (s *State) Waits(in Phase) bool {
	return slices.ContainsFunc(s.open, func(c *call) bool { return c.Phase == in })
}

// ran reports whether a call of the present turn ran.
func (s *State) ran() bool { return slices.ContainsFunc(s.open, func(c *call) bool { return c.Ran }) }

// HasOpen reports whether calls are open.
func (s *State) HasOpen() bool { return len(s.open) > 0 }

// Open yields the calls of the present turn that are not all answered yet, in order.
func (s *State) Open() iter.Seq[CallState] { return states(s.open, nil) }

// Calls yields every call so far, in order.
func (s *State) Calls() iter.Seq[CallState] { return states(s.calls, s.open) }

// states yields the calls of both lists as others see them.
func states(first, then []*call) iter.Seq[CallState] {
	return func(yield func(CallState) bool) {
		for _, list := range [...][]*call{first, then} {
			for _, c := range list {
				if !yield(c.state()) {
					return
				}
			}
		}
	}
}

// Recent yields every call so far, latest first.
func (s *State) Recent() iter.Seq[CallState] {
	return s.latest(func(*call) bool { return true })
}

// latest yields the calls that are wanted, latest first.
func (s *State) latest(want func(*call) bool) iter.Seq[CallState] {
	return func(yield func(CallState) bool) {
		for _, list := range [...][]*call{s.open, s.calls} {
			for _, c := range slices.Backward(list) {
				if want(c) && !yield(c.state()) {
					return
				}
			}
		}
	}
}

// Turns yields the turns so far, in order.
func (s *State) Turns() iter.Seq[Turn] { return slices.Values(s.turns) }

// Tracks yields the digests of the finished turns, latest first.
func (s *State) Tracks() iter.Seq[Track] {
	trail, last := s.trail, s.track
	return func(yield func(Track) bool) {
		for i := len(trail); i >= 0; i-- {
			t := last
			if i < len(trail) {
				t = trail[i]
			} else if t.Iteration == 0 {
				continue // no turn has ended
			}
			t.Measure, t.Drift = t.Measure.clone(), t.Drift.clone()
			if !yield(t) {
				return
			}
		}
	}
}

// Baseline is the goal as it was measured before the first turn was over, and
// whether it was.
func (s *State) Baseline() (Measured, bool) { return value(s.baseline.clone()) }

// CheckMachine returns an error if the run was written under another [MachineNumber]: its
// entries may have another meaning in this build.
func (s Internals) CheckMachine() error {
	if n := s.declared().Machine; n != MachineNumber {
		return fmt.Errorf("run %s was written under machine number %d, and this build decides as machine %d: continue it with the build that wrote it, or start it again", s.run, n, MachineNumber)
	}
	return nil
}

// Call returns a call by its id. It costs O(calls of the present turn).
func (s *State) Call(id string) (c CallState, ok bool) {
	if of := s.call(id); of != nil {
		return of.state(), true
	}
	return c, false
}

// Succeeded counts the calls of a tool that succeeded.
func (s *State) Succeeded(tool string) int { return s.tools.Of(tool).Succeeded }

// SuccessfulCalls yields the calls of a tool that succeeded, latest first. It
// costs O(calls) when run to the end.
func (s *State) SuccessfulCalls(tool string) iter.Seq[CallState] {
	return s.latest(func(c *call) bool { return c.Tool == tool && c.OK() })
}

// RejectedIterations counts the latest iterations in a row without a usable reply.
func (s *State) RejectedIterations() int { return s.rejected }

// LastRejection is why the latest rejected reply was rejected.
func (s *State) LastRejection() string { return s.whyNot }

// Failure is the last model call's failure, unless one has succeeded since.
func (s *State) Failure() (ModelFailed, bool) { return value(s.failure) }

// Judged is the latest judgement of progress.
func (s *State) Judged() (ProgressJudged, bool) { return value(s.judged) }

// InFlight reports whether a model call or a tool is running: the log has its intent and not
// its outcome.
func (s *State) InFlight() bool { return s.thinking.made || s.Waits(PhaseStarted) }

// Answer is the run's answer: the loop's own, the model's final answer, the
// argument of __complete__, or the final answer at a limit. Empty: there is
// none yet.
func (s *State) Answer() string {
	switch {
	case s.own != "" || s.withheld:
		return s.own
	case s.complete != nil:
		return s.complete.Answer
	case s.Done():
		return s.LastText()
	case s.final != nil:
		return s.final.Answer
	}
	return ""
}

// call returns the call of an id; nil: there is none.
func (s *State) call(id string) *call {
	if c := s.opened(id); c != nil {
		return c
	}
	if n := callNumber(id); n > 0 && n <= len(s.calls) {
		return s.calls[n-1]
	}
	return nil
}

func hasCalls(r Reply) bool {
	return slices.ContainsFunc(r.Parts, func(p Part) bool { _, is := p.(Call); return is })
}

// Cancelled returns the verdict of a cancelled run, and whether it was
// cancelled.
func (s *State) Cancelled() (Verdict, bool) {
	if s.cancel == nil {
		return Verdict{}, false
	}
	return verdict(StatusCancelled, "cancelled", "cancelled"+display.After(" by ", s.cancel.By)+display.After(": ", s.cancel.Reason)), true
}

// CancelledBy is who asked the run to end since it was resumed; empty: nobody did.
func (s Internals) CancelledBy() string {
	if s.cancel == nil {
		return ""
	}
	return s.cancel.By
}

// Question is what the run itself, rather than one of its calls, asks a person,
// and whether it asks anything.
func (s *State) Question() (InputRequested, bool) { return value(s.question) }

// value is what p points to, and whether it points to anything.
func value[T any](p *T) (v T, ok bool) {
	if p != nil {
		v = *p
	}
	return v, p != nil
}

// Tries counts the failed attempts in a row at the present model call.
func (s Internals) Tries() int { return s.tries.Total() }

// tried returns the number under which failures of a class are counted. All permanent classes
// have the number 0. An attempt that was cancelled, or whose reply was cut, is not counted: -1.
func (c Class) tried() int {
	switch {
	case c == ClassCancelled, c == ClassCut:
		return -1
	case c.Transient():
		return int(c)
	}
	return 0
}

// exhausts reports whether n failures of a class are all that a model call may
// have. Empty replies have a lower limit: a model that returns nothing rarely
// returns something for the same request.
func (s *State) exhausts(c Class, n int) bool {
	return n >= s.limits.Attempts || c == ClassEmpty && n >= maxEmpty
}

// attempts says how often a model call failed with a class, and how often at all.
func (s *State) attempts(c Class) string {
	n, all := s.tries.Of(c.tried()), s.tries.Total()
	if n < all {
		return fmt.Sprintf("%d of %d attempts", n, all)
	}
	return display.Said(all, "1 attempt", "%d attempts")
}

type miss struct {
	ModelFailed
	tries meter.Few
}

// Tainted reports whether the model has read untrusted text: the result of a tool labelled [Untrusted],
// an untrusted input, files of an input, the description of a tool that is [ToolInfo].Foreign, or any
// of these in a run that this one continues. A tainted run stays so, whatever is hidden from the model.
func (s *State) Tainted() bool { return s.tainted }

// foreign reports whether the model reads an untrusted description with its first request.
func (d *Declaration) foreign() bool {
	return slices.ContainsFunc(d.Tools, func(t ToolInfo) bool { return t.Foreign })
}

// gathered is what a party has computed from the first calls of a run.
type gathered struct {
	made  any
	count int
}

// Gather returns a value computed from the calls of all turns before the present one. begin returns
// the value for no calls, and add adds the next call to it, the oldest first. The State keeps the
// value under the name by, so that each call is added about once in a run. The value must depend on
// nothing but the calls and the beginning of the run, and only add may change it.
func (s *State) Gather(by string, begin func() any, add func(made any, c CallState)) any {
	return s.gather(by, begin, func(made any, c *call) { add(made, c.state()) })
}

func (s *State) gather(by string, begin func() any, add func(made any, c *call)) any {
	g := s.gathered[by]
	if g == nil {
		g = &gathered{made: begin()}
	}
	delete(s.gathered, by) // if add panics, what it left is of no use
	for ; g.count < len(s.calls); g.count++ {
		add(g.made, s.calls[g.count])
	}
	put(&s.gathered, by, g)
	return g.made
}

// equal returns the id of a call of this run with the same content (see
// contentKey) whose result may answer another one: an Idempotent call that
// succeeded. It runs only when such a call is about to run, so that folding a
// log need not compute the content of every call.
func (s *State) equal(content string) string {
	told := func(c *call) bool { return c.Ran && c.OK() && c.Effect == Idempotent }
	for _, c := range slices.Backward(s.open) {
		if told(c) && contentKey(c.Tool, c.args()) == content {
			return c.ID
		}
	}
	return s.gather("\x00equal", func() any { return map[string]string{} }, func(made any, c *call) {
		if told(c) {
			made.(map[string]string)[contentKey(c.Tool, c.args())] = c.ID
		}
	}).(map[string]string)[content]
}
