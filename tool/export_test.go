package tool

// SupervisorName is what the test binary is called when it supervises.
const SupervisorName = supervisorName

// Unsupervise undoes Supervise and lets the supervisor go.
func Unsupervise() {
	s := &supervision
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.line != nil {
		s.line.Close()
	}
	s.enabled, s.line, s.dir, s.made, s.secrets = false, nil, "", false, nil
}

// Idle has commands run in the plain way for a while.
func Idle(idle bool) {
	supervision.mu.Lock()
	defer supervision.mu.Unlock()
	supervision.enabled = !idle
}
