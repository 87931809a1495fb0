package window

import (
	"fmt"
	"slices"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/wire"
)

// A Transcript is the conversation that a model sees, built from the log entry by entry. It only
// grows, so that consecutive requests share their prefix; shortening is the exception. Each call
// stands before its result, and the results are in the one user turn that follows. A Transcript is
// not safe for concurrent use.
type Transcript struct {
	strategy pawl.Strategy
	messages []pawl.Message
	begun    int // how many of the messages are from earlier runs
	shown    int // how many of the messages were returned
	left     int // replies that a summary replaced
	marks    marks
	places   []int       // those of all requests; each has its part
	pending  []pawl.Part // parts of the user turn that is being collected
	answers  int         // how many of them, at the front, answer the last calls
	calls    []pawl.Part // of the latest reply; nil: its calls are answered
	prefix   int         // [pawl.Internals.Prefix] of what stands before the messages
	stale    int         // all thinking in so many messages is marked as moved
}

// NewTranscript begins an empty conversation for a strategy.
func NewTranscript(s pawl.Strategy) *Transcript { return &Transcript{strategy: s} }

// Add adds an entry. s is the state after the entry.
func (t *Transcript) Add(e pawl.Entry, s *pawl.State) {
	switch ev := e.Event.(type) {
	case pawl.ModelCalled:
		t.called(&ev, s)
	case pawl.ModelReplied:
		t.reply(&ev, s)
	case pawl.ToolStarted, pawl.ToolFinished:
		t.results(s)
	default:
		t.add(ev, s)
	}
}

// add adds an event that is not of a plain iteration: the stack of a run has no room for these.
func (t *Transcript) add(event pawl.Event, s *pawl.State) {
	switch ev := event.(type) {
	case pawl.RunStarted:
		if ev.Declaration.Strategy != 0 {
			t.strategy = ev.Declaration.Strategy
		}
		t.renew(s)
		if c := ev.Continues; c == nil || c.By == "" {
			t.attach(ev.Files)
			t.say(ev.Input, s)
		} else {
			t.HandOver(c, ev.Input, ev.Files)
		}
	case pawl.RunForked:
		t.say(ev.Input, s)
	case pawl.PlanRejected:
		// The calls, if any, are refused by the entries that follow; their
		// results must stand before the feedback.
		if len(t.calls) == 0 {
			t.say(ev.Feedback, s)
		}
	case pawl.Observed:
		if ev.Text != "" { // a goal may be measured without anything to see
			t.say("Observation:\n"+ev.Text, s)
		}
	case pawl.ProgressJudged:
		t.say(ev.Hint, s)
	case pawl.Reflected:
		t.say(ev.Hint, s)
	case pawl.Grounded:
		t.say(ev.Hint, s)
	case pawl.InstructionsGiven:
		t.say(ev.Says(), s)
	case pawl.NoticeGiven:
		t.say(ev.Says(), s)
	case pawl.InputGiven:
		if _, ok := s.Call(ev.Call); ok || ev.After { // a message for later is said again then
			t.results(s)
		} else { // asked by the run itself, not by a call, or by nobody
			t.say(ev.Text, s)
		}
	case pawl.ContextCompacted:
		t.mask(ev.Masked, s)
		if ev.Summary != "" {
			t.summarise(ev.Summary, ev.Kept, s)
		}
	case pawl.HookDirected:
		if t.answers > 0 && s.HasOpen() { // the turn was opened again
			t.pending, t.answers, t.calls = t.pending[t.answers:], 0, nil
			for c := range s.Open() {
				t.calls = append(t.calls, c.Call)
			}
		}
		t.results(s)
	default:
		t.results(s)
	}
}

// marks are positions in the conversation, as numbers of messages, after which requests begin to
// differ.
type marks struct {
	cut    int // the omitted part, or a summary, ends here; 0: at the first message
	before int // the previous cut, unless a request was made since
	sent   int // the messages of the latest request
	last   int // those of the request before; 0: cut since
}

