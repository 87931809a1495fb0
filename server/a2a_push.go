package server

import (
	"cmp"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/a2a"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/webhook"
)

// A push configuration is a signal of the task's run, which the run ignores. The signal of
// its latest number counts. Its URL and credentials are encrypted with the key for links, so
// that nobody reads them in the database.
type a2aPush struct {
	ID      string `json:"id"`
	Context string `json:"context,omitempty"`
	After   uint64 `json:"after"`            // the entries up to this one need no notification
	Sealed  []byte `json:"sealed,omitempty"` // an a2a.PushConfig
	Deleted bool   `json:"deleted,omitempty"`

	number int
}

const a2aPushSignal = a2aSignals + "push."

// mostPushes is the most configurations of a task.
const mostPushes = 20

// a2aPushes reports whether push notifications are supported.
func (s *Server) a2aPushes() bool { return len(s.options.LinkKey) > 0 }

func (s *Server) a2aPushSupported() error {
	if !s.a2aPushes() {
		return &a2a.Error{Kind: a2a.PushNotSupported, Message: "this server sends no push notifications"}
	}
	return nil
}

// a2aPushable checks a configuration.
func (s *Server) a2aPushable(c *a2a.PushConfig) error {
	if err := s.a2aPushSupported(); err != nil {
		return err
	}
	switch err := webhook.CheckURL(c.URL); {
	case err != nil:
		return a2aInvalid("url", "url: %v", err)
	case len(c.ID) > mostID:
		return a2aInvalid("id", "id has at most %d bytes", mostID)
	case c.Authentication != nil && !token(c.Authentication.Scheme):
		return a2aInvalid("authentication.scheme", "scheme is %q; write one such as Bearer", c.Authentication.Scheme)
	case strings.ContainsAny(c.Token, "\r\n") || c.Authentication != nil && strings.ContainsAny(c.Authentication.Credentials, "\r\n"):
		return a2aInvalid("token", "token and credentials are one line")
	}
	return nil
}

// token reports whether a text is a token of HTTP.
func token(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r) })
}

// a2aPushTask is the run whose push configurations a request is about.
func (s *Server) a2aPushTask(x *exchange, agent, task string) (pawl.Head, error) {
	if err := s.a2aPushSupported(); err != nil {
		return pawl.Head{}, err
	}
	return s.a2aFind(x, agent, task)
}

// a2aPushCreate is CreateTaskPushNotificationConfig.
func (s *Server) a2aPushCreate(x *exchange, agent string, in *a2a.PushConfig) (any, error) {
	h, err := s.a2aPushTask(x, agent, in.TaskID)
	if err == nil {
		err = s.a2aPushable(in)
	}
	if err != nil {
		return nil, err
	}
	in.TaskID = h.Run
	return s.a2aPushKeep(x, in)
}

// a2aPushKeep records a configuration. A configuration of the same id is replaced.
func (s *Server) a2aPushKeep(x *exchange, in *a2a.PushConfig) (*a2a.PushConfig, error) {
	ctx := x.Context()
	in.ID = cmp.Or(in.ID, rand.Text())
	in.Tenant = ""
	leg, err := s.a2aRead(ctx, x.key, in.TaskID)
	if err != nil {
		return nil, err
	}
	plain, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	// What the client may have missed so far is where the run rests now.
	p := a2aPush{ID: in.ID, Context: leg.context, After: leg.state.Seq() - 1, Sealed: s.seal(plain)}
	if leg.state.Status() == pawl.StatusRunning {
		p.After++
	}
	if leg.state.Run() != in.TaskID {
		p.After = 0
	}
	known, err := s.a2aPushList0(ctx, in.TaskID)
	if err != nil {
		return nil, err
	}
	if live := slices.DeleteFunc(slices.Collect(maps.Values(known)), func(p a2aPush) bool { return p.Deleted }); len(live) >= mostPushes && known[in.ID].Sealed == nil {
		return nil, a2aInvalid("taskId", "the task has %d push configurations, which is the most; delete one", mostPushes)
	}
	if err := s.a2aPushSend(ctx, in.TaskID, p, known[in.ID].number+1); err != nil {
		return nil, err
	}
	if s.options.Rests == nil {
		return in, nil
	}
	// The run may have come to rest before the configuration was there; a notice is sent once.
	now, err := s.a2aRead(ctx, x.key, in.TaskID)
	if err != nil {
		return nil, err
	}
	if now.state.Status() != pawl.StatusRunning {
		s.options.Rests(now.state.Result())
	}
	return in, nil
}

// a2aPushSend makes a configuration durable under its next free number.
func (s *Server) a2aPushSend(ctx context.Context, run string, p a2aPush, number int) error {
	body, err := json.Marshal(p)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(p.ID))
	for {
		_, err = s.journal.Send(ctx, pawl.Signal{
			Run: run, Kind: pawl.SignalDelivery, Request: fmt.Sprintf("%s%s.%d", a2aPushSignal, hex.EncodeToString(sum[:16]), number), By: "a2a", Body: body, Time: time.Now().UTC(),
		})
		if !errors.As(err, new(*pawl.SignalConflictError)) {
			return err
		}
		number++
	}
}

// a2aPushList0 are the configurations of a run by id, deleted ones included.
func (s *Server) a2aPushList0(ctx context.Context, run string) (map[string]a2aPush, error) {
	all := map[string]a2aPush{}
	for l, err := range s.journal.Signals(ctx, run, 0) {
		if err != nil {
			return nil, err
		}
		rest, ok := strings.CutPrefix(l.Request, a2aPushSignal)
		if l.Kind != pawl.SignalDelivery || !ok {
			continue
		}
		var p a2aPush
		_, number, _ := strings.Cut(rest, ".")
		n, err := strconv.Atoi(number)
		if err != nil || json.Unmarshal(l.Body, &p) != nil {
			continue
		}
		if p.number = n; n > all[p.ID].number {
			all[p.ID] = p
		}
	}
	return all, nil
}

