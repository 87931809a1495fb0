package prices

import "testing"

func TestText(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Label(" tea "), "TEA:"}, {Label("strawberry jam"), "STRAWBERRY J:"},
		{Heading("Corner"), "*** CORNER ***"}, {Heading("The Shop Around the Corner"), "*** THE SHOP ARO ***"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