// mark records that the conversation is sent.
func (t *Transcript) mark() {
	n := len(t.messages)
	if len(t.pending) > 0 && (n == 0 || t.messages[n-1].Role != pawl.RoleUser) { // else it joins that message
		n++
	}
	if t.marks.sent > 0 {
		t.marks.before = 0
	}
	t.marks.last, t.marks.sent = t.marks.sent, n
}

// Messages returns the conversation so far, and the positions before the last message up to which a
// later or an earlier request probably has the same messages, in ascending order. The messages are
// shared and must not be changed; a later Add does not change them. Open calls, as when a policy
// asks a judge about them, are answered as not run yet.
func (t *Transcript) Messages(s *pawl.State) ([]pawl.Message, []int) {
	t.results(s)
	t.renew(s)
	soFar := t
	if len(t.calls) > 0 {
		now := *t
		now.messages = slices.Clip(t.messages)
		answers, _ := t.answered(s, "not run yet", "not run yet")
		now.pending = slices.Concat(t.pending, answers)
		soFar = &now
	}
	soFar.open()
	soFar.flush()
	t.shown = len(t.messages)
	begin := len(t.places)
	for _, n := range [...]int{t.marks.before, max(t.marks.cut, 1), t.marks.last} {
		if n > 0 && n < t.marks.sent && (len(t.places) == begin || n > t.places[len(t.places)-1]) {
			t.places = append(t.places, n)
		}
	}
	return slices.Clip(soFar.messages), slices.Clip(t.places[begin:])
}

// open adds a user message at the beginning of a run without input, because every provider requires
// one.
func (t *Transcript) open() {
	if len(t.messages)+len(t.pending) == 0 {
		t.pending = append(t.pending, pawl.Text{Text: "Begin."})
	}
}

func (t *Transcript) say(text string, s *pawl.State) {
	if text == "" {
		return
	}
	t.results(s)
	t.pending = append(t.pending, pawl.Text{Text: text})
}

// attach puts the files of the input before it.
func (t *Transcript) attach(files []pawl.File) { t.pending = append(t.pending, fileParts(files)...) }

func fileParts(files []pawl.File) []pawl.Part {
	all := make([]pawl.Part, len(files))
	for i, f := range files {
		all[i] = f
	}
	return all
}

func (t *Transcript) called(e *pawl.ModelCalled, s *pawl.State) {
	if e.Says() {
		if e.View.Step != "" { // earlier messages are not shown
			*t = Transcript{strategy: t.strategy, prefix: t.prefix}
			t.attach(s.Files())
			if now := s.Instructions(); now != "" {
				t.say(pawl.InstructionsGiven{Text: now}.Says(), s)
			}
		}
		t.say(e.View.Prompt, s)
	}
	t.renew(s)
	if !e.View.Alone && e.Model == "" {
		t.mark()
	}
}

// renew marks all thinking as moved if the prompt or the tools have changed.
func (t *Transcript) renew(s *pawl.State) {
	if now := s.Internals().Prefix(); now != t.prefix {
		t.prefix = now
		t.move(0)
	}
}

// move marks the thinking from a message on as moved, since what stands before it has changed. No
// thinking is looked at twice, so that all calls together cost no more than the conversation.
func (t *Transcript) move(from int) {
	if from <= t.stale {
		from, t.stale = t.stale, len(t.messages)
	}
	if from >= len(t.messages) {
		return
	}
	t.messages = slices.Clone(t.messages) // callers have the old messages
	for i := from; i < len(t.messages); i++ {
		t.messages[i] = t.messages[i].Moved()
	}
}

