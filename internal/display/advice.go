package display

import "strings"

// RedactedAdvice and TornAdvice are the advice about a run that was imported without secrets,
// or without its end.
const (
	RedactedAdvice = "go on with the run that was exported, or export that with --raw: something was taken out of this one"
	TornAdvice     = "fork it where it is known to have stood: what its export lost may have happened"
)

var texts = map[string]string{
	"success":             "nothing: the run is done",
	"exhausted":           "read what it found; to let it go on, raise LEAF and resume",
	"no_progress":         "read explain for what repeats; resume with another prompt, model or tool, or with higher limits",
	"waiting_approval":    "approve or deny CALL",
	"waiting_input":       "answer CALL",
	"waiting_client_tool": "submit the result of CALL",
	"waiting_doubt":       "find out whether CALL took place, then settle it as happened or not",
	"expired":             "resume, which asks again",
	"denied":              "change the task or the approval, then resume",
	"plan_failed":         "check the tools' schemas and the prompt, or use a stronger model, then resume",
	"failed":              "fix what failed (see the reason), then resume",
	"cancelled":           "resume to go on where it was cancelled",
	"paused":              "resume to go on",
	"interrupted":         "resume: its process ended",
	"queued":              "start a worker of its agent, unless one runs, or resume it here",
}

// Advice returns the advice about a run with a status. leaf is the part of the stop
// condition that decided, and call what the run waits for.
func Advice(status, leaf, call string) string {
	text, ok := texts[status]
	if !ok {
		return "wait: the run is going on"
	}
	text = strings.Replace(text, "LEAF", leaf, 1)
	return strings.Replace(text, "CALL", call, 1)
}
