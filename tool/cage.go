package tool

import (
	"github.com/pawl-run/pawl/internal/cage"
	"github.com/pawl-run/pawl/internal/process"
)

// A Cage is what a command is held to by the kernel, together with whatever it
// starts. The zero value holds it to nothing but this: it gains no privileges,
// root's included, and leaves no core.
//
// It takes Linux, and a program that calls [Supervise] first: most of this a
// process can only do to itself, so the program is started once more and becomes
// the command. Where the machine cannot enforce what is asked, the agent is
// refused with what is missing. How it is enforced stands in the declaration,
// and so in the log. What a cage does not hold docs/tools.md says.
type Cage struct {
	// Files, if set, are all files the command may use, besides programs,
	// libraries and what they need to run. Its home and its place for temporary
	// files are then a directory of its own, empty at first and removed at the end,
	// and it has no sockets by which other programs could be told what to do. Nil:
	// all that the user may.
	Files *CageFiles
	// NoNetwork forbids all connections, to this machine too.
	NoNetwork bool
	// Memory is how many bytes of private memory each process may have, and how
	// large a file it may write; zero is without limit.
	Memory int64
	// Processes is how many processes and threads there may be at once; zero is
	// without limit.
	Processes int
	// Within, if set, is a cage around this one, such as that of whoever has this
	// work done: the command is held to both, and the files of both are relative to
	// its Dir.
	Within *Cage
}

// CageFiles name files and directories, with what is beneath them, relative to
// the command's Dir. What may be read may be executed too, what may be written
// may be read too. They must be there when the command starts.
type CageFiles struct {
	Read, Write []string
}

// Inner is the cage as it is enforced, for the packages of this module that start
// programs, such as mcp; nil for none.
func (c *Cage) Inner() *cage.Cage {
	if c == nil {
		return nil
	}
	in := cage.Cage{Files: (*cage.Files)(c.Files), NoNetwork: c.NoNetwork, Memory: c.Memory, Processes: c.Processes}
	if around := c.Within.Inner(); around != nil {
		in = in.Within(*around)
	}
	return &in
}

// Describe says in words what the cage holds a command to, and by which means on
// this machine.
func (c *Cage) Describe() string { return c.Inner().Describe() }

// Missing says why this machine, or this program, cannot hold a command to the
// cage; nil: it can.
func (c *Cage) Missing() error { return c.Inner().Missing() }

// caged is the cage of one attempt: the program and the scripts that the
// declaration names may be read in any case, those of the model's choice not.
func (c *command) caged() (*cage.Cage, error) {
	if c.cage == nil {
		return nil, nil
	}
	in, err := c.cage.In(c.dir)
	if err != nil || in.Files == nil || c.chosen {
		return &in, err
	}
	var own []string
	for name, err := range scripts(c.argv, c.dir) {
		if err == nil {
			own = append(own, beside(name, c.dir))
		}
	}
	in = in.Reading(own...)
	return &in, nil
}

// enter has a command run in the cage of its job, if it has one, and returns what
// to call when it has ended.
func (j *job) enter(c *process.Command) (leave func(), err error) {
	if j.Cage == nil {
		return func() {}, nil
	}
	o, err := j.Cage.Open(!j.Chosen)
	if err != nil {
		return nil, &process.StartError{Program: j.Argv[0], Reason: err.Error(), Err: err}
	}
	c.Env = o.Env(c.Env)
	c.Through = &process.Through{Argv: o.Argv, Attr: o.Attr, Explain: cage.Explain}
	return func() { _ = o.Close() }, nil // what cannot be removed is in the place for what is temporary
}