func (t *Transcript) reply(e *pawl.ModelReplied, s *pawl.State) {
	if e.Purpose != pawl.PurposeTurn {
		return
	}
	t.open()
	t.flush()
	if e.Reply.Stop == pawl.StopRefusal {
		return // a provider rejects its own refusal as input
	}
	parts := e.Reply.Parts
	isCall := func(p pawl.Part) bool { _, is := p.(pawl.Call); return is }
	if t.calls = nil; slices.ContainsFunc(parts, isCall) {
		t.calls = parts
	}
	if t.strategy == pawl.StrategyJSON { // the text contains the call
		parts = slices.DeleteFunc(slices.Clone(parts), isCall)
	}
	t.messages = append(t.messages, pawl.Message{Role: pawl.RoleAssistant, Parts: parts})
	t.renew(s) // a reply that calls a deferred tool was made without it
}

// mask omits the results of calls from what the model sees. The messages were returned to callers,
// so those that change are copied.
func (t *Transcript) mask(ids []string, s *pawl.State) {
	t.results(s)
	t.flush() // an omitted result may not have been sent yet
	t.messages = slices.Clone(t.messages)
	t.marks = marks{before: max(t.marks.cut, 1)}
	more := func(tool pawl.ToolInfo) bool { return tool.Name == "read_more" }
	first := len(t.messages)
	for _, id := range ids {
		c := s.Internals().Peek(id)
		if c == nil {
			continue
		}
		files, also := returned(c), ""
		if files != nil {
			also = " and " + display.Count(len(files)-1, "file")
		}
		note := fmt.Sprintf("[%s bytes%s are left out here, because the conversation was too long.", display.Group(len(c.Result)), also)
		if slices.ContainsFunc(s.Declaration().Tools, more) {
			note += fmt.Sprintf(` Call read_more with {"call":%q} if you need them.`, id)
		} else if c.Effect == pawl.Read {
			note += " Call " + c.Tool + " again if you need them."
		}
		at := t.swap(t.part(shown(c, "")), t.part(shown(c, note+"]")))
		t.drop(at, files)
		first = min(first, at)
	}
	t.move(first)
}

// summarise replaces all but the latest replies, and the messages between them, by a summary. The
// run's input stays in front, unchanged.
func (t *Transcript) summarise(text string, kept int, s *pawl.State) {
	t.flush()
	from := len(t.messages)
	for ; kept > 0 && from > t.begun; kept-- {
		for from--; from > t.begun && t.messages[from].Role != pawl.RoleAssistant; from-- {
		}
	}
	for _, m := range t.messages[:from] {
		if m.Role == pawl.RoleAssistant {
			t.left++
		}
	}
	head := pawl.Message{Role: pawl.RoleUser, Parts: []pawl.Part{pawl.Text{Text: fmt.Sprintf(display.SummaryFrame, t.left) + text}}}
	if input := s.Input(); input != "" {
		head.Parts = append([]pawl.Part{pawl.Text{Text: input}}, head.Parts...)
	}
	head.Parts = append(fileParts(s.Files()), head.Parts...)
	rest := t.messages[from:]
	if len(rest) > 0 && rest[0].Role == pawl.RoleUser { // the transcript has fewer replies
		head.Parts, rest = append(head.Parts, rest[0].Parts...), rest[1:]
	}
	t.messages, t.begun, t.marks, t.stale = append([]pawl.Message{head}, rest...), 0, marks{}, 0
	t.move(0)
}

// swap replaces an equal part: a result of the same call or, in the JSON strategy, the same text. It
// returns the number of its message.
func (t *Transcript) swap(was, now pawl.Part) int {
	result, native := was.(pawl.ToolResult)
	for i := len(t.messages) - 1; i >= 0; i-- {
		for k, p := range t.messages[i].Parts {
			if r, ok := p.(pawl.ToolResult); native && (!ok || r.Call != result.Call) || !native && p != was {
				continue
			}
			parts := slices.Clone(t.messages[i].Parts)
			parts[k] = now
			t.messages[i].Parts = parts
			t.marks.cut = max(t.marks.cut, i+1)
			return i
		}
	}
	return len(t.messages)
}

