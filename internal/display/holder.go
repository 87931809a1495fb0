package display

import (
	"encoding/json"
	"fmt"
	"strings"
)

// owner is what leases and logs say of a process; see engine.Owner.
type owner struct {
	Process string `json:"process,omitempty"`
	Host    string `json:"host,omitempty"`
	User    string `json:"user,omitempty"`
	Dir     string `json:"dir,omitempty"`
	PID     int    `json:"pid,omitempty"`
}

// Holder describes the owner that a lease names to a person.
func Holder(lease string) string {
	var o owner
	_ = json.Unmarshal([]byte(lease), &o)
	if o == (owner{}) && strings.Trim(lease, "{} ") != "" {
		return "somebody (" + lease + ")"
	}
	var parts []string
	if o.PID != 0 {
		parts = append(parts, fmt.Sprintf("process %d", o.PID))
	}
	switch {
	case o.User != "" && o.Host != "":
		parts = append(parts, "of "+o.User+"@"+o.Host)
	case o.User+o.Host != "":
		parts = append(parts, "of "+o.User+o.Host)
	}
	if o.Dir != "" {
		parts = append(parts, "in "+o.Dir)
	}
	if len(parts) == 0 {
		return "another process"
	}
	return strings.Join(parts, " ")
}
