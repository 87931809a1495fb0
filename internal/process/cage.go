package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Cage is a sandbox: the kernel confines a command to some files, to no network, and to limits on memory
// and processes. The zero value confines nothing.
//
// A process can impose most of these restrictions only on itself, irrevocably. So the program
// starts itself in the command's place; the new process confines itself and then executes the
// command. [Cage.Open] prepares this in the parent, and [Enter] does it in the new process.
type Cage struct {
	// Files, if there are any, are the only files that the command may use, in
	// addition to those that all programs need; see [System]. Of several, the
	// first are the cage's own and the others those of the cages around it: a
	// file must be among each of them.
	Files []Files
	// NoNetwork forbids connections of any kind.
	NoNetwork bool
	// Memory is the most bytes of memory of the command and all that it starts, or
	// without control groups of each process; zero is unlimited.
	Memory int64
	// Processes is the most simultaneous processes and threads; zero is
	// unlimited.
	Processes int
}

// Files are files and directories with their content. Files to read may also be
// executed, files to write may also be read.
type Files struct {
	Read, Write []string
}

// String lists the files.
func (f Files) String() string {
	return fmt.Sprintf("read [%s], write [%s]", strings.Join(f.Read, ", "), strings.Join(f.Write, ", "))
}

// LeastMemory is less than any program needs.
const LeastMemory = 1 << 20

// Wrong returns the errors in the cage.
func (c Cage) Wrong() (errs []error) {
	for _, f := range c.Files {
		for _, name := range slices.Concat(f.Read, f.Write) {
			if name == "" || strings.Contains(name, "\x00") {
				errs = append(errs, fmt.Errorf("its cage names the file %q; name a file or a directory", name))
			}
		}
	}
	if c.Memory != 0 && c.Memory < LeastMemory {
		errs = append(errs, fmt.Errorf("its cage gives %d bytes of memory; no program runs in less than %d", c.Memory, LeastMemory))
	}
	if c.Processes < 0 {
		errs = append(errs, fmt.Errorf("its cage gives %d processes; give 1 or more", c.Processes))
	}
	return errs
}

// Within returns the cage inside another: both confine a command in it.
func (c Cage) Within(o Cage) Cage {
	c.Files = slices.Concat(c.Files, o.Files)
	c.NoNetwork = c.NoNetwork || o.NoNetwork
	if o.Memory > 0 && (c.Memory == 0 || o.Memory < c.Memory) {
		c.Memory = o.Memory
	}
	if o.Processes > 0 && (c.Processes == 0 || o.Processes < c.Processes) {
		c.Processes = o.Processes
	}
	return c
}

// Reading returns the cage with additional readable files, also in the cages
// around it.
func (c Cage) Reading(files ...string) Cage {
	return c.changed(func(f Files) Files { return Files{slices.Concat(f.Read, files), f.Write} })
}

// Writing returns the cage with additional writable files, also in the cages
// around it.
func (c Cage) Writing(files ...string) Cage {
	return c.changed(func(f Files) Files { return Files{f.Read, slices.Concat(f.Write, files)} })
}

// changed returns the cage with each of its files changed.
func (c Cage) changed(change func(Files) Files) Cage {
	was := c.Files
	c.Files = nil
	for _, f := range was {
		c.Files = append(c.Files, change(f))
	}
	return c
}

// In returns the cage with its files made absolute relative to a directory.
func (c Cage) In(dir string) (Cage, error) {
	dir, err := filepath.Abs(dir)
	within := func(names []string) []string {
		all := make([]string, len(names))
		for i, name := range names {
			if all[i] = filepath.Clean(name); !filepath.IsAbs(name) {
				all[i] = filepath.Join(dir, name)
			}
		}
		return all
	}
	return c.changed(func(f Files) Files { return Files{within(f.Read), within(f.Write)} }), err
}

// Of returns the cage of a program given by its author: its files are relative
// to a directory, and arguments that are files may be read.
func (c Cage) Of(argv []string, dir string) (Cage, error) {
	in, err := c.In(dir)
	if err != nil || in.Files == nil {
		return in, err
	}
	var named []string
	for _, arg := range argv[1:] {
		if !filepath.IsAbs(arg) {
			arg = filepath.Join(dir, arg)
		}
		if info, err := os.Stat(arg); err == nil && info.Mode().IsRegular() {
			if arg, err = filepath.Abs(arg); err != nil {
				return in, err
			}
			named = append(named, arg)
		}
	}
	return in.Reading(named...), nil
}

// Describe describes for the log what the cage restricts and by which means on
// this machine, one clause for each part.
func (c Cage) Describe() string {
	m := c.means()
	return c.clauses(func(what, by string) string { return what + " (" + by + ")" }, &m)
}

// String describes what the cage restricts.
func (c Cage) String() string {
	return c.clauses(func(what, _ string) string { return what }, &means{})
}

func (c Cage) clauses(one func(what, by string) string, m *means) string {
	parts := []string{one("privileges: none", m.privileges)}
	if c.Files != nil {
		names := make([]string, len(c.Files))
		for i, f := range c.Files {
			names[i] = f.String()
		}
		parts = append(parts, one("files: "+strings.Join(names, ", within "), m.files))
	}
	if c.NoNetwork {
		parts = append(parts, one("network: none", m.network))
	}
	if c.Memory > 0 {
		parts = append(parts, one(fmt.Sprintf("memory: %d bytes", c.Memory), m.memory))
	}
	if c.Processes > 0 {
		parts = append(parts, one(fmt.Sprintf("processes: %d", c.Processes), m.processes))
	}
	return strings.Join(parts, "; ")
}

// means are the names of the mechanisms that enforce each part.
type means struct{ privileges, files, network, memory, processes string }

// errNotEnabled is the error of a program that does not call Enter.
var errNotEnabled = errors.New("its cage needs the program to be started once more; have main call tool.Supervise first")

// System are the files that every command in a cage may read and execute:
// programs and libraries, and what the C library, resolvers and language
// runtimes need. None belong to a user or are secret. Missing ones are skipped.
var System = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store",
	"/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload", "/etc/localtime", "/etc/timezone",
	"/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ca-certificates", "/etc/pki/ca-trust", "/etc/pki/tls/certs", "/etc/crypto-policies",
	"/etc/nsswitch.conf", "/etc/hosts", "/etc/resolv.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols", "/etc/mime.types", "/etc/gitconfig",
	"/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/filesystems", "/proc/version", "/proc/sys/vm", "/proc/sys/kernel/cap_last_cap",
	"/sys/devices/system/cpu", "/sys/kernel/mm/transparent_hugepage",
	"/dev/random", "/dev/urandom",
}

// systemWrite are the devices that every command may also write.
var systemWrite = []string{"/dev/null", "/dev/zero", "/dev/full"}
