package guard

import (
	"testing"
)

// Which texts have addresses, and which only look like it.
func TestAddresses(t *testing.T) {
	g := New(PII(Redact))
	for text, want := range map[string]string{
		"10.0.0.7":                                         "[redacted ip]",
		"from 192.168.0.1:8080.":                           "from [redacted ip]:8080.",
		"http://10.1.2.3/x":                                "http://[redacted ip]/x",
		"10.0.0.0/8":                                       "[redacted ip]/8",
		"10.0.0.1-10.0.0.9":                                "[redacted ip]-[redacted ip]",
		"10.0.0.1,10.0.0.2;10.0.0.3":                       "[redacted ip],[redacted ip];[redacted ip]",
		"host:10.0.0.1, add:10.0.0.2":                      "host:[redacted ip], add:[redacted ip]",
		"root@10.0.0.1: “10.0.0.2”":                        "root@[redacted ip]: “[redacted ip]”",
		"服务器10.0.0.1宕机":                                    "服务器[redacted ip]宕机",
		"ip=10.0.0.1\tok":                                  "ip=[redacted ip]\tok",
		"2001:db8::1":                                      "[redacted ip]",
		"[2001:db8::1]:443":                                "[[redacted ip]]:443",
		"2001:db8::/32 ":                                   "[redacted ip]/32 ",
		"at 2001:db8::1: refused":                          "at [redacted ip]: refused",
		"fe80::1%eth0":                                     "[redacted ip]%eth0",
		"2001:0DB8:0:0:0:ff00:42:8329":                     "[redacted ip]",
		"::ffff:10.0.0.1":                                  "[redacted ip]",
		"64:ff9b::192.0.2.33.":                             "[redacted ip].",
		"1:2:3:4:5:6:77.77.88.88":                          "[redacted ip]",
		"8.8.8.8 is no version":                            "[redacted ip] is no version",
		"127.0.0.1, 127.1.2.3, 0.0.0.0":                    "127.0.0.1, 127.1.2.3, 0.0.0.0",
		"::1 and :: and 0:0:0:0:0:0:0:1, ::ffff:127.0.0.1": "::1 and :: and 0:0:0:0:0:0:0:1, ::ffff:127.0.0.1",
		"version 1.2.3.4, Version: 1.2.3.4, v1.2.3.4, v 1.2.3.4, \"version\": \"1.2.3.4\"": "version 1.2.3.4, Version: 1.2.3.4, v1.2.3.4, v 1.2.3.4, \"version\": \"1.2.3.4\"",
		"Chrome/120.0.0.0 lib-1.2.3.4 foo_1.2.3.4 1.2.3.4rc1":                              "Chrome/120.0.0.0 lib-1.2.3.4 foo_1.2.3.4 1.2.3.4rc1",
		"12:30:45, 2026-07-25T12:30:45, 12:30":                                             "12:30:45, 2026-07-25T12:30:45, 12:30",
		"MAC 00:1b:63:84:45:e6":                                                            "MAC 00:1b:63:84:45:e6",
		"SHA1 aa:bb:cc:dd:ee:ff:00:11, aa:bb:cc:dd:ee:ff:00:11:22:33:44:55:66:77:88:99":    "SHA1 aa:bb:cc:dd:ee:ff:00:11, aa:bb:cc:dd:ee:ff:00:11:22:33:44:55:66:77:88:99",
		"std::vector Face::Add a::b x :: Int":                                              "std::vector Face::Add a::b x :: Int",
		"1.2.3, 1.2.3.4.5, 256.1.1.1, 1.2.3.04, 1::2::3, 12345::1":                         "1.2.3, 1.2.3.4.5, 256.1.1.1, 1.2.3.04, 1::2::3, 12345::1",
	} {
		if got := g.Filter(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// Personal data of all kinds has IP addresses too, but none of this machine.
func TestAddressesByDefault(t *testing.T) {
	if New(PII(Block)).found("10.0.0.1", inInput) == nil {
		t.Error("an address is no personal data")
	}
	if hits := New(PII(Block, IP)).found("127.0.0.1", inInput); hits != nil {
		t.Errorf("the address of this machine is found: %v", hits)
	}
}
