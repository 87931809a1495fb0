package fetch_test

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl/tool/fetch"
)

var base = &url.URL{Scheme: "https", Host: "docs.example.org", Path: "/a/b.html"}

func TestReadable(t *testing.T) {
	title, text := fetch.Readable(`<!doctype html><html><head><title> Pawl &amp;
 ratchet </title><style>p { color: red }</style><script>document.write("<p>no</p>")</script></head>
<body><nav><ul><li><a href="/">Home</a></li><li><a href="#top">Top</a><li><a href="javascript:x()">Do</a></ul></nav>
<h1>The   pawl</h1><p>A <b>small</b> tooth,<br>which <a href="../c?x=1#y">turns</a>.</p>
<pre>
  if x {
	y
  }
</pre><img src=x alt="A picture"><template><p>hidden</p></template><svg><text>drawn</text></svg>
<table><tr><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr></table>
<!-- a remark --><p hidden>It is &lt;over&gt;.`, base)
	want := `- Home (https://docs.example.org/)
- Top
- Do

# The pawl

A small tooth,
which turns (https://docs.example.org/c?x=1).

  if x {
	y
  }

A picture

1 2
3 4

It is <over>.
`
	if diff := cmp.Diff(want, text); diff != "" || title != "Pawl & ratchet" {
		t.Errorf("%q\n%s", title, diff)
	}
	if _, text = fetch.Readable(strings.Repeat("<a href=x></a>", 1<<13), base.JoinPath(strings.Repeat("a", 8000), "b")); len(text) > 5<<20 {
		t.Errorf("short links make a text of %d bytes", len(text))
	}
}

// FuzzReadable holds that any text is read, to its end and as text.
func FuzzReadable(f *testing.F) {
	for _, s := range []string{"", "<", "<a href='//[::1'>x", "<title><p>", "<pre>a<pre>b</pre>c", "</a></pre></svg>x", "<svg><svg></svg>x</svg>y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, page string) {
		if !utf8.ValidString(page) {
			return
		}
		if title, text := fetch.Readable(page, base); !utf8.ValidString(text) || !utf8.ValidString(title) {
			t.Errorf("%q became %q", page, text)
		}
	})
}
