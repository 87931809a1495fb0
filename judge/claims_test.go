package judge

import (
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
)

// vendors are the results that most claims below are held against.
func vendors(t *testing.T) *evidence {
	s := begin(t, "Find a vendor for 10 laptops. Our budget is $12,000.")
	s.act(
		did{tool: "search_vendors", args: `{"category":"laptops"}`, result: `{"vendors":[
			{"id":"V-1042","name":"Acme","city":"Berlin","price_usd":1000,"rating":4.5,"refunds":false,"in_stock":true,"delivery_days":3},
			{"id":"V-2077","name":"Globex","city":"Paris","price_usd":1200,"rating":4.25,"refunds":true,"in_stock":true,"delivery_days":10},
			{"id":"V-3001","name":"Initech","city":"Madrid","price_usd":800,"rating":3.9,"refunds":true,"in_stock":false,"delivery_days":21}]}`},
		did{tool: "get_contract", args: `{"vendor":"V-1042"}`, result: "Acme Corp. was founded on May 4, 2011. It has 1,250 employees. " +
			"The contract runs for 24 months and renews automatically. Support is not included. Uptime was 99.95% last year, and 1.5 GB of logs were kept. Payment is due within 30 days."},
		did{tool: "run_tests", args: `{}`, result: `{"passed":12,"failed":3,"skipped":0,"duration_ms":90000,"errors":[]}`},
		did{tool: "write_file", args: `{"path":"out/report.md","content":"The report."}`, result: `"ok"`, effect: pawl.Write},
		did{tool: "calendar", args: `{"day":"2026-12-01"}`, result: `[{"title":"Meeting with Acme","start":"2026-12-01T08:40"},{"title":"Call","start":"2026-12-01 14:15:00"}]`},
		did{tool: "fetch", args: `{"url":"https://example.org/a"}`, result: "error not found"},
	)
	return evidenceOf(s.state)
}

// Claims that the results bear out, or that make none. To call one of these
// wrong costs a user a turn.
var fair = `
Acme costs $1,000.
Acme costs 1000 USD.
Acme is in Berlin.
Acme is the vendor with id V-1042.
Globex is rated 4.25.
Globex has a rating of 4.3.
Acme does not offer refunds.
Acme doesn't offer refunds.
Globex offers refunds.
Initech is not in stock.
V-3001 is not in stock.
V-2077 costs $1,200.
Acme is in stock and delivers within 3 days.
Delivery from Globex takes ten days.
There are 3 vendors for laptops.
I found three vendors: Acme, Globex and Initech.
Two of the vendors offer refunds.
Acme was founded on 2011-05-04.
Acme was founded on 4 May 2011.
Acme was founded in May 2011.
Acme has about 1,300 employees.
Acme has over 1,000 employees.
Acme has 1250 employees.
The contract runs for 2 years.
The contract renews automatically.
Support is not included.
The contract includes no support.
Not every vendor offers refunds.
No tests were skipped at all.
Uptime was 99.95 percent.
Uptime was almost 100%.
1536 MB of logs were kept.
12 tests passed and 3 failed.
The tests took 90 seconds.
The tests took 1.5 minutes.
The tests took 90s.
No tests were skipped.
There were no errors.
There were 0 errors.
Acme is rated 4.5 out of 5.
Acme has 4.5/5 stars.
Option 7: Globex in Paris.
The meeting with Acme is at 8:40 on December 1.
The meeting is on 1 December at 08:40.
The call is at 2:15 pm.
Initech is 20% cheaper than Acme.
Globex costs $200 more than Acme.
The error is on line 57 of the report.
Not all tests passed.
Some tests failed.
The report is in out/report.md.
I wrote the report to out/report.md.
You asked for 10 laptops and have a budget of $12,000.
Ten laptops from Acme at $1,000 each come to $10,000.
Acme is cheaper than Globex by $200, since $1,200 minus $1,000 is $200.
On average a laptop costs $1,000.
Payment is due within 30 days.
The prices add up to $3,000.
| Acme | Berlin | $1,000 |
- **Acme**: $1,000, rated 4.5
1. Acme costs $1,000.
Dr. Smith would approve.
Is Acme the cheapest?
Hello!
I think Acme is the best choice.
I will order the laptops next.
I recommend Initech.
Let me know if you need 500 more.
It should be delivered by 2030.
Acme might raise its price to $5,000.
I could not find the address of Initech.
The results do not say when Initech was founded.
Sure, here is what I found:
Done.
## The 77 steps
Thanks for asking!
`

// Claims that the results do not bear out.
var foul = `
Acme costs $100.
Acme costs $10,000.
Acme costs €1,000.
Acme costs 1200 USD.
Initech costs $1,000.
Acme is rated 4.9.
Acme is rated 4.9 out of 5.
The meeting is at 9:40 on December 1.
The meeting is on December 2.
Initech is 70% cheaper than Acme.
Acme offers refunds.
Globex does not offer refunds.
Initech is in stock.
V-3001 is in stock.
V-2077 costs $1,000.
Globex is not in stock.
Acme delivers within 21 days.
Acme is the vendor with id V-1043.
There are 7 vendors for laptops.
Acme was founded on 2011-05-05.
Acme was founded in 2012.
Acme has 12,500 employees.
The contract runs for 36 months.
The contract does not renew automatically.
Support is included.
Uptime was 95%.
1.5 TB of logs were kept.
15 tests passed.
All tests passed.
No tests failed.
No vendor offers refunds.
Every vendor offers refunds.
All vendors are in stock.
The tests took 9 seconds.
The report is in out/summary.md.
The confirmation number is PO-55871.
Contact them at sales@acme.example.
More on this stands at https://acme.example/laptops.
Payment is due within 90 days.
Ten laptops from Acme at $1,000 each come to $9,000.
The chief executive of the company resigned yesterday after a scandal.
Your order was shipped from a warehouse near Lisbon.
| Acme | Berlin | $1,100 |
- **Acme**: $1,000, rated 2.5
`

func TestClaims(t *testing.T) {
	e := vendors(t)
	for _, c := range []struct {
		list  string
		wrong bool
	}{{fair, false}, {foul, true}} {
		for line := range strings.Lines(c.list) {
			if line = strings.TrimSuffix(line, "\n"); line == "" {
				continue
			}
			f := e.judge(claimsOf(line))
			if (len(f.wrong) > 0) != c.wrong {
				t.Errorf("%s: wrong %v, want %v %q (%+v)", line, len(f.wrong) > 0, c.wrong, f.whys, claimsOf(line))
			}
		}
	}
}
