package guard

import "strings"

// cards finds payment card numbers, in one row or in groups with the same
// separator: prefix and length belong to a scheme (ISO/IEC 7812-1 and the
// schemes' own pages), and the check digit is right.
func cards(text string) (found []span) {
	const least, most = 13, 19
	for i := 0; i < len(text); i++ {
		if !digit(text[i]) || i > 0 && digit(text[i-1]) {
			continue
		}
		number, sign, end := []byte(nil), byte(0), i
		for j := i; j < len(text) && len(number) <= most; j++ {
			c := text[j]
			if digit(c) {
				number = append(number, c)
				end = j + 1
				continue
			}
			if (c != ' ' && c != '-') || sign != 0 && c != sign || j != end {
				break
			}
			sign = c
		}
		if n := len(number); n >= least && n <= most && scheme(string(number)) && luhn(string(number)) && apart(text, i, end) {
			found = append(found, span{"card", i, end})
		}
		if sign == 0 {
			i = max(i, end-1)
		}
	}
	return found
}

// scheme reports whether a number has a scheme's prefix and length.
func scheme(n string) bool {
	in := func(digits int, from, to string) bool { return n[:digits] >= from && n[:digits] <= to }
	switch len(n) {
	case 13, 19:
		return n[0] == '4' || len(n) == 19 && in(2, "62", "62")
	case 14:
		return in(3, "300", "305") || in(2, "36", "36") || in(2, "38", "39") // Diners Club
	case 15:
		return in(2, "34", "34") || in(2, "37", "37") // American Express
	case 16:
		return n[0] == '4' || in(2, "51", "55") || in(4, "2221", "2720") || // Visa, Mastercard
			in(4, "6011", "6011") || in(3, "644", "649") || in(2, "65", "65") || // Discover
			in(4, "3528", "3589") || in(2, "62", "62") // JCB, UnionPay
	case 17, 18:
		return in(2, "62", "62")
	}
	return false
}

// luhn verifies the last digit (ISO/IEC 7812-1, annex B).
func luhn(n string) bool {
	sum := 0
	for i := range len(n) {
		d := int(n[len(n)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// lengths are the lengths of IBANs by country (SWIFT, IBAN Registry, release
// 99).
var lengths = func() map[string]int {
	const registry = "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 " +
		"ES24 FI18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 " +
		"LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 " +
		"SC31 SD18 SE24 SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20"
	m := map[string]int{}
	for row := range strings.FieldsSeq(registry) {
		m[row[:2]] = int(row[2]-'0')*10 + int(row[3]-'0')
	}
	return m
}()

// ibans finds bank accounts, in one row or in groups of four, with the
// country's length and valid check digits (ISO 13616, ISO/IEC 7064 MOD 97-10).
func ibans(text string) (found []span) {
	for i := 0; i+4 <= len(text); i++ {
		length := lengths[text[i:i+2]]
		if length == 0 || !digit(text[i+2]) || !digit(text[i+3]) || i > 0 && alnum(text[i-1]) {
			continue
		}
		number, end := []byte(nil), i
		for j := i; j < len(text) && len(number) < length; j++ {
			c := text[j]
			if digit(c) || c >= 'A' && c <= 'Z' {
				number = append(number, c)
				end = j + 1
			} else if c != ' ' || len(number)%4 != 0 || j != end {
				break
			}
		}
		if len(number) == length && mod97(string(number[4:])+string(number[:4])) == 1 && apart(text, i, end) {
			found = append(found, span{"iban", i, end})
			i = end - 1
		}
	}
	return found
}

// mod97 reads a letter as two digits, A being 10.
func mod97(s string) (rest int) {
	for i := range len(s) {
		if c := s[i]; digit(c) {
			rest = (rest*10 + int(c-'0')) % 97
		} else {
			rest = (rest*100 + int(c-'A') + 10) % 97
		}
	}
	return rest
}
