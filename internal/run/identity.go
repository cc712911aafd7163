package run

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"

	"aiperf/internal/wire/client"
	"aiperf/internal/wire/client/sigv4"
)

// identity is how the run and its servers know each other: authorities, the client's certificate, the
// signature of requests.
type identity struct {
	roots        *x509.CertPool // nil = the system's
	certificates []tls.Certificate
	signer       *sigv4.Signer // nil = none
}

// identify reads the files and finds the credentials that the configuration names.
func (t *target) identify(ctx context.Context) error {
	c, id := &t.cfg.Endpoint, &t.identity
	for _, a := range c.SourceAddresses {
		if err := client.CheckSource(a); err != nil {
			return fmt.Errorf("--source-address: %w", err)
		}
	}
	if file := c.TLS.CAFile; file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("--tls-ca-file %s cannot be read: %w", file, err)
		}
		id.roots = x509.NewCertPool()
		if !id.roots.AppendCertsFromPEM(pem) {
			return fmt.Errorf("--tls-ca-file %s holds no certificate in PEM form (-----BEGIN CERTIFICATE-----)", file)
		}
	}
	if c.TLS.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(c.TLS.CertFile, c.TLS.KeyFile)
		if err != nil {
			return fmt.Errorf("--tls-client-cert %s with --tls-client-key %s: %w", c.TLS.CertFile, c.TLS.KeyFile, err)
		}
		id.certificates = []tls.Certificate{pair}
	}
	if s := c.Signing; s != nil {
		var err error
		if id.signer, err = sigv4.New(ctx, sigv4.Options(*s)); err != nil {
			return fmt.Errorf("--auth-type sigv4: %w", err)
		}
	}
	return nil
}

// throughSocket dials the servers of the run through their Unix socket and all others as usual.
func throughSocket(socket string, bases []string) func(ctx context.Context, network, address string) (net.Conn, error) {
	var own []string
	for _, base := range bases {
		if u, err := url.Parse(base); err == nil {
			port := u.Port()
			if port == "" {
				port = map[string]string{"http": "80", "https": "443", "grpc": "80", "grpcs": "443"}[strings.ToLower(u.Scheme)]
			}
			own = append(own, net.JoinHostPort(u.Hostname(), port))
		}
	}
	var dialer net.Dialer
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if slices.Contains(own, address) {
			return dialer.DialContext(ctx, "unix", socket)
		}
		return dialer.DialContext(ctx, network, address)
	}
}
