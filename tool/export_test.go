package tool

// WrapperName is what the test binary is called when it wraps a command.
const WrapperName = wrapperName

// Unsupervise undoes Supervise.
func Unsupervise() {
	supervision.mu.Lock()
	defer supervision.mu.Unlock()
	supervision.enabled, supervision.dir, supervision.secrets = false, "", nil
}
