package cli

import "github.com/spf13/pflag"

// caps limit which queued runs a worker or server takes.
type caps struct{ perAgent, perTenant int }

func (c *caps) flags(to *pflag.FlagSet) {
	to.IntVar(&c.perAgent, "max-per-agent", 0, "take no queued run of an agent while this many of its runs are driven, by all workers of the database (default: no limit)")
	to.IntVar(&c.perTenant, "max-per-tenant", 0, "take no queued run of a tenant while this many of its runs are driven, by all workers of the database (default: no limit)")
}

func (c *caps) check() error {
	switch {
	case c.perAgent < 0:
		return misuse("--max-per-agent is %d; it must not be negative", c.perAgent)
	case c.perTenant < 0:
		return misuse("--max-per-tenant is %d; it must not be negative", c.perTenant)
	}
	return nil
}