// a2aPushGet is GetTaskPushNotificationConfig.
func (s *Server) a2aPushGet(x *exchange, agent string, in *a2a.PushID) (any, error) {
	list, err := s.a2aPushLive(x, agent, in)
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		if c.ID == in.ID {
			return c, nil
		}
	}
	return nil, &a2a.Error{Kind: a2a.TaskNotFound, Message: "the task has no such push configuration", Facts: map[string]string{"taskId": in.TaskID, "id": in.ID}}
}

// a2aPushList is ListTaskPushNotificationConfigs. All fit into one page.
func (s *Server) a2aPushList(x *exchange, agent string, in *a2a.PushID) (any, error) {
	list, err := s.a2aPushLive(x, agent, in)
	return a2a.PushConfigs{Configs: list}, err
}

func (s *Server) a2aPushLive(x *exchange, agent string, in *a2a.PushID) ([]a2a.PushConfig, error) {
	h, err := s.a2aPushTask(x, agent, in.TaskID)
	if err != nil {
		return nil, err
	}
	known, err := s.a2aPushList0(x.Context(), h.Run)
	if err != nil {
		return nil, err
	}
	list := []a2a.PushConfig{}
	for _, id := range slices.Sorted(maps.Keys(known)) {
		if c, ok := s.unsealed(known[id]); ok {
			list = append(list, c)
		}
	}
	return list, nil
}

// a2aPushDelete is DeleteTaskPushNotificationConfig.
func (s *Server) a2aPushDelete(x *exchange, agent string, in *a2a.PushID) (any, error) {
	h, err := s.a2aPushTask(x, agent, in.TaskID)
	if err != nil {
		return nil, err
	}
	known, err := s.a2aPushList0(x.Context(), h.Run)
	if p, ok := known[in.ID]; ok && err == nil && !p.Deleted {
		err = s.a2aPushSend(x.Context(), h.Run, a2aPush{ID: in.ID, Deleted: true}, p.number+1)
	}
	return struct{}{}, err
}

// Hooks returns the hooks that clients of the Agent2Agent protocol have set for a run, or for a
// run that handed over to it; see webhook.Options.
func (s *Server) Hooks(ctx context.Context, run string) ([]webhook.Hook, error) {
	if s.options.A2A == nil || !s.a2aPushes() {
		return nil, nil
	}
	h, err := runs.Head(ctx, s.journal, run)
	if err != nil || runs.IsChild(h) {
		return nil, err
	}
	start, err := runs.Begun(ctx, s.journal, run)
	if err != nil {
		return nil, err
	}
	tasks := []string{run}
	if start.Continues != nil && start.Continues.By != "" && len(start.Continues.Legs) > 0 {
		tasks = append(tasks, start.Continues.Legs[0])
	}
	var hooks []webhook.Hook
	for _, task := range tasks {
		known, err := s.a2aPushList0(ctx, task)
		if err != nil {
			return nil, err
		}
		for _, id := range slices.Sorted(maps.Keys(known)) {
			c, ok := s.unsealed(known[id])
			if !ok {
				continue
			}
			custom := &webhook.Custom{ID: "a2a " + id, Header: a2aHeader(&c), Body: s.a2aBodyOf(task, known[id].Context)}
			if task == run {
				custom.After = known[id].After
			}
			hooks = append(hooks, webhook.Hook{URL: c.URL, Custom: custom, Events: []webhook.Event{webhook.Waiting, webhook.Stopped}})
		}
	}
	return hooks, nil
}

// a2aHeader is what a notification says of itself: who sends it and for which task.
func a2aHeader(c *a2a.PushConfig) http.Header {
	h := http.Header{}
	h.Set("Content-Type", a2a.Media)
	h.Set(a2a.VersionHeader, a2a.Version)
	if c.Token != "" {
		h.Set("X-A2a-Notification-Token", c.Token)
	}
	if a := c.Authentication; a != nil {
		h.Set("Authorization", strings.TrimSpace(a.Scheme+" "+a.Credentials))
	}
	return h
}

// a2aBodyOf makes the notification of a task's run: the task as of an entry. It is nil when
// the run has handed over, since the task goes on.
func (s *Server) a2aBodyOf(task, thread string) func(ctx context.Context, state *pawl.State) ([]byte, error) {
	return func(ctx context.Context, state *pawl.State) ([]byte, error) {
		t := &a2aTask{id: task, context: thread, state: state}
		if _, handed := t.next(); handed {
			return nil, nil
		}
		out, err := t.task(ctx, s, nil)
		if err != nil {
			return nil, err
		}
		return json.Marshal(a2a.Update{Task: &out})
	}
}

// cipher encrypts what clients entrust to the server.
func (s *Server) cipher() cipher.AEAD {
	key := sha256.Sum256(append([]byte("pawl a2a push\x00"), s.options.LinkKey...))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // the key has the right length
	}
	c, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err)
	}
	return c
}

// seal needs no nonce: the cipher makes a random one.
func (s *Server) seal(plain []byte) []byte { return s.cipher().Seal(nil, nil, plain, nil) } //nolint:gosec // as above

// unsealed is a configuration that is not deleted. One that was sealed with another key is
// not known here.
func (s *Server) unsealed(p a2aPush) (c a2a.PushConfig, ok bool) {
	if p.Deleted {
		return c, false
	}
	plain, err := s.cipher().Open(nil, nil, p.Sealed, nil)
	return c, err == nil && json.Unmarshal(plain, &c) == nil
}