// drop takes the files of a result out of message n. Equal files of two calls are the same parts, so
// any of them may go.
func (t *Transcript) drop(n int, files []pawl.Part) {
	if n >= len(t.messages) || files == nil {
		return
	}
	parts := t.messages[n].Parts
	for i := 0; i+len(files) <= len(parts); i++ {
		if slices.EqualFunc(parts[i:i+len(files)], files, samePart) {
			t.messages[n].Parts = slices.Delete(slices.Clone(parts), i, i+len(files))
			return
		}
	}
}

// samePart compares a text or a file.
func samePart(a, b pawl.Part) bool {
	f, is := a.(pawl.File)
	g, also := b.(pawl.File)
	if is && also {
		return f.Blob == g.Blob && f.Name == g.Name
	}
	return !is && !also && a == b
}

// results adds the answers of the current turn's calls once all have one.
func (t *Transcript) results(s *pawl.State) {
	if len(t.calls) == 0 || s.HasOpen() {
		return
	}
	answers, rejected := t.answered(s, "", "the log has no result of it") // a log from elsewhere may lack one
	t.calls, t.answers, t.pending = nil, len(answers), append(answers, t.pending...)
	if rejected {
		t.pending = append(t.pending, pawl.Text{Text: s.LastRejection()})
	}
}

// answered returns the answers of the current turn's calls, with their files after them, and whether their reply was rejected.
// open, unless empty, is the error of open calls; missing is that of calls that the run does not
// have.
func (t *Transcript) answered(s *pawl.State, open, missing string) (answers []pawl.Part, rejected bool) {
	answers = make([]pawl.Part, 0, len(t.calls)+len(t.pending))
	var files []pawl.Part
	for _, p := range t.calls {
		c, is := p.(pawl.Call)
		if !is {
			continue
		}
		of := s.Internals().Peek(c.ID)
		switch {
		case of == nil:
			answers = append(answers, t.part(unanswered(c, missing)))
			continue
		case of.Phase != pawl.PhaseAnswered && open != "":
			answers = append(answers, t.part(unanswered(c, open)))
		case !of.Omitted: // else providers accept no answer to a call in text
			answers, files = append(answers, t.part(shown(of, ""))), append(files, returned(of)...)
		}
		rejected = rejected || of.Rejected
	}
	return append(answers, files...), rejected
}

// unanswered returns an error as the result of a call without one.
func unanswered(c pawl.Call, why string) pawl.ToolResult {
	return pawl.ToolResult{Call: c.ID, Ref: c.Ref, Tool: c.Tool, Content: wire.Quote("error: " + why), Failed: true}
}

// part returns a call's answer in the form of the strategy.
func (t *Transcript) part(r pawl.ToolResult) pawl.Part {
	if t.strategy != pawl.StrategyJSON {
		return r
	}
	return pawl.Text{Text: fmt.Sprintf("Result of %s:\n%s", r.Tool, r.Text())}
}

// flush closes the user turn that is being collected.
func (t *Transcript) flush() {
	if len(t.pending) == 0 {
		return
	}
	parts := t.pending
	t.pending, t.answers = nil, 0
	if n := len(t.messages); n > 0 && t.messages[n-1].Role == pawl.RoleUser {
		// Two user turns meet only if a request for the first one failed or was lost. Callers
		// have the old slice: copy, then extend.
		parts = append(slices.Clone(t.messages[n-1].Parts), parts...)
		t.messages = slices.Clone(t.messages[:n-1])
	}
	t.messages = append(t.messages, pawl.Message{Role: pawl.RoleUser, Parts: parts})
}

