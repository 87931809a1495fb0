//go:build linux || darwin

package hostile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Secret is the content of the files outside of a jail.
const Secret = "the secret"

// Jail creates a directory in top with everything that may lead out of it:
// links to files and directories, near and far, through each other and in
// circles, to devices and to a pipe. Next to it is outside, a directory with
// the file secret. In the jail are in.txt and sub/in.txt, which contain
// "inside", and good-link, which leads to one.
func Jail(top string) (dir, outside string, err error) {
	dir, outside = filepath.Join(top, "dir"), filepath.Join(top, "outside")
	for name, text := range map[string]string{"secret": Secret, "outside/secret": Secret, "dir/in.txt": "inside\n", "dir/sub/in.txt": "inside\n"} {
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", "", err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return "", "", err
		}
	}
	if err := syscall.Mkfifo(filepath.Join(outside, "pipe"), 0o600); err != nil {
		return "", "", err
	}
	links := map[string]string{
		"good-link": "in.txt",
		"link-file": "../secret", "link-dir": "../outside", "link-up": "..", "sub/link-up2": "../../", "sub/link-to-parent": "../..", "link-nowhere": "../none",
		"link-abs": filepath.Join(top, "secret"), "link-absdir": outside, "link-root": "/", "link-proc": "/proc", "link-cwd": "/proc/self/cwd", "link-self": "/proc/self/root",
		"link-chain": "sub/next", "sub/next": "../link-relative", "link-relative": "sub/../../secret", "link-loop": "link-loop", "link-a": "link-b", "link-b": "link-a",
		"link-zero": "/dev/zero", "link-pipe": "../outside/pipe", "link-dots": "./././../secret", "link-slashes": "..//secret", "link-through": "link-dir/secret",
		"link-home": "~/secret", "sub/link-back": "../sub/../../outside", "link-fd": "/dev/fd/0", "link-10": "../secret",
	}
	for n := range 50 { // more than the kernel follows
		links[fmt.Sprintf("link-%d", 11+n)] = fmt.Sprintf("link-%d", 10+n)
	}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			return "", "", err
		}
	}
	return dir, outside, nil
}

// Links are the names in a jail that lead out of it, or to nothing.
var links = []string{
	"link-file", "link-dir", "link-up", "sub/link-up2", "sub/link-to-parent", "link-nowhere", "link-abs", "link-absdir", "link-root", "link-proc", "link-cwd",
	"link-self", "link-chain", "sub/next", "link-relative", "link-loop", "link-a", "link-zero", "link-pipe", "link-dots", "link-slashes", "link-through",
	"link-home", "sub/link-back", "link-fd", "link-10", "link-11", "link-20", "link-45", "link-60",
}

// Paths returns paths that might lead out of a jail, and to the directory
// outside. None names a file in the jail.
func Paths(outside string) []string {
	all := []string{
		// Absolute paths, and paths that other programs make absolute.
		"/", "//", "///etc/passwd", "/etc/passwd", "//etc/passwd", "/./etc/passwd", "/proc/self/environ", "/proc/self/root/etc/passwd", "/proc/self/cwd/../secret", "/proc/1/root/etc/passwd",
		"/proc/self/fd/0", "/dev/stdin", "/dev/zero", "/dev/fd/0", "/dev/tcp/127.0.0.1/80", "/dev/full", "/sys/kernel", "~/.ssh/id_rsa", "~root/.profile", "~", "$HOME/secret", "${HOME}/secret",
		"$(pwd)/../secret", "`pwd`/../secret", "%HOME%/secret", "file:///etc/passwd", "file:../secret", "http://127.0.0.1/secret",
		outside, outside + "/", outside + "/secret", outside + "/secret/", "/proc/self/root" + outside + "/secret", "/.." + outside + "/secret", "//" + outside + "/secret",
		// Windows forms.
		`C:\secret`, `C:secret`, `c:/secret`, `\\server\share\secret`, `//server/share/secret`, `\\?\C:\secret`, `\\.\PhysicalDrive0`, `\??\C:\secret`, `\secret`, `..\secret`, `sub\..\..\secret`, `..\/secret`, `../\secret`,
		"NUL", "CON", "aux.txt", "COM1", "LPT1:", "secret::$DATA", "secret:stream", "PROGRA~1", "..\\..\\..\\etc\\passwd",
		// Characters that do not belong in a path.
		"\x00", "secret\x00.txt", "in.txt\x00/../../secret", "..\x00/secret", "..\x00", "in.txt\n../secret", "\n../secret", "../secret\n", "in.txt\r", "\t../secret", "in.txt\x1b[2J",
	}
	// Characters similar to dots and slashes, or decoded to them.
	for _, dots := range []string{
		"%2e%2e", "%2E%2E", "%252e%252e", "..%00", ".%2e", "．．", "․․", "‥", "…", "。。", "．.", ".\u200b.", ".\u00ad.", "\u202e..", "..\u202e", ".\u0338.", "\ufeff..", "..\ufeff",
		"%c0%ae%c0%ae", "%u002e%u002e", "&#46;&#46;", "\\x2e\\x2e", "\\056\\056", " ..", ".. ", ". .", "...", "....", ".. /..", "..;", "..;/..", "..#", "..?", "..:", "..*", "[.][.]", "{.,.}",
	} {
		for _, slash := range []string{"/", "%2f", "%5c", "／", "⁄", "∕", "\\", "//", "/./"} {
			all = append(all, dots+slash+"secret")
		}
	}
	// Up, from everywhere, in every spelling, and beyond the root.
	for _, from := range []string{"", "./", ".//", "sub/", "sub//", "./sub/./", "sub/../", "in.txt/", "none/", "good-link/", "link-dir/", "link-up/", "sub/link-up2/", "link-loop/", "link-nowhere/", "link-proc/self/"} {
		for _, up := range []string{"../", "..//", ".././", "../sub/../", "../dir/../"} {
			for n := 1; n <= 3; n++ {
				if ups := from + strings.Repeat(up, n+strings.Count(from, "sub")); !strings.HasPrefix(from, "none") {
					all = append(all, ups+"secret", ups+"outside/secret", ups+"etc/passwd")
				}
			}
		}
	}
	for n := 1; n <= 40; n++ {
		up := strings.Repeat("../", n)
		all = append(all, up+"secret", up+"etc/passwd", strings.Repeat("sub/../", n)+"../secret", strings.Repeat("./", n)+"../secret", up+outside+"/secret", up+"proc/self/root"+outside+"/secret")
	}
	for _, link := range links {
		all = append(all, link, link+"/", link+"/.", link+"/secret", link+"/../secret", link+"/../../secret", "./"+link, "sub/../"+link, link+"/etc/passwd", link+"/"+outside+"/secret", link+"//secret")
	}
	// Longer than a name or a path may be.
	for _, n := range []int{255, 256, 1023, 1024, 4095, 4096, 65536} {
		all = append(all, strings.Repeat("a", n)+"/../../secret", strings.Repeat("../", n/3)+"secret", strings.Repeat("./", n/2)+"../secret", strings.Repeat("sub/../", n/7)+"../secret")
	}
	return all
}
