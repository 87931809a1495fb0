package tool

import (
	"github.com/pawl-run/pawl/internal/process"
)

// A Cage restricts a command and all processes that it starts; the kernel enforces it. The zero
// value restricts only this: the command gains no privileges, not even root's, and dumps no core.
//
// It requires Linux and a program that calls [Supervise] first: a process can impose most
// restrictions only on itself, so the program is started once more, restricts itself, and then
// becomes the command. If the machine cannot enforce the cage, the agent is refused with an error
// that names what is missing. The declaration, and so the log, records how it is enforced.
// docs/tools.md says what a cage does not prevent.
type Cage struct {
	// Files, if set, are all files that the command may use, besides programs, libraries
	// and what they need to run. Its home and temporary directories are then directories
	// of its own, empty at first and removed at the end, and it can reach no sockets
	// through which it could command other programs. Nil: all files that the user may use.
	Files *CageFiles `key:"files" such:"{read: [.]}" usual:"the user's" about:"files that commands may use"`
	// NoNetwork forbids all connections, including those to this machine.
	NoNetwork bool `key:"network" enum:"none" usual:"the user's" about:"no connections, even to this machine"`
	// Memory is the maximum of memory of the command and all that it starts, and of the size
	// of a file that it writes, in bytes; zero: no limit. Where no control group can be made,
	// it is the maximum of private memory of each process.
	Memory int64 `key:"memory" format:"size" min:"1048576" max:"1099511627776" usual:"no limit" about:"memory of a command with what it starts, and size of a file that it writes"`
	// Processes is the maximum number of processes and threads at once; zero: no limit.
	Processes int `key:"processes" such:"64" usual:"no limit" about:"processes and threads at once"`
	// Within, if set, is a second cage around this one, such as that of the user who
	// ordered the work. The command is held to both, and the files of both are relative
	// to its Dir.
	Within *Cage
}

// CageFiles name files and directories, with all files below them, relative to the command's
// Dir. Files that may be read may also be executed; files that may be written may also be read.
// They must exist when the command starts.
type CageFiles struct {
	Read  []string `json:"read,omitempty" unique:"true" such:"[.]" about:"readable and executable, besides the system's programs"`
	Write []string `json:"write,omitempty" unique:"true" such:"[out]" about:"also writable"`
}

// Inner returns the cage in its enforceable form, for the packages of this module that start
// programs, such as mcp; nil if there is no cage.
func (c *Cage) Inner() *process.Cage {
	if c == nil {
		return nil
	}
	in := process.Cage{NoNetwork: c.NoNetwork, Memory: c.Memory, Processes: c.Processes}
	if c.Files != nil {
		in.Files = []process.Files{process.Files(*c.Files)}
	}
	if around := c.Within.Inner(); around != nil {
		in = in.Within(*around)
	}
	return &in
}

// Describe describes what the cage restricts, and by which means on this machine.
func (c *Cage) Describe() string { return c.Inner().Describe() }

// Missing returns an error that says why this machine, or this program, cannot enforce the
// cage; nil if it can.
func (c *Cage) Missing() error { return c.Inner().Missing() }

// caged returns the cage of one attempt. The program and the scripts that the declaration
// names may always be read; those that the model chooses may not.
func (c *command) caged() (*process.Cage, error) {
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
			own = append(own, within(name, c.dir))
		}
	}
	in = in.Reading(own...)
	return &in, nil
}

// enter makes a command run in the cage of its job, if the job has one. The caller calls leave
// when the command has ended.
func (j *job) enter(c *process.Command) (leave func(), err error) {
	if j.Cage == nil {
		return func() {}, nil
	}
	o, err := j.Cage.Open(!j.Chosen)
	if err != nil {
		return nil, err
	}
	c.Env = o.Env(c.Env)
	c.Through = &process.Through{Argv: o.Argv, Attr: o.Attr, Explain: process.Explain}
	return func() { _ = o.Close() }, nil // a directory that cannot be removed is a temporary one
}
