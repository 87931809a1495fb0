package process

// Outcome is how a command ended and what it printed.
type Outcome struct {
	Code    int     `json:"code"`
	Signal  string  `json:"signal,omitempty"`
	Refused string  `json:"refused,omitempty"` // why it could not be started
	Error   string  `json:"error,omitempty"`   // any other error
	Cut     Cut     `json:"cut,omitempty"`
	Out     Printed `json:"out"`
	Err     Printed `json:"err"`
	Files   []File  `json:"files,omitempty"` // that it returns
}

// File is a file that a command returns.
type File struct {
	Name  string `json:"name"`
	Data  []byte `json:"data,omitempty"`
	Bytes int    `json:"bytes,omitempty"` // more than Data has if the file is too large to be returned
}

// Cut is why Pawl ended a command early.
type Cut int

// The reasons. Zero: Pawl did not end the command.
const (
	Late    Cut = 1 + iota // it timed out
	Stopped                // it was cancelled
)

// Printed is what a command printed on one stream, as an excerpt.
type Printed struct {
	Text      string `json:"text"`
	Truncated bool   `json:"truncated,omitempty"`
}

// NotStarted reports whether the command was ended before it was started.
func (o *Outcome) NotStarted() bool { return o.Refused != "" && o.Cut != 0 }

// Interrupted reports whether the command may have been ended before it was done:
// by a cancel, or by a signal that Pawl did not send. What a Write did is then unknown.
func (o *Outcome) Interrupted() bool {
	return !o.NotStarted() && (o.Cut == Stopped || o.Cut == 0 && o.Signal != "")
}
