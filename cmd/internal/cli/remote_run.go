package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/server/client"
	"github.com/pawl-run/pawl/spec"
)

// runRemote has a server run one of its agents, or the spec in a file.
func (a *app) runRemote(ctx context.Context, d *driving, name string, rest []string, o *engine.StartOptions) (int, error) {
	limits, err := sentLimits(d.limit, false)
	if err != nil {
		return 0, err
	}
	labels, err := parseLabels(d.label)
	if err != nil {
		return 0, err
	}
	ask := client.StartRun{Agent: name, Limits: limits, Labels: labels, Thread: o.Thread, IdempotencyKey: o.Key}
	if isFile(name) {
		if ask.Spec, err = sentSpec(name, d); err != nil {
			return 0, err
		}
		ask.Agent = ""
	} else if d.model != "" || d.stop != "" {
		return 0, misuse("--model and --stop are for a spec that is sent along; %s is an agent of the server, which knows its own", name)
	}
	if len(rest) > 0 {
		if ask.Input, err = a.input(ctx, rest, ""); err != nil {
			return 0, err
		}
	}
	return a.with(ctx, func(j store) (int, error) {
		r := j.(*remote)
		return a.driveRemote(ctx, r, d, 0, func(ctx context.Context) (pawl.Result, error) {
			if served := r.serves(ctx, ask.Spec); served != "" {
				ask.Agent, ask.Spec = served, nil
			}
			result, err := r.Start(ctx, ask)
			if p, ok := errors.AsType[*client.Problem](err); ok && ask.Spec != nil && p.Status == http.StatusForbidden {
				return result, misuse("%s is sent to %s as a spec of yours: %w", name, a.server, err)
			}
			return result, err
		})
	})
}

// serves is the name under which the server has the agent of just this spec, with
// the programs and files that it names beside it there; empty: it has not, or does
// not say.
func (r *remote) serves(ctx context.Context, raw json.RawMessage) string {
	if raw == nil {
		return ""
	}
	agents, err := r.Agents(ctx)
	if err != nil {
		return "" // it says so again when it is asked for the run
	}
	digest := specDigest(raw)
	for _, a := range agents {
		if a.Spec == digest {
			return a.Name
		}
	}
	return ""
}

// specDigest tells specs apart that say something else.
func specDigest(raw json.RawMessage) string {
	return fmt.Sprintf("%x", sha256.Sum256(raw))
}

// isFile reports whether what is to be run is meant as the name of a file: it is
// one, or could not be the name of an agent.
func isFile(name string) bool {
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		return true
	}
	return strings.ContainsAny(name, `/\.`)
}

// sentSpec is the spec in a file as a server takes it. What is wrong with it is
// told here, where the file is; whether the server can run it, only that knows.
func sentSpec(file string, d *driving) (json.RawMessage, error) {
	if _, err := loadSpec(file, &spec.Options{Model: d.model, Stop: d.stop}); err != nil {
		return nil, err
	}
	raw, err := specJSON(file)
	if err != nil || d.model == "" && d.stop == "" {
		return raw, err
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, err
	}
	if bytes.Equal(bytes.TrimSpace(fields["type"]), []byte(`"loop"`)) {
		return nil, misuse("--model and --stop cannot be sent along with a Hyphen loop document; write them into it")
	}
	for key, value := range map[string]string{"model": d.model, "stop": d.stop} {
		if value != "" {
			fields[key], _ = json.Marshal(value) // a string always marshals
		}
	}
	return json.Marshal(fields)
}

// specJSON is the spec in a file, as JSON.
func specJSON(file string) (json.RawMessage, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		if at, ok := errors.AsType[*fs.PathError](err); ok {
			err = at.Err
		}
		return nil, misuse("%s: %w", file, err)
	}
	return spec.JSON(filepath.Base(file), data)
}
