package server

import (
	"context"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/runs/sweep"
)

// Sweep resumes runs of the host's agents that have no owner, whichever process drove
// them before: runs whose owner died, runs that are paused until a time that has come,
// and runs with an unread signal. Of several servers on one journal one does. Sweep
// returns when ctx has ended or the server is closed. [Server.Serve] sweeps by itself;
// call Sweep if the server is the handler of another http.Server.
func (s *Server) Sweep(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	unhook := context.AfterFunc(s.life, cancel)
	defer unhook()
	sweep.Run(ctx, s.journal, sweeping{s}, &sweep.Options{Log: s.log})
}

// sweeping drives the runs that a sweep finds with the server.
type sweeping struct{ server *Server }

// Agents are the names of the host's agents.
func (d sweeping) Agents(ctx context.Context) (names []string, err error) {
	agents, err := d.server.host.Agents(ctx)
	for _, a := range agents {
		names = append(names, a.Name)
	}
	return names, err
}

// Resume skips runs that are driven here: their owner renews a lapsed lease at its next
// heartbeat.
func (d sweeping) Resume(ctx context.Context, h pawl.Head) error {
	if d.server.live(h.Run) != nil {
		return &pawl.HeldError{Lease: h.Lease}
	}
	_, err := d.server.goOn(ctx, h, runs.Limits{}, h.Seq)
	return err
}
