package cli

import (
	"context"
	"errors"
	"net/http"
	"os"

	"github.com/pawl-run/pawl/runs/worker"
	"github.com/pawl-run/pawl/spec"
)

// inCopy makes the agent of a source for one run, which works in a copy of its own. The copy's change is applied
// when the run is released with success, as pawl run applies it.
func (h *serveHost) inCopy(ctx context.Context, source string) (worker.Work, error) {
	beside := h.app.beside()
	registry := beside.registry()
	made, err := spec.ParseSource(source, &spec.Options{Registry: registry})
	if err != nil {
		return worker.Work{}, err
	}
	tree, err := beside.copied(ctx, made.Project())
	if err != nil {
		return worker.Work{}, problem(http.StatusConflict, err.Error())
	}
	var w worker.Work
	if made, err = spec.ParseSource(source, &spec.Options{Registry: registry, Workspace: workspaceOf(tree)}); err == nil {
		w, err = h.made(ctx, beside, made, registry)
	}
	if err != nil {
		return w, errors.Join(err, tree.Close())
	}
	released := w.Done
	kept := func(run string) bool {
		released(run)
		keep := run != "" && works(context.Background(), h.journal, run, tree)
		if !keep {
			_ = tree.Close() // no run works in it
		}
		return keep
	}
	w.Queued = func(run string) { kept(run) } // the process that takes the run finishes it
	w.Done = func(run string) {
		if kept(run) {
			h.finish(run)
		}
	}
	return w, nil
}

// finish applies what a run changed in its copy, if it succeeded. The log has what keeps it from that, as pawl explain
// says it on this machine; pawl resume completes it.
func (h *serveHost) finish(run string) {
	if err := h.app.finishCopy(context.Background(), h.journal, run); err != nil {
		h.log.Error("the change of a run is not applied", "run", run, "error", err)
	}
}

// hasCopy reports whether the working copy of a run is on this machine.
func hasCopy(w *spec.Workspace) bool {
	_, err := os.Stat(w.State)
	return err == nil
}
