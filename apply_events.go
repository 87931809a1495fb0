package pawl

import "encoding/json"

// messageBytes is what a message costs beyond its text in an estimate: roles,
// ids and framing, about eight tokens.
const messageBytes = 32

func (s *State) applyModel(event Event, entry Entry) {
	switch e := event.(type) {
	case ModelCalled:
		if e.says() {
			s.bytes += len(e.View.Prompt) + messageBytes
		}
		s.thinking, s.sentBytes = &e, s.bytes
		if e.Purpose != PurposeTurn {
			return
		}
		if entry.Iteration > s.iteration {
			s.iteration, s.attempt, s.strikes = entry.Iteration, 0, 0
			s.refuted, s.complete, s.landing = false, nil, ""
		}
		s.attempt, s.settled = e.Attempt, false
	case ModelReplied:
		s.thinking, s.failure, s.tries, s.lostCall = nil, nil, 0, false
		s.modelCalls++
		s.book(e.Reply.Usage, e.Cost)
		if e.Purpose == PurposeTurn {
			s.replyTurn(&e, entry)
			return
		}
		s.other = s.other.Set(string(e.Purpose), &e.Reply)
		if e.Purpose == PurposeLanding {
			s.landed, s.landing = true, e.Reply.Text()
		}
	case ModelFailed:
		s.thinking, s.lostCall = nil, false
		if e.Class != ClassNetwork || e.Usage != (Usage{}) {
			s.modelCalls++
		}
		s.book(e.Usage, e.Cost)
		if e.Purpose == PurposeLanding {
			s.landed = true
			return
		}
		s.failure = &e
		if e.Class != ClassCancelled {
			s.tries++
		}
	case PlanRejected:
		s.strikes, s.whyNot = e.Strike, e.Feedback
		s.bytes += len(e.Feedback) + messageBytes
		s.rejects, s.settled = len(s.open) > 0, false
		if e.Strike >= maxStrikes {
			s.rejected++
			s.settled = true
		}
		s.refuted = true
	}
}

func (s *State) replyTurn(e *ModelReplied, entry Entry) {
	s.reply, s.replied = e, entry.Seq
	if !e.Estimated {
		s.lastInput, s.lastBytes = max(0, e.Reply.Usage.Input), s.sentBytes
	}
	s.refuted, s.rejects = false, false
	t := &Turn{Iteration: entry.Iteration}
	var calls int
	for _, p := range e.Reply.Parts {
		switch p := p.(type) {
		case Text:
			t.Thought += p.Text
			s.bytes += len(p.Text)
		case Thinking:
			s.bytes += len(p.Text) + len(p.Opaque)
		case Call:
			calls++
			s.bytes += len(p.Tool) + len(p.Args) + messageBytes
		}
	}
	s.bytes += messageBytes
	if t.Thought == "" {
		t.Thought = thought(e.Reply)
	}
	t.Answer = calls == 0
	if last, ok := s.turns.Last(); ok && last.Iteration == t.Iteration {
		s.turns = s.turns.Set(s.turns.Len()-1, t)
	} else {
		s.turns = s.turns.Append(t)
	}
	if calls == 0 {
		s.open, s.settled = nil, e.Malformed == ""
		return
	}
	s.open = make([]*CallState, 0, calls)
	for _, p := range e.Reply.Parts {
		if c, ok := p.(Call); ok {
			s.open = append(s.open, &CallState{Call: c, Iteration: entry.Iteration, Phase: Undecided})
			s.counter = max(s.counter, callNumber(c.ID))
		}
	}
}

// thought joins a reply's thinking.
func thought(r Reply) string {
	text := ""
	for _, p := range r.Parts {
		if t, ok := p.(Thinking); ok {
			text += t.Text
		}
	}
	return text
}

func (s *State) applyTool(event Event, entry Entry) {
	switch e := event.(type) {
	case ToolStarted:
		if i := s.find(e.Call); i >= 0 {
			c := *s.open[i]
			c.Phase, c.Attempt, c.Effect, c.Key, c.Started = Started, e.Attempt, e.Effect, e.Key, entry.Time
			s.replace(i, &c)
		}
	case ToolFinished:
		s.acted = entry.Seq
		if i := s.find(e.Call); i >= 0 {
			c := *s.open[i]
			c.Status, c.Result, c.Error, c.images, c.Ran = e.Status, e.Result, e.Error, e.Images, true
			s.answer(i, c)
		}
	case ToolReused:
		if i := s.find(e.Call); i >= 0 {
			c := *s.open[i]
			c.Of, c.Status = e.Of, ToolOK
			if of := s.call(e.Of); of != nil {
				c.Result, c.images = of.Result, of.images
			}
			s.answer(i, c)
		}
	case ToolRefused:
		if i := s.find(e.Call); i >= 0 {
			c := *s.open[i]
			c.Status, c.Error, c.rejected = ToolFailed, e.Why, s.rejects
			s.answer(i, c)
		}
	case ToolDoubted:
		if i := s.find(e.Call); i >= 0 {
			c := *s.open[i]
			c.Phase, c.Reason = Doubted, e.Why
			s.replace(i, &c)
		}
	case ToolSettled:
		s.take(e.Letter)
		i := s.find(e.Call)
		if i < 0 {
			return
		}
		c := *s.open[i]
		if c.By = e.By; e.Happened {
			s.acted = entry.Seq
			c.Status, c.Result, c.Ran = ToolOK, e.Result, true
			s.answer(i, c)
			return
		}
		c.Phase = Approved // it was approved, if it had to be, when it first ran
		s.replace(i, &c)
	}
}

