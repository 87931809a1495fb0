package export_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/telemetry/export"
)

// A collector whose certificate is of a house of its own, and that wants one of its
// clients, is reached with what the variables name, and not without.
func TestCertificates(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	made := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, made, made, &key.PublicKey, key)
	must(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	client, err := x509.ParseCertificate(der)
	must(t, err)
	var got atomic.Int32
	c := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		got.Add(1)
	}))
	clients := x509.NewCertPool()
	clients.AddCert(client)
	c.TLS = &tls.Config{MinVersion: tls.VersionTLS12, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients}
	c.Config.ErrorLog = log.New(io.Discard, "", 0)
	c.StartTLS()
	defer c.Close()
	dir := t.TempDir()
	file := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
		return path
	}
	authority := file("ca.pem", "CERTIFICATE", c.Certificate().Raw)
	certificate, private := file("client.pem", "CERTIFICATE", der), file("key.pem", "PRIVATE KEY", secret)
	const p = "OTEL_EXPORTER_OTLP_"
	for name, tt := range map[string]struct {
		vars  map[string]string
		opens string // an error of this form; empty: none
		sent  int32
	}{
		"all":        {map[string]string{p + "CERTIFICATE": authority, p + "CLIENT_CERTIFICATE": certificate, p + "CLIENT_KEY": private}, "", 3},
		"one signal": {map[string]string{p + "TRACES_CERTIFICATE": authority, p + "TRACES_CLIENT_CERTIFICATE": certificate, p + "TRACES_CLIENT_KEY": private}, "", 1},
		"nobody":     {map[string]string{p + "CERTIFICATE": authority}, "", 0},
		"stranger":   {nil, "", 0},
		"half":       {map[string]string{p + "CLIENT_KEY": private}, "CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY go together", 0},
		"no file":    {map[string]string{p + "CERTIFICATE": filepath.Join(dir, "none")}, p + "CERTIFICATE cannot be read: no such file", 0},
		"no PEM":     {map[string]string{p + "CERTIFICATE": private}, p + "CERTIFICATE holds no certificate", 0},
		"mixed up":   {map[string]string{p + "CLIENT_CERTIFICATE": private, p + "CLIENT_KEY": certificate}, "CLIENT_CERTIFICATE and its key cannot be used", 0},
		"http":       {map[string]string{p + "CERTIFICATE": authority, p + "ENDPOINT": "http://127.0.0.1:1"}, "the endpoint is http; write https", 0},
	} {
		t.Run(name, func(t *testing.T) {
			got.Store(0)
			vars := map[string]string{p + "ENDPOINT": c.URL, p + "TIMEOUT": "2000"}
			for k, v := range tt.vars {
				vars[k] = v
				t.Setenv(k, v) // the exporters look there
			}
			failed := 0
			e, err := export.Open(func(name string) string { return vars[name] }, &export.Options{Failed: func(error) { failed++ }})
			if tt.opens != "" {
				if err == nil || strings.Count(err.Error(), tt.opens) != 1 || strings.Contains(err.Error(), dir) {
					t.Errorf("it says %v", err)
				}
				return
			}
			must(t, err)
			eng := engine.New(journal(t), &engine.Options{Watchers: []engine.Watcher{e.Telemetry}})
			h, err := eng.Start(t.Context(), pawl.Agent{Name: "baker", Model: speaker{}}, "go", nil)
			finish(t, h, err, pawl.StatusSuccess)
			_ = e.Shutdown(t.Context()) // Failed has been told
			if got.Load() != tt.sent || (failed > 0) != (tt.sent < 3) {
				t.Errorf("%d were sent, not %d, and %d failed", got.Load(), tt.sent, failed)
			}
		})
	}
}
