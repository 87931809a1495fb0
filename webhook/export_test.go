package webhook

import (
	"time"
)

// Lookup has an outbox take names for what the test says they resolve to.
func Lookup(o *Outbox, to func(host string) string) { o.dialer.Lookup = to }

// Wait is how long to wait after a try.
var Wait = wait

// Hurry has an outbox wait less long, by what a test says.
func Hurry(o *Outbox, how func(n int, asked time.Duration) time.Duration) { o.wait = how }

// Sign signs a notice.
var Sign = sign

// KeyOf is the key of a secret.
var KeyOf = keyOf

// IDOf is the id of a notice.
var IDOf = idOf

// Ahead has an outbox take it for later than it is.
func Ahead(o *Outbox, by time.Duration) {
	o.now = func() time.Time { return time.Now().Add(by) }
}

// Taken has an outbox take the runs that are due, as Serve does just before it visits them.
func Taken(o *Outbox) []string {
	next := o.now()
	return o.ripe(next, &next, mostAtOnce)
}
