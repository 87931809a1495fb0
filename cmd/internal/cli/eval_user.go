package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/cmd/internal/eval"
	"github.com/pawl-run/pawl/engine"
)

const userPrompt = `You play a person who talks to an agent. You get what the agent says or asks, and
reply as this person would: with what the person knows and wants, in the person's words, in one
or two sentences. Set done, with an empty message, once the person has what they want or gives up.

The person: `

func userKey(u *eval.User, c eval.Case) string {
	return fmt.Sprintf("user %s %v %s", u.Model, u.Cost, u.Of(c))
}

// An exchange is what the agent said or asked, and what the user wrote then.
type exchange struct {
	Agent string `json:"agent"`
	User  string `json:"user"`
}

// A conversation is a case whose user answers and goes on.
type conversation struct {
	job
	eval   *evaluation
	j      store
	user   *eval.User
	told   []exchange
	failed []eval.Score  // of the user: none, or that its run failed
	all    []pawl.Result // of the agent's runs, each at its end, and of the user's
}

// thread is the thread of the runs of a job, or of its user.
func (c *conversation) thread(of string) string {
	return fmt.Sprintf("eval-%s-%s-%s-%d%s", c.eval.id, c.of.Name, c.c.ID, c.repeat, of)
}

// hold has the user answer what a run asks, and go on where it has ended, until the user is done or
// has written as many messages as it may. It returns the last run. A continued evaluation finds the
// runs that it began, and goes on after the last of them.
func (c *conversation) hold(ctx context.Context, p *prepared, r pawl.Result) (pawl.Result, error) {
	err := c.answered(ctx, r.Run)
	for err == nil && len(c.told) < c.user.Messages && !c.eval.broke(ctx) {
		i := slices.IndexFunc(r.Pending, func(p pawl.Pending) bool { return p.Kind == "input" })
		asks := r.Status == pawl.StatusWaitingInput && i >= 0
		if !asks && r.Status != pawl.StatusSuccess {
			break
		}
		text, place := r.Answer, "end"
		if asks {
			text, place = r.Pending[i].Reason, r.Pending[i].Run+"/"+r.Pending[i].Call
		}
		var message string
		if !asks || r.Pending[i].AnsweredAt == nil {
			var done bool
			if message, done, err = c.reply(ctx, text, r.Run+"/"+place, asks); err != nil || done {
				break
			}
		}
		if asks {
			r, err = c.answer(ctx, p, r, r.Pending[i], message)
			continue
		}
		c.all = append(c.all, r)
		if r, _, err = c.eval.drive(ctx, c.j, p, c.job, "/after/"+r.Run, message, c.thread("")); err == nil {
			err = c.answered(ctx, r.Run)
		}
	}
	c.all = append(c.all, r)
	return r, err
}

// answered adds what the user has answered in a run already.
func (c *conversation) answered(ctx context.Context, run string) error {
	asked := map[string]string{}
	for e, err := range engine.Entries(ctx, c.j, run, 1) {
		if err != nil {
			return err
		}
		switch e := e.Event.(type) {
		case pawl.InputRequested:
			asked[e.Call] = e.Question
		case pawl.InputGiven:
			if e.By == userName {
				c.told = append(c.told, exchange{asked[e.Call], e.Text})
			}
		}
	}
	return nil
}

// userName signs the answers of a user.
const userName = "eval-user"

// reply asks the user. A user who is done still answers what the agent asks.
func (c *conversation) reply(ctx context.Context, text, place string, asks bool) (message string, done bool, err error) {
	r, _, err := c.eval.drive(ctx, c.j, c.eval.agents[userKey(c.user, c.c)], c.job, "/user/"+place, text, c.thread("-user"))
	if err != nil {
		return "", true, err
	}
	c.all = append(c.all, r)
	var said struct {
		Message string
		Done    bool
	}
	if r.Status == pawl.StatusPaused {
		return "", true, fmt.Errorf("case %s: the user's run %s is paused", c.c.ID, r.Run)
	}
	if r.Status != pawl.StatusSuccess || json.Unmarshal(r.Output, &said) != nil {
		c.failed = append(c.failed, eval.Score{Scorer: "user", Detail: fmt.Sprintf("the user's run %s is %v: %s", r.Run, r.Status, r.Reason.Detail)})
		return "", true, nil
	}
	if done = strings.TrimSpace(said.Message) == "" || said.Done && !asks; !done {
		c.told = append(c.told, exchange{text, said.Message})
	}
	return said.Message, done, nil
}

// answer gives an answer, unless it was given before, and resumes the run.
func (c *conversation) answer(ctx context.Context, p *prepared, r pawl.Result, to pawl.Pending, message string) (pawl.Result, error) {
	eng := c.eval.app.engine(c.j, c.eval.driving, p.agent)
	if to.AnsweredAt == nil {
		if err := eng.Answer(ctx, to.Run, to.Call, userName, message); err != nil {
			return r, err
		}
	}
	h, err := eng.Resume(ctx, p.agent, r.Run, nil)
	if err != nil {
		return r, err
	}
	return h.Wait(context.WithoutCancel(ctx))
}
