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

// runRemote asks a server to run one of its agents, or the spec in a file.
func runRemote(ctx context.Context, a *app, d *driving, name string, rest []string, o *engine.StartOptions, queue bool) (int, error) {
	limits, err := sentLimits(d.limit, false)
	if err != nil {
		return 0, err
	}
	labels, err := parseLabels(d.label)
	if err != nil {
		return 0, err
	}
	ask := client.StartRun{Agent: name, Limits: limits, Labels: labels, Thread: o.Thread, IdempotencyKey: o.Key, Queue: queue, Files: o.Files}
	if isFile(name) {
		if ask.Spec, err = sentSpec(name, d); err != nil {
			return 0, err
		}
		ask.Agent = ""
	} else if d.model != "" || d.effort != "" || d.stop != "" {
		return 0, misuse("--model, --effort and --stop need a spec file; %s is an agent of the server, which has its own", name)
	}
	if len(rest) > 0 {
		if ask.Input, err = a.input(ctx, rest, ""); err != nil {
			return 0, err
		}
	}
	start := func(ctx context.Context) (pawl.Result, error) {
		if served := a.serves(ctx, ask.Spec); served != "" {
			ask.Agent, ask.Spec = served, nil
		}
		result, err := a.far.Start(ctx, ask)
		if p, ok := errors.AsType[*client.Problem](err); ok && ask.Spec != nil && p.Status == http.StatusForbidden {
			return result, misuse("sending the spec %s to %s: %w", name, a.server, err)
		}
		return result, err
	}
	return a.reading(ctx, func(pawl.Journal) (int, error) {
		if !queue {
			return a.driveFar(ctx, d, 0, start)
		}
		result, err := start(ctx)
		if err != nil {
			return 0, err
		}
		return 0, a.printQueued(ctx, result)
	})
}

// serves is the name under which the server has an agent of exactly this spec, with the
// programs and files that the spec names; empty: it has none, or does not say.
func (a *app) serves(ctx context.Context, raw json.RawMessage) string {
	if raw == nil {
		return ""
	}
	agents, err := a.far.Agents(ctx)
	if err != nil {
		return "" // starting the run will report the error
	}
	digest := specDigest(raw)
	for _, agent := range agents {
		if agent.Spec == digest {
			return agent.Name
		}
	}
	return ""
}

// specDigest is equal for equal specs.
func specDigest(raw json.RawMessage) string {
	return fmt.Sprintf("%x", sha256.Sum256(raw))
}

// isFile reports whether the argument names a file: the file exists, or the name is
// not a valid agent name.
func isFile(name string) bool {
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		return true
	}
	return strings.ContainsAny(name, `/\.`)
}

// sentSpec is the spec in a file in the server's form. Its problems are reported here,
// where the file is; only the server knows whether it can run the spec.
func sentSpec(file string, d *driving) (json.RawMessage, error) {
	if _, err := loadSpec(file, &spec.Options{Model: d.model, Effort: d.effort, Stop: d.stop}); err != nil {
		return nil, err
	}
	raw, err := specJSON(file)
	if err != nil || d.model == "" && d.effort == "" && d.stop == "" {
		return raw, err
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, err
	}
	if bytes.Equal(bytes.TrimSpace(fields["type"]), []byte(`"loop"`)) {
		return nil, misuse("--model, --effort and --stop do not apply to a Hyphen loop document; write them into the document")
	}
	for key, value := range map[string]string{"model": d.model, "stop": d.stop} {
		if value != "" {
			fields[key], _ = json.Marshal(value) // a string always marshals
		}
	}
	if d.effort != "" {
		fields["model"] = withEffort(fields["model"], d.effort)
	}
	return json.Marshal(fields)
}

// sentLimits are the limits of the command line in the server's form.
func sentLimits(texts []string, relative bool) (client.Limits, error) {
	limits := client.Limits{}
	_, err := eachLimit(texts, relative, func(name, value string) { limits[name], _ = json.Marshal(value) }) // a string always marshals
	return limits, err
}

// withEffort returns the model of a spec, a name or a mapping, with an effort.
func withEffort(model json.RawMessage, effort string) json.RawMessage {
	m := map[string]json.RawMessage{}
	if json.Unmarshal(model, &m) != nil && model != nil {
		m["name"] = model
	}
	m["effort"], _ = json.Marshal(effort) // strings and valid JSON always marshal
	raw, _ := json.Marshal(m)
	return raw
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