func (s *State) applyAsk(event Event, entry Entry) {
	hold := func(id string, change func(*CallState)) {
		if i := s.find(id); i >= 0 {
			c := *s.open[i]
			change(&c)
			s.replace(i, &c)
		}
	}
	settle := func(id string, change func(*CallState)) {
		if i := s.find(id); i >= 0 {
			c := *s.open[i]
			change(&c)
			s.acted = entry.Seq
			s.answer(i, c)
		}
	}
	switch e := event.(type) {
	case ApprovalRequested:
		hold(e.Call, func(c *CallState) { c.Phase, c.Reason, c.Expires = AwaitingApproval, e.Reason, e.Expires })
	case ApprovalDecided:
		s.take(e.Letter)
		hold(e.Call, func(c *CallState) {
			c.By, c.Edited, c.Phase = e.By, e.Args, Approved
			if !e.Approved {
				c.Phase, c.Error = Undecided, denial(e)
			}
		})
	case ApprovalExpired:
		hold(e.Call, func(c *CallState) { c.Phase, c.Reason = Undecided, "" })
	case ApprovalInvalidated:
		hold(e.Call, func(c *CallState) { c.Phase, c.Reason = Undecided, "" })
	case InputRequested:
		if s.find(e.Call) < 0 {
			s.question = &e
			return
		}
		hold(e.Call, func(c *CallState) { c.Phase, c.Reason, c.Expires = AwaitingInput, e.Question, e.Expires })
	case InputGiven:
		s.take(e.Letter)
		if s.question != nil && s.question.Call == e.Call {
			s.question = nil
			s.hear(e.Text)
			s.afresh()
			return
		}
		s.said = s.said.Append(e.Text)
		settle(e.Call, func(c *CallState) { c.Status, c.Result, c.By = ToolOK, quote(e.Text), e.By })
	case ClientToolRequested:
		hold(e.Call, func(c *CallState) { c.Phase = AwaitingClient })
	case ClientToolReturned:
		s.take(e.Letter)
		settle(e.Call, func(c *CallState) { c.Status, c.Result, c.By = ToolOK, e.Result, e.By })
	}
}

func denial(e ApprovalDecided) string {
	why := "a person denied this call"
	if e.Reason != "" {
		why += ": " + e.Reason
	}
	return why + "; it was not run"
}

func (s *State) applyMemo(event Event, entry Entry) {
	switch e := event.(type) {
	case Observed:
		s.observed, s.seen = entry.Seq, e.Text
		s.bytes += len(e.Text) + messageBytes
	case Measured:
		s.metric, s.measured, s.openIDs = e.Value, true, e.Open
	case Reflected:
		s.confidence, s.confident = e.Confidence, true
	case ProgressJudged:
		s.judged = &e
		s.bytes += len(e.Hint)
		if e.Judgement == Refuted {
			s.refuted, s.complete = true, nil
		}
	case Noted:
		s.notes = s.notes.Set(e.By+"\x00"+e.Name, e.Value)
	case MemoryStored:
		s.notes = s.notes.Set("\x00memory\x00"+e.Key, e.Value)
	case ChildStopped:
		s.book(e.Usage, e.Cost)
	}
	if done, ok := event.(Noted); ok && done.By == completeTool {
		s.takeCompletion(done.Value)
	}
}

// takeCompletion reads what the __complete__ tool noted.
func (s *State) takeCompletion(value json.RawMessage) {
	var c struct {
		Answer     json.RawMessage `json:"answer"`
		Confidence *float64        `json:"confidence"`
		Summary    string          `json:"summary"`
	}
	if json.Unmarshal(value, &c) != nil {
		return
	}
	done := &completion{Answer: plain(c.Answer), Summary: c.Summary}
	if len(c.Answer) > 0 && c.Answer[0] != '"' {
		done.Output = c.Answer
	}
	if c.Confidence != nil {
		done.Confidence, done.Sure = *c.Confidence, true
		s.confidence, s.confident = *c.Confidence, true
	}
	s.complete = done
}
