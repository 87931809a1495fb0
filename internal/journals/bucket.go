package journals

import "time"

// FullBucket is what a bucket holds, as the time in which it fills.
const FullBucket = time.Minute

// Buckets are the buckets of one rate, for requests and for tokens. Each is the time at which
// all that was taken from it will have been filled again: the generic cell rate algorithm of
// ITU-T I.371, where a call has the size that it has.
type Buckets struct{ Requests, Tokens time.Time }

// Take takes from both buckets, and returns how long the caller must wait until they have
// held that much. If that is longer than within, nothing is taken. A bucket gives more than it
// holds to a caller that waits until it is full.
func (p *Buckets) Take(now time.Time, requests, tokens, within time.Duration) (wait time.Duration, taken bool) {
	next := *p
	wait = max(0, take(&next.Requests, now, requests), take(&next.Tokens, now, tokens))
	if taken = wait <= within; taken {
		*p = next
	}
	return wait, taken
}

func take(b *time.Time, now time.Time, cost time.Duration) (wait time.Duration) {
	if b.Before(now) {
		*b = now
	}
	*b = b.Add(cost)
	return b.Sub(now) - max(FullBucket, cost)
}
