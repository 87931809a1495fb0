package process

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What Landlock can restrict, and since which version; see landlock(7) and
// Documentation/userspace-api/landlock.rst of the kernel.
const (
	leastLandlock = 3 // older versions allow truncating any file
	netLandlock   = 4
	ioctlLandlock = 5
	scopeLandlock = 6 // abstract sockets and signals

	mayRun    = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE
	mayRead   = mayRun | unix.LANDLOCK_ACCESS_FS_READ_DIR
	mayChange = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	mayMake   = unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
	mayMakeDevices = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK // never allowed
	ofFiles        = mayRun | mayChange                                                     // rights that apply to files
)

// landlockVersion returns the kernel's version; zero: it has no Landlock.
func landlockVersion() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// landlock forbids this thread all files but those of the cage and of each cage
// around it: the kernel combines rulesets, and an access must be allowed by all
// of them. Even without files it restricts what the kernel can: inspecting and
// signalling processes outside.
func (s *step) landlock(program string) error {
	if s.Cage.Files == nil {
		return s.layer(nil, program)
	}
	for i := range s.Cage.Files {
		if err := s.layer(&s.Cage.Files[i], program); err != nil {
			return err
		}
	}
	return nil
}

// layer adds a ruleset.
func (s *step) layer(files *Files, program string) error {
	version := landlockVersion()
	if files != nil && version < leastLandlock {
		return fmt.Errorf("the kernel's Landlock has version %d; a cage of files needs %d", version, leastLandlock)
	}
	var attr unix.LandlockRulesetAttr
	size := uintptr(8) // the size that the version knows
	if files != nil {
		attr.Handled_access_fs = mayRead | mayChange | mayMake | mayMakeDevices
		if version >= ioctlLandlock {
			attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
		}
	}
	if version >= netLandlock {
		size = 16
		if s.Cage.NoNetwork {
			attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		}
	}
	if version >= scopeLandlock {
		size = 24
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	if attr == (unix.LandlockRulesetAttr{}) {
		return nil
	}
	set, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0) //nolint:gosec // the kernel is handed a struct
	if errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	rules := ruleset{int(set), attr.Handled_access_fs}
	if files != nil {
		if err := rules.files(*files, program, s.Program); err != nil {
			return err
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, set, 0, 0); errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	return nil
}

type ruleset struct {
	fd      int
	handled uint64
}

func (r ruleset) files(f Files, program string, itself bool) error {
	for _, path := range System {
		if err := r.allow(path, mayRead); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("its cage: %s: %w", path, err)
		}
	}
	for _, path := range systemWrite {
		if err := r.allow(path, ofFiles); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("its cage: %s: %w", path, err)
		}
	}
	named := slices.Clone(f.Read)
	if itself {
		named = append(named, program)
	}
	for _, path := range named {
		if err := r.allow(path, mayRead); err != nil {
			return unusable("read", path, err)
		}
	}
	for _, path := range f.Write {
		if err := r.allow(path, mayRead|mayChange|mayMake); err != nil {
			return unusable("write", path, err)
		}
	}
	return nil
}

func unusable(key, path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("its cage names %s under %s, which is not there; make it first, or name what is", path, key)
	}
	return fmt.Errorf("its cage names %s under %s: %w", path, key, err)
}

// allow adds a rule for the present target of a path. It does not apply to a
// later one.
func (r ruleset) allow(path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		access &= ofFiles
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access & r.handled, Parent_fd: int32(fd)}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 { //nolint:gosec // the kernel is handed a struct
		return errno
	}
	return nil
}
