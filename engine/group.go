package engine

import "github.com/pawl-run/pawl"

// groups orders the calls to run: those of one group run at once, each group
// after the one before. A Write is a group of its own, and so is a call of a tool
// that runs alone, and every call of a serial agent.
func groups(serial bool, a pawl.Act) (all [][]pawl.Disposed) {
	apart, begin := true, 0
	for i := range a.Calls {
		d := &a.Calls[i]
		if d.Do != pawl.RunCall {
			continue
		}
		info := d.Info()
		alone := serial || info.Alone || info.Effect == pawl.Write
		last := len(all) - 1
		switch {
		case alone || apart:
			all, begin = append(all, a.Calls[i:i+1:i+1]), i
		case i-begin == len(all[last]): // the group stands in one piece
			all[last] = a.Calls[begin : i+1 : i+1]
		default:
			all[last] = append(all[last], *d)
		}
		apart = alone
	}
	return all
}
