package postgres

import "time"

// SetPatience changes how long calls put up with a database that cannot be reached.
func (j *Journal) SetPatience(d time.Duration) { j.patience = d }
