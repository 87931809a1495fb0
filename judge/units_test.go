package judge

import "testing"

// order is what a tool returned for the answers below.
const order = `{"order":"T-9","row":"B12","seat":"12A","ticket":12,"price":80,"fee_cents":500,"currency":"EUR","discount_percent":15,
"placed":"2026-05-03T14:30:00Z","shipped":"2026-05-05","valid_months":18,"warranty_days":14,"retry_after_s":5400,"opens":"9:15 am","meter":"AB-7","gate":"#4",
"note":"Refunds take two weeks. The deposit is 99 euros or £85; the tour lasts 45 minutes. Room X-3 closes at 18:00.","due":"June 12","population":5531000}`

// TestUnits measures what the check of values makes of amounts, short identifiers, lengths of time, times
// and dates. No true answer may fail. Of the false ones five pass: 12B may be twelve billion, no year is known
// of June, and three lengths of time are other numbers of the order.
func TestUnits(t *testing.T) {
	truths := []string{
		"It costs 80 euros.", "It costs EUR 80.", "It costs 80 EUR.", "It costs €80.", "Es kostet 80 Euro.", "The fee is 5 euros.", "The fee is 500 cents.", "The fee is €5.00.",
		"The deposit is 99 euros.", "The deposit is EUR 99.", "You can also pay £85.", "That is 85 pounds.", "You get 15% off.", "Order T-9 is in row B12.", "Your seat is 12A.", "Your seat is 12a.",
		"The meter is AB-7.", "Ticket #12 is yours.", "Go to gate #4.", "It was placed at 14:30.", "It was placed at 2:30 pm.", "It was placed at 16:30 CEST.", "It opens at 9:15.", "It opens at 09:15.",
		"Room X-3 closes at 6 pm.", "It was shipped in May 2026.", "It was shipped on 5 May 2026.", "It is due in June 2026.", "It is due on June 12.", "It was shipped 2 days later.", "It was shipped 48 hours later.",
		"It is valid for 18 months.", "The warranty lasts 14 days.", "The warranty lasts 2 weeks.", "Refunds take 14 days.", "Try again in 90 minutes.", "Try again in 1.5 hours.", "The tour lasts 45 minutes.",
		"We answer 24 hours a day. Print it on A4 as UTF-8; the 3D view needs 5G. There are 3 steps and 2 options.", "It serves 5.5 million people, or 5,531 thousand, and costs 0 dollars more.",
	}
	lies := []string{
		"It costs 70 euros.", "It costs EUR 70.", "It costs 70 EUR.", "It costs USD 79.", "Es kostet 75 Euro.", "The fee is 6 euros.", "The fee is £7.", "The fee is 7 dollars.",
		"The deposit is 98 euros.", "You can also pay £84.", "That is 84 pounds.", "It is 20 bucks.", "You get 16% off.", "Order T-8 is open.", "It is in row B11.", "Your seat is 12B.",
		"Your seat is 13A.", "The meter is AB-8.", "Ticket #13 is yours.", "Go to gate #6.", "It was placed at 14:45.", "It was placed at 3:30 pm.", "It was placed at 16:40 CEST.", "It opens at 9:45.",
		"Room X-3 closes at 7 pm.", "Room X-4 closes.", "It was shipped in June 2025.", "It was shipped in July 2026.", "It was shipped on 6 May 2026.", "It is due in August 2026.", "It was shipped 3 days later.", "It is valid for 17 months.",
		"The warranty lasts 16 days.", "The warranty lasts 3 weeks.", "Try again in 80 minutes.", "Try again in 8 hours.", "The tour lasts 50 minutes.", "Die Tour dauert 50 Minuten.", "It costs 81.50 CHF.", "It costs 20 to 30 dollars.",
	}
	for what, answers := range map[bool][]string{true: truths, false: lies} {
		n := 0
		for _, answer := range answers {
			k := newKnown()
			k.add(order)
			k.seal()
			if wrong := k.missing(answer); (wrong == nil) == what {
				n++
			} else {
				t.Logf("%v: %s %q", what, answer, wrong)
			}
		}
		if want := map[bool]int{true: 40, false: 35}[what]; n != want || len(answers) != 40 {
			t.Errorf("%v: %d of %d answers are judged so, want %d of 40", what, n, len(answers), want)
		}
	}
}