// Next ends a run's part of the conversation; s is the state at its end. Calls that the run
// left open are answered as not run, and its answer is added. The next run numbers its
// calls from 1 again, so the ids of this run's calls get a prefix with its place in the
// thread, from 1. If clean is not nil, it is applied to the parts of every message.
func (t *Transcript) Next(s *pawl.State, place int, clean func([]pawl.Part) []pawl.Part) {
	t.results(s)
	if len(t.calls) > 0 {
		answers, _ := t.answered(s, "", "not run: the run ended first")
		t.pending, t.calls = append(answers, t.pending...), nil
	}
	t.flush()
	if t.shown > t.begun {
		t.messages = slices.Clone(t.messages) // callers have the old messages
	}
	if text := s.Internals().UnspokenAnswer(); text != "" {
		if n := len(t.messages); n > 0 && t.messages[n-1].Role == pawl.RoleAssistant {
			t.messages[n-1].Parts = append(slices.Clip(t.messages[n-1].Parts), pawl.Text{Text: text})
		} else {
			t.open()
			t.flush()
			t.messages = append(t.messages, pawl.Message{Role: pawl.RoleAssistant, Parts: []pawl.Part{pawl.Text{Text: text}}})
		}
	}
	for i := t.begun; i < len(t.messages); i++ {
		parts := slices.Clone(t.messages[i].Parts)
		for k, p := range parts {
			switch p := p.(type) {
			case pawl.Call:
				p.ID = fmt.Sprintf("t%d_%s", place, p.ID)
				parts[k] = p
			case pawl.ToolResult:
				p.Call = fmt.Sprintf("t%d_%s", place, p.Call)
				parts[k] = p
			}
		}
		if clean != nil {
			parts = clean(parts)
		}
		t.messages[i].Parts = parts
	}
	t.begun, t.shown = len(t.messages), 0
}

// HandOver changes the conversation to what the next leg sees after a handoff: all of it, or
// the person's last message with the reason and the summary of the agent that hands over. The
// input is that message, with its files. Calling it again changes nothing.
func (t *Transcript) HandOver(c *pawl.Continues, input string, files []pawl.File) {
	if c.Carry == "" {
		return
	}
	note := c.By + " hands this conversation over to you: " + c.Reason
	if c.Summary != "" {
		note += "\n\nWhat " + c.By + " knows of it:\n" + c.Summary
	}
	said := append(fileParts(files), pawl.Text{Text: input}, pawl.Text{Text: note})
	*t = Transcript{strategy: t.strategy, prefix: t.prefix, messages: []pawl.Message{{Role: pawl.RoleUser, Parts: said}}}
	t.begun = len(t.messages)
}

// Carry shortens a conversation after [Transcript.Next] for a run that continues with less than
// all of it: to the last input of s and, for "summary", its answer. clean, unless nil, is
// applied to the parts of every message.
func (t *Transcript) Carry(carry string, s *pawl.State, clean func([]pawl.Part) []pawl.Part) {
	t.messages = nil
	say := func(r pawl.Role, text string, files []pawl.File) {
		parts := fileParts(files)
		if text != "" {
			parts = append(parts, pawl.Text{Text: text})
		}
		if clean != nil {
			parts = clean(parts)
		}
		if len(parts) > 0 {
			t.messages = append(t.messages, pawl.Message{Role: r, Parts: parts})
		}
	}
	if say(pawl.RoleUser, s.Input(), s.Files()); carry == "summary" && len(t.messages) > 0 {
		say(pawl.RoleAssistant, s.Answer(), nil)
	}
	t.begun, t.shown, t.marks, t.stale = len(t.messages), 0, marks{}, 0
}

// Lacks returns the files that the conversation does not contain.
func (t *Transcript) Lacks(files []pawl.File) []pawl.File {
	has := map[string]bool{}
	for _, m := range t.messages {
		for _, p := range m.Parts {
			if f, ok := p.(pawl.File); ok {
				has[f.Blob] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(files), func(f pawl.File) bool { return has[f.Blob] })
}

// Continue returns the record with which a run declares that it continues this conversation. s is
// the state at the end of the previous run.
func (t *Transcript) Continue(s *pawl.State) *pawl.Continues {
	return s.Internals().Continue(t.messages)
}
