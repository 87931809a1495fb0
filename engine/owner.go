package engine

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"os"
	"os/user"
	"sync"
	"time"

	"github.com/pawl-run/pawl/internal/process"
)

// An Owner describes the process that drives a run: which one, of which user, where. Others
// see it when they find a run held.
type Owner struct {
	Process string `json:"process,omitempty"` // the process's identity: id, start time and boot
	Host    string `json:"host,omitempty"`
	User    string `json:"user,omitempty"`
	Dir     string `json:"dir,omitempty"`
	PID     int    `json:"pid,omitempty"`
}

// Self returns this process as an owner.
func Self() Owner { return self() }

// self asks the system only once: process, user and directory rarely change, and asking
// costs more than a run in memory.
var self = sync.OnceValue(func() Owner {
	o := Owner{PID: os.Getpid()}
	if id, err := process.Self(); err == nil {
		o.Process = id.String()
	}
	o.Host, _ = os.Hostname() // an unknown name is left out
	o.Dir, _ = os.Getwd()
	if u, err := user.Current(); err == nil {
		o.User = u.Username
	}
	return o
})

// selfText is this process in the form for leases and logs.
var selfText = sync.OnceValue(func() string { return self().String() })

// String returns the owner as JSON, as in leases and in the log.
func (o Owner) String() string {
	b, err := json.Marshal(o)
	if err != nil {
		return "{}" // five plain fields always marshal
	}
	return string(b)
}

// ParseOwner parses the result of String. Other text gives the zero Owner.
func ParseOwner(s string) Owner {
	var o Owner
	_ = json.Unmarshal([]byte(s), &o)
	return o
}

// Gone reports whether the owning process is known to have ended. It returns false for a
// process on another host.
func (o Owner) Gone() bool {
	id, err := process.ParseIdentity(o.Process)
	return err == nil && id.Gone()
}

// newID returns a run id: a ULID (github.com/ulid/spec), which sorts by time.
func newID(now time.Time) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], uint64(now.UnixMilli())<<16)
	_, _ = rand.Read(b[6:]) // never fails, by its contract
	return spell(b)
}

// spell encodes 128 bits as in ULIDs: 26 letters of five bits, the first two zero.
func spell(b [16]byte) string {
	const letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	high, low := binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])
	var out [26]byte
	for i := range out {
		out[25-i] = letters[low&31]
		high, low = high>>5, high<<59|low>>5
	}
	return string(out[:])
}
