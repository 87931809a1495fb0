package hostile

import (
	"fmt"
	"slices"
	"strings"
)

// inside are addresses that must not be fetched: this machine, its network, and
// the services where clouds hand out credentials.
var inside = [][4]byte{{127, 0, 0, 1}, {127, 255, 255, 254}, {10, 0, 0, 1}, {172, 16, 0, 1}, {192, 168, 1, 1}, {169, 254, 169, 254}, {100, 100, 100, 200}, {168, 63, 129, 16}, {0, 0, 0, 0}}

// Hosts returns spellings of hosts in a URL that some resolver, C library or
// browser maps to an inside address, including names that resolve to one.
func Hosts() []string {
	all := []string{
		"localhost", "LOCALHOST", "localhost.", "localhost.localdomain", "ip6-localhost", "foo.localhost", "127.0.0.1.", "0", "0x0", "00", "[::]", "[::1]", "[0:0:0:0:0:0:0:1]", "[::0001]",
		"[::1%25lo]", "[::1%lo]", "[fe80::1]", "[fe80::1%25eth0]", "[fec0::1]", "[fc00::1]", "[fd00:ec2::254]", "[ff02::1]", "[100::1]", "[2001:db8::1]", "[2001::1]", "[3fff::1]", "[5f00::1]",
		"metadata", "metadata.google.internal", "instance-data", "metadata.azure.internal", "169.254.169.254.nip.io", "127.0.0.1.nip.io", "127-0-0-1.sslip.io", "localtest.me", "kubernetes.default.svc",
		"①②⑦.⓪.⓪.①", "１２７.０.０.１", "127。0。0。1", "127．0．0．1", "127｡0｡0｡1", "१२७.०.०.१", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "ｌｏｃａｌｈｏｓｔ", "locaⅼhost", "127.0.0.1%00", "127.0.0.1%00.example.org",
		"%31%32%37.0.0.1", "127%2e0%2e0%2e1", "%6c%6f%63%61%6c%68%6f%73%74", "127.0.0.1 ", " 127.0.0.1", "127.0.0.1\t", "127.0.\n0.1", "127.0.0.1\u00ad", "127.0.0.1\u200b", "127.1", "127.0.1", "0127.1", "0x7f.1",
	}
	for _, a := range inside {
		number := uint32(a[0])<<24 | uint32(a[1])<<16 | uint32(a[2])<<8 | uint32(a[3])
		each := func(format, between string) string {
			parts := make([]string, len(a))
			for i, b := range a {
				parts[i] = fmt.Sprintf(format, b)
			}
			return strings.Join(parts, between)
		}
		high, low := fmt.Sprintf("%x", number>>16), fmt.Sprintf("%x", number&0xffff)
		plain := each("%d", ".")
		all = append(all,
			plain, plain+".", each("%03d", "."), each("0%o", "."), each("00%o", "."), each("0%03o", "."), each("0x%x", "."), each("0X%02X", "."), each("0x0000%x", "."),
			fmt.Sprint(number), fmt.Sprintf("0x%x", number), fmt.Sprintf("0x%08X", number), fmt.Sprintf("0%o", number), fmt.Sprint(uint64(number)+1<<32), fmt.Sprintf("0x1%08x", number),
			fmt.Sprintf("%d.%d", a[0], number&0xffffff), fmt.Sprintf("%d.%d.%d", a[0], a[1], number&0xffff), fmt.Sprintf("0x%x.%d", a[0], number&0xffffff), fmt.Sprintf("%d.0x%x", a[0], number&0xffffff),
			fmt.Sprintf("%d.0%o.%d.0x%x", a[0], a[1], a[2], a[3]), fmt.Sprintf("%d.%d.%d.%d", int(a[0])+256, a[1], a[2], a[3]), each("%d", "%2e"), each("%d", "。"),
			"[::ffff:"+plain+"]", "[::FFFF:"+plain+"]", "[0:0:0:0:0:ffff:"+plain+"]", "[::ffff:"+high+":"+low+"]", "[::ffff:0:"+plain+"]", "["+"::"+plain+"]", "[::"+high+":"+low+"]",
			"[64:ff9b::"+plain+"]", "[64:ff9b::"+high+":"+low+"]", "[64:ff9b:1::"+plain+"]", "[2002:"+high+":"+low+"::]", "[2002:"+high+":"+low+"::1]", "[2001:0:"+high+":"+low+"::1]",
			"[fe80::5efe:"+plain+"]", "[::ffff:"+plain+"%25lo]", "["+plain+"]", "[::ffff:"+each("0%o", ".")+"]", plain+".xip.io", each("%d", "-")+".nip.io", "www."+plain+".nip.io",
		)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// URLs returns URLs that make a host and port look like another, or that
// parsers read differently.
func URLs(host, port string) []string {
	at := host + ":" + port
	return []string{
		"http://" + at + "/", "https://" + at, "HTTP://" + at + "/?a=b", "http://" + at + "#@example.org/", "http://" + at + "?@example.org/", "http:/\\" + at, "http:\\\\" + at + "\\",
		"//" + at + "/", "http:" + at, "http:///" + at, "http:/" + at, "http://example.org@" + at + "/", "http://user:word@" + at + "/", "http://example.org:80@" + at + "/", "http://" + at + "\\@example.org/",
		"http://example.org\\@" + at + "/", "http://example.org%2f@" + at + "/", "http://example.org#@" + at + "/", "http://@" + at + "/", "http://:@" + at + "/", "http://a@b@" + at + "/", "http://%40" + at + "/",
		"http://\t" + at + "/", "http://" + at + "\r\nHost: example.org/", " http://" + at + "/ ", "http://" + host + ":0" + port + "/", "http://" + host + ":" + port + "./", "ftp://" + at + "/", "gopher://" + at + "/_GET",
		"http+unix://" + at + "/", "ws://" + at + "/", "file://" + at + "/etc/passwd", "url:http://" + at + "/", "view-source:http://" + at + "/", "jar:http://" + at + "!/", "http://http://" + at + "/", "http://[" + at + "]/",
	}
}
