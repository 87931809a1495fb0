package cli

import "golang.org/x/sys/unix"

// disk returns the free bytes for this user at a path, and the name of its file system if
// that is on a network.
func disk(path string) (free uint64, network string, known bool) {
	var s unix.Statfs_t
	if unix.Statfs(path, &s) != nil {
		return 0, "", false
	}
	switch int64(s.Type) { //nolint:unconvert // its type differs between architectures
	case unix.NFS_SUPER_MAGIC:
		network = "NFS"
	case unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC:
		network = "SMB"
	}
	return s.Bavail * uint64(s.Bsize), network, true
}
