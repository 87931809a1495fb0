package engine

// Held is how much of the pools is in use, and how many calls wait.
func Held() (used int64, waiting int) {
	for i := range pools {
		p := &pools[i]
		p.mu.Lock()
		used, waiting = used+p.used, waiting+len(p.queue)
		p.mu.Unlock()
	}
	return used, waiting
}
