package engine

import (
	"context"

	"github.com/pawl-run/pawl"
)

// letterOf is the kind of letter that answers what a run waits for.
var letterOf = map[string]pawl.LetterKind{
	"approval": pawl.LetterDecision, "input": pawl.LetterAnswer, "client_tool": pawl.LetterResult, "doubt": pawl.LetterSettlement,
}

// Heard marks what of the things that runs wait for has been answered by a letter
// which lies in the mailbox, and which no owner has turned into an entry yet.
// Resuming the run does so. The list is that of [Pending]; the log stays the only
// truth of the run, which waits until then.
func Heard(ctx context.Context, j pawl.Journal, list []pawl.Pending) error {
	mail, ok := j.(pawl.Mailbox)
	if !ok {
		return nil
	}
	looked := map[string]bool{}
	for _, p := range list {
		if looked[p.Run] {
			continue
		}
		looked[p.Run] = true
		s, err := Load(ctx, j, p.Run)
		if err != nil {
			return err
		}
		for l, err := range mail.Letters(ctx, p.Run, s.Letter()) {
			if err != nil {
				return err
			}
			hear(&s, &l, list)
		}
	}
	return nil
}

func hear(s *pawl.State, l *pawl.Letter, list []pawl.Pending) {
	call := callOf(l.Request)
	c, _ := s.Call(call)
	q, asked := s.Question()
	for i := range list {
		p := &list[i]
		if p.Run == l.Run && p.Call == call && letterOf[p.Kind] == l.Kind && (answers(l, &c) || asked && q.Call == call && p.Kind == "input") {
			at := l.Time
			p.AnsweredAt, p.AnsweredBy = &at, l.By
		}
	}
}
