package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/spec"
)

func recordCommand(a *app) *cobra.Command {
	to, raw := "", false
	c := oneRun(a, "record RUN [flags]", "Write the model replies of a run to a script that plays the run again", func(ctx context.Context, j pawl.Journal, h pawl.Head) (int, error) {
		return 0, a.record(ctx, j, h.Run, to, &runs.RecordOptions{Raw: raw})
	})
	c.Long = `Write a script: a YAML file with the model's replies, turn by turn, and the
failures in between. pawl run SPEC --model script:FILE plays the run again without a
network or a key: tools run again, models do not. The file is meant to be read and edited.

Likely secrets are removed from texts. If the arguments of a call contain a likely
secret, the command fails, because without the secret the call would be another call.`
	c.Example = `  pawl record last -o testdata/refund.script.yaml
  pawl run agent.yaml "Refund order 7." --model script:testdata/refund.script.yaml`
	c.Flags().StringVarP(&to, "out", "o", "", "the file to write (default: standard output)")
	c.Flags().BoolVar(&raw, "raw", false, "keep likely secrets")
	return c
}

// record writes the script of a run.
func (a *app) record(ctx context.Context, j pawl.Journal, run, to string, o *runs.RecordOptions) error {
	if a.json {
		return misuse("a script is YAML; leave out --json")
	}
	if _, err := os.Lstat(to); err == nil {
		return misuse("-o %s exists already; name another file, or remove it first", to)
	}
	made, err := runs.Record(ctx, j, run, o)
	if err != nil {
		return err
	}
	text, err := made.Script.YAML()
	if err != nil {
		return refused(fmt.Errorf("run %s: %w", run, err))
	}
	head := fmt.Sprintf("# What the model replied in run %s.\n# Play it: pawl run SPEC [INPUT] --model script:FILE\n", run)
	text = append([]byte(head), text...)
	for _, place := range made.Redacted {
		a.sayf("%s: removed what looks like a secret", place)
	}
	if to == "" || to == "-" {
		_, err = a.out.Write(text)
		return err
	}
	if err := replaceFile(to, text); err != nil {
		return refused(err)
	}
	a.sayf("wrote %s; play it with --model script:%[1]s", to)
	return nil
}

// replaceFile writes a file whole or not at all.
func replaceFile(name string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".pawl-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Chmod(f.Name(), 0o644) //nolint:gosec // it holds no secret, and a project is shared
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// playing returns the script that --model names if it is the record of a run. It then
// answers for every model of the registry: those of judges and other agents replied in the
// run as well.
func playing(r *spec.Registry, model string) *script.Model {
	file, ok := strings.CutPrefix(model, "script:")
	if !ok {
		return nil
	}
	m, err := script.Load(file)
	if err != nil || !m.Strict() { // what is wrong with it is reported when it is made
		return nil
	}
	for name := range r.Models {
		r.Models[name] = func(string) (pawl.Model, error) { return m, nil }
	}
	return m
}

// unasked warns of replies that a run which has ended did not ask for: it was not the
// recorded one.
func (con *console) unasked(m *script.Model, r pawl.Result) {
	if m == nil || r.Status.Waiting() || r.Status == pawl.StatusPaused {
		return
	}
	if places := m.Unasked(); len(places) > 0 {
		con.sayf("pawl: warning: the run did not ask for %s of the script; it is not the run that was recorded", strings.Join(places, ", "))
	}
}
