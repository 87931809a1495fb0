package s3

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// The example of the documentation: "GET Object".
func TestSign(t *testing.T) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://examplebucket.s3.amazonaws.com/test.txt", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Range", "bytes=0-9")
	keys{id: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}.sign(r, nil, "us-east-1", time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC))
	want := "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
	if got := r.Header.Get("Authorization"); !strings.HasSuffix(got, want) {
		t.Errorf("the signature is %s, want %s", got, want)
	}
}
