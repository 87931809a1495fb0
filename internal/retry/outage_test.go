package retry_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/pawl-run/pawl/internal/retry"
)

type own struct{ error }

func (own) Unavailable() bool { return false }

func TestIs(t *testing.T) {
	refused := errors.New("connection refused")
	away := fmt.Errorf("journal x: %w", &retry.Error{Err: refused})
	if !retry.Temporary(away) || !errors.Is(away, refused) || away.Error() != "journal x: connection refused" {
		t.Errorf("%v", away)
	}
	for _, err := range []error{nil, refused, own{refused}} {
		if retry.Temporary(err) {
			t.Errorf("%v is taken for an outage", err)
		}
	}
}
