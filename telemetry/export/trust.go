package export

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/pawl-run/pawl/internal/display"
)

// trust is the TLS configuration of a signal; nil: the system's roots, no client certificate.
// The exporters read the same variables, but ignore them if they get a client; they then refuse
// http addresses, for which trust returns a clearer error.
func (s settings) trust(signal, address string) (*tls.Config, error) {
	authority, certificate, key := s.of(signal, "CERTIFICATE"), s.of(signal, "CLIENT_CERTIFICATE"), s.of(signal, "CLIENT_KEY")
	if authority == "" && certificate == "" && key == "" {
		return nil, nil
	}
	if !strings.HasPrefix(strings.ToLower(address), "https:") {
		return nil, errors.New("OTEL_EXPORTER_OTLP_CERTIFICATE, or one for the client, is set, and the endpoint is http; write https")
	}
	to := &tls.Config{MinVersion: tls.VersionTLS12}
	if authority != "" {
		pem, err := os.ReadFile(authority)
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE cannot be read: %w", display.WithoutPath(err))
		}
		if to.RootCAs = x509.NewCertPool(); !to.RootCAs.AppendCertsFromPEM(pem) {
			return nil, errors.New("OTEL_EXPORTER_OTLP_CERTIFICATE holds no certificate; name a file in PEM form")
		}
	}
	switch {
	case certificate == "" && key == "":
	case certificate == "" || key == "":
		return nil, errors.New("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY go together; set both")
	default:
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and its key cannot be used: %w", display.WithoutPath(err))
		}
		to.Certificates = []tls.Certificate{pair}
	}
	return to, nil
}
