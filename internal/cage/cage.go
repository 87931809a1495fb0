// Package cage confines a command by means of the kernel: to some files, to no
// network, to so much memory and so many processes.
//
// Most of that a process can only do to itself, and for good. So the program is
// started once more in the command's place, with its new process confines itself
// and then becomes the command: [Enter] does that there, [Cage.Open] prepares it
// here.
package cage

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// A Cage is what a command is held to. The zero value holds it to nothing.
type Cage struct {
	// Files, if set, names all files that the command may use besides those that
	// programs need to run at all; see [System].
	Files *Files
	// NoNetwork forbids connections of any kind.
	NoNetwork bool
	// Memory is how many bytes of private memory each process may have; zero is
	// without limit.
	Memory int64
	// Processes is how many processes and threads there may be at once; zero is
	// without limit.
	Processes int
}

// Files are files and directories, with what is beneath them. What may be read
// may also be executed, what may be written may also be read.
type Files struct {
	Read, Write []string
}

// LeastMemory is less than what any program runs in.
const LeastMemory = 1 << 20

// Wrong returns what makes no sense.
func (c Cage) Wrong() (errs []error) {
	if f := c.Files; f != nil {
		for _, name := range append(append([]string{}, f.Read...), f.Write...) {
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

// In returns the cage with its files relative to a directory.
func (c Cage) In(dir string) (Cage, error) {
	if c.Files == nil {
		return c, nil
	}
	within := func(names []string) ([]string, error) {
		all := make([]string, len(names))
		for i, name := range names {
			if !filepath.IsAbs(name) {
				name = filepath.Join(dir, name)
			}
			path, err := filepath.Abs(name)
			if err != nil {
				return nil, err
			}
			all[i] = path
		}
		return all, nil
	}
	read, err := within(c.Files.Read)
	if err != nil {
		return c, err
	}
	write, err := within(c.Files.Write)
	c.Files = &Files{read, write}
	return c, err
}

// Describe says what the cage holds a command to, and by which means on this
// machine, in words for the log: one clause for each part.
func (c Cage) Describe() string {
	means := c.means()
	parts := []string{"privileges: none (" + means.privileges + ")"}
	if f := c.Files; f != nil {
		parts = append(parts, fmt.Sprintf("files: read [%s], write [%s] (%s)", strings.Join(f.Read, ", "), strings.Join(f.Write, ", "), means.files))
	}
	if c.NoNetwork {
		parts = append(parts, fmt.Sprintf("network: none (%s)", means.network))
	}
	if c.Memory > 0 {
		parts = append(parts, fmt.Sprintf("memory: %d bytes a process (%s)", c.Memory, means.memory))
	}
	if c.Processes > 0 {
		parts = append(parts, fmt.Sprintf("processes: %d (%s)", c.Processes, means.processes))
	}
	return strings.Join(parts, "; ")
}

// means are the names of what enforces each part.
type means struct{ privileges, files, network, memory, processes string }

// errNotEnabled is what is missing in a program that does not begin with Enter.
var errNotEnabled = errors.New("its cage needs the program to be started once more; have main call tool.Supervise first")

// System are the files that every command in a cage may read, and execute:
// programs and libraries, and what the C library, resolvers and language
// runtimes look for. Nothing here is a user's or secret. Those that are not there
// are passed over.
var System = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store",
	"/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload", "/etc/localtime", "/etc/timezone",
	"/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ca-certificates", "/etc/pki/ca-trust", "/etc/pki/tls/certs", "/etc/crypto-policies",
	"/etc/nsswitch.conf", "/etc/hosts", "/etc/resolv.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols", "/etc/mime.types",
	"/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/filesystems", "/proc/version", "/proc/sys/vm", "/proc/sys/kernel/cap_last_cap",
	"/sys/devices/system/cpu", "/sys/kernel/mm/transparent_hugepage",
	"/dev/random", "/dev/urandom",
}

// systemWrite are the devices that every command may write as well.
var systemWrite = []string{"/dev/null", "/dev/zero", "/dev/full"}
