package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/cmd/internal/screen"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/server/client"
	"github.com/pawl-run/pawl/spec"
)

// A grade is how well one thing is.
type grade string

const (
	well  grade = "ok"
	doubt grade = "warning" // it works, and may soon not
	ill   grade = "error"   // runs cannot be driven, or not safely
)

// A finding is what the doctor says about one thing.
type finding struct {
	Check  string `json:"check"`
	Grade  grade  `json:"grade"`
	Detail string `json:"detail"`
	Remedy string `json:"remedy,omitempty"` // what to do; empty: nothing
}

// A diagnosis is what the doctor says about everything, as JSON.
type diagnosis struct {
	OK     bool      `json:"ok"` // there is no error
	Checks []finding `json:"checks"`
}

// A doctor collects findings.
type doctor struct {
	*app

	findings []finding
}

func (d *doctor) find(check string, g grade, remedy, format string, args ...any) {
	clean := func(text string) string { return redact.Text(screen.OneLine(display.Clean(text))) }
	d.findings = append(d.findings, finding{check, g, clean(fmt.Sprintf(format, args...)), clean(remedy)})
}

func doctorCommand(a *app) *cobra.Command {
	model, on := "", ""
	c := remotely(a.command("doctor [SPEC…|DIR…] [flags]", "Check this installation, and say what to do about what is wrong", cobra.ArbitraryArgs,
		func(ctx context.Context, args []string) (int, error) {
			if code, handed, err := handOver(ctx, a, on); handed {
				return code, err
			}
			return (&doctor{app: a}).examine(ctx, args, model, on)
		}))
	c.Flags().StringVar(&model, "model", "", "check the specs with this model, as PROVIDER/NAME")
	c.Flags().StringVar(&on, "on", "", "also check this Temporal server (temporal://HOST:PORT/NAMESPACE), and that workers ask it for runs of the specs")
	return looking(c)
}

// examine checks everything, prints what it finds, and returns 1 if there is an error.
func (d *doctor) examine(ctx context.Context, args []string, model, on string) (int, error) {
	_, agents, err := d.loadSpecs(args, spec.Options{Model: model})
	if err != nil {
		return 0, err
	}
	d.version()
	if d.server != "" {
		d.remote(ctx)
	} else if err := d.database(ctx); err != nil {
		return 0, err
	}
	if d.server == "" || len(agents) > 0 { // else the server has the keys
		d.sheet()
		d.reach(ctx, agents)
	}
	if on != "" {
		d.dispatcher(ctx, on, agents)
	}
	return d.print()
}

func (d *doctor) version() {
	b := thisBuild()
	g, remedy := well, ""
	if b.Modified {
		g, remedy = doubt, "deploy builds of a commit, so that every process of a journal can be told apart"
	}
	d.find("version", g, remedy, "%v, machine number %d (the version of the decision rules)", b, pawl.MachineNumber)
}

// remote checks a server in place of a database.
func (d *doctor) remote(ctx context.Context) {
	if err := d.toServer(); err != nil {
		d.find("server", ill, "write --server as http://HOST:PORT, https://HOST or unix:///PATH", "%v", err)
		return
	}
	for _, err := range d.far.Runs(ctx, client.Query{Max: 1}) {
		if err != nil {
			d.find("server", ill, "check that pawl serve runs there, that --server is its address, and that PAWL_TOKEN is one of its tokens", "%s: %v", d.server, err)
			return
		}
	}
	d.find("server", well, "", "%s answers and takes the token", d.server)
}

func (d *doctor) print() (int, error) {
	code := 0
	if slices.ContainsFunc(d.findings, func(f finding) bool { return f.Grade == ill }) {
		code = exitBroken
	}
	if d.json {
		return code, printJSON(d.out, diagnosis{code == 0, d.findings})
	}
	w := tabwriter.NewWriter(d.out, 0, 0, 2, ' ', 0)
	for _, f := range d.findings {
		fmt.Fprintf(w, "%s\t%s\t%s\n", f.Grade, f.Check, f.Detail)
		if f.Remedy != "" {
			fmt.Fprintf(w, "\t\t→ %s\n", f.Remedy)
		}
	}
	return code, w.Flush()
}

// absolute is a path for people.
func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}
