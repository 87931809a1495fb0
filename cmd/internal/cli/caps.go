package cli

import "github.com/spf13/pflag"

// caps limit which queued runs a worker or server takes.
type caps struct{ perAgent, perTenant uint }

func (c *caps) flags(to *pflag.FlagSet) {
	to.UintVar(&c.perAgent, "max-per-agent", 0, "take no queued run of an agent while this many of its runs are driven (default: no limit)")
	to.UintVar(&c.perTenant, "max-per-tenant", 0, "take no queued run of a tenant while this many of its runs are driven (default: no limit)")
}
