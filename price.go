package pawl

// Price is what a model costs, in dollars per million tokens. A zero CacheRead
// or CacheWrite is charged as Input, so that an incomplete row overstates
// rather than understates.
type Price struct {
	Input      float64
	Output     float64
	CacheRead  float64
	CacheWrite float64
}

// Cost is what u costs in dollars.
func (p Price) Cost(u Usage) float64 {
	read, write := p.CacheRead, p.CacheWrite
	if read == 0 {
		read = p.Input
	}
	if write == 0 {
		write = p.Input
	}
	fresh := max(0, u.Input-u.CacheRead-u.CacheWrite)
	return (float64(fresh)*p.Input + float64(u.CacheRead)*read + float64(u.CacheWrite)*write + float64(u.Output)*p.Output) / 1e6
}
