package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/repro"
)

// reproAgain is what resuming a reproduction in another process needs besides the agent's own data. It
// is stored in the agent's source.
type reproAgain struct {
	fixAgain

	Typed string `json:"typed"` // the project's directory, as the user named it
	Fix   bool   `json:"fix,omitempty"`
}

func (r reproAgain) into(source string) string {
	fields := map[string]any{}
	text := r.fixAgain.into(source)
	if json.Unmarshal([]byte(text), &fields) != nil {
		return text
	}
	fields["typed"] = r.Typed
	if r.Fix {
		fields["fix"] = true
	}
	b, err := json.Marshal(fields)
	if err != nil {
		return text // it was read from JSON, so it marshals
	}
	return string(b)
}

// handOver is the beginning of the command that fixes what the test shows.
func (r reproAgain) handOver(env []string) []string {
	command := []string{"pawl", "fix", r.Typed}
	for _, v := range env {
		command = append(command, "--env", v)
	}
	return command
}

// joined is a command as --test takes it, and a shell. ^ and a last $ mean nothing to them.
func joined(command []string) string {
	out := make([]string, len(command))
	for i, w := range command {
		if out[i] = w; w == "" || strings.ContainsAny(strings.TrimSuffix(w, "$"), " \t\n'\"\\$`()[]{}&|;<>*?#~!") {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

// fixShown fixes what a test shows. With --json its result becomes part of the reproduction's.
func (a *app) fixShown(ctx context.Context, env []string, again reproAgain, test string, whole reproResult) (int, error) {
	a.then = nil
	f := &fixing{driving: driving{model: again.Model}, test: test, env: env}
	if !a.json {
		return fixProject(ctx, a, f, again.Typed)
	}
	out := a.out
	var fixed bytes.Buffer
	a.out = &fixed
	code, err := fixProject(ctx, a, f, again.Typed)
	a.out = out
	if text := bytes.TrimSpace(fixed.Bytes()); len(text) > 0 {
		whole.Fix = text
	}
	return code, errors.Join(err, printJSON(a.out, whole))
}

// reopenRepro reopens the working copy of an earlier process.
func reopenRepro(a *app, from repro.Source, source string, s *pawl.State, r remake) (*work, error) {
	var again reproAgain
	if err := json.Unmarshal([]byte(source), &again); err != nil {
		return nil, err
	}
	model, condition, err := again.remade(a, r, a.reproModel)
	if err != nil {
		return nil, err
	}
	if r.declared { // the copy is removed once a run has succeeded
		agent := repro.Recorded(from, model, s.Limits())
		agent.Stop = condition
		return &work{agent: agent, drop: func() {}}, nil
	}
	if err := recoverCopy(from.State); err != nil {
		return nil, err
	}
	made, err := repro.Open(from, model, s.Limits())
	if err != nil {
		return nil, goneCopy(err, s.Run(), a.typed("pawl", "repro", "TEXT", from.Dir))
	}
	agent := made.Agent()
	agent.Stop = condition
	agent.Source = again.into(agent.Source)
	return reproWork(a, made, agent, again), nil
}

func reproWork(a *app, r *repro.Repro, agent pawl.Agent, again reproAgain) *work {
	return &work{
		agent: agent,
		begun: func(run string) { a.claimCopy(r.Source().State, run) },
		conclude: func(ctx context.Context, result pawl.Result) (int, error) {
			return concludeRepro(ctx, a, r, result, again)
		},
		drop: func() { _ = r.Release() }, // nothing was written
	}
}
