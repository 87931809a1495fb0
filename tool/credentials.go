package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/internal/web"
)

// A Credential authorises the calls of a user to a service.
type Credential struct {
	Token   string    `json:"token"`   // empty: the user has not given access
	Expires time.Time `json:"expires"` // zero: the token is got again for each call
	Link    string    `json:"link"`    // where a person gives access, if there is no token
}

// Credentials get the tokens with which the tools of an agent act for the users of its runs. They
// are safe for concurrent use, and several tools may share them.
type Credentials struct {
	name   string
	labels []string // nil: all
	get    func(ctx context.Context, labels map[string]string) (Credential, error)

	mu   sync.Mutex
	kept map[string]Credential // by labels
}

// NewCredentials returns the credentials for a service of that name. get returns the credential of
// the user whom some labels of a run name, such as tenant and user; nil: all of them. It is called by
// calls of tools, from several goroutines, when no earlier credential for equal labels is valid for
// another minute. In a child run, the labels are those of the topmost run.
func NewCredentials(name string, labels []string, get func(ctx context.Context, labels map[string]string) (Credential, error)) *Credentials {
	return &Credentials{name: name, labels: slices.Clone(labels), get: get, kept: map[string]Credential{}}
}

// Token returns the token for the call of a tool, whose Run has got ctx. It never reaches the log:
// texts of the run have {{secret:NAME}} in its place. If the user has not given access, the error is
// a [pawl.AskPerson], which Run must return before it has done anything: the run waits for a person
// with the credential's link, and the answer makes the call again.
func (c *Credentials) Token(ctx context.Context) (string, error) {
	caller := web.CallerFrom(ctx)
	if caller == nil {
		return "", fmt.Errorf("the credential %s is for calls of a run's tools", c.name)
	}
	if caller.Err != nil {
		return "", fmt.Errorf("the credential %s: for whom the run is: %w", c.name, caller.Err)
	}
	user := caller.Labels
	if c.labels != nil {
		user = map[string]string{}
	}
	for _, label := range c.labels {
		value, ok := caller.Labels[label]
		if !ok {
			return "", fmt.Errorf("the credential %s is for the label %s, which the run does not have", c.name, label)
		}
		user[label] = value
	}
	got, err := c.credential(ctx, user)
	if err != nil {
		return "", fmt.Errorf("the credential %s: %w", c.name, err)
	}
	switch {
	case got.Token == "":
		return "", c.ask(user, caller.Answers, got.Link)
	case len(got.Token) < redact.Least:
		return "", fmt.Errorf("the credential %s is too short to be kept out of texts", c.name)
	}
	caller.Learn(c.name, got.Token)
	return got.Token, nil
}

// credential returns one that is kept, or a new one.
func (c *Credentials) credential(ctx context.Context, labels map[string]string) (Credential, error) {
	key, err := json.Marshal(labels)
	if err != nil {
		return Credential{}, err
	}
	soon := time.Now().Add(time.Minute)
	c.mu.Lock()
	maps.DeleteFunc(c.kept, func(_ string, old Credential) bool { return old.Expires.Before(soon) })
	got, ok := c.kept[string(key)]
	c.mu.Unlock()
	if ok {
		return got, nil
	}
	if got, err = c.get(ctx, maps.Clone(labels)); err != nil {
		return got, err
	}
	if got.Token == "" && got.Link == "" {
		return got, errors.New("there is neither a token nor a link to get one")
	}
	if got.Token != "" && got.Expires.After(soon) {
		c.mu.Lock()
		c.kept[string(key)] = got
		c.mu.Unlock()
	}
	return got, nil
}

// ask is the question for access. Each has a key of its own, since an answer may be premature.
func (c *Credentials) ask(user, answers map[string]string, link string) pawl.AskPerson {
	key := "credential " + c.name + " "
	asked := 0
	for old := range answers {
		if strings.HasPrefix(old, key) {
			asked++
		}
	}
	var whom []string
	for _, name := range slices.Sorted(maps.Keys(user)) {
		whom = append(whom, name+"="+user[name])
	}
	return pawl.AskPerson{
		Key:      key + strconv.Itoa(asked+1),
		Question: fmt.Sprintf("%s needs access%s: open %s, then answer.", c.name, display.After(" for ", strings.Join(whom, " ")), link),
	}
}
