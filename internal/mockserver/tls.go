package mockserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"

	"aiperf/internal/base/pemfile"
)

// tlsConfig returns nil for a server in plain text. HTTP/2 is offered first.
func (o *Options) tlsConfig() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	switch {
	case o.TLSMake != "":
		made, err := makeCertificate(o.TLSMake)
		if err != nil {
			return nil, fmt.Errorf("--tls-make: %w", err)
		}
		c.Certificates = []tls.Certificate{made}
	case o.TLSCert != "":
		pair, err := tls.LoadX509KeyPair(o.TLSCert, o.TLSKey)
		if err != nil {
			return nil, fmt.Errorf("--tls-cert, --tls-key: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	default:
		return nil, nil
	}
	if o.TLSClientCA != "" {
		pool, err := pemfile.Authorities(o.TLSClientCA)
		if err != nil {
			return nil, fmt.Errorf("--tls-client-ca: %w", err)
		}
		c.ClientCAs, c.ClientAuth = pool, tls.RequireAndVerifyClientCert
	}
	return c, nil
}

func (o *Options) checkTLS() error {
	switch {
	case (o.TLSCert == "") != (o.TLSKey == ""):
		return errors.New("--tls-cert and --tls-key go together")
	case o.TLSMake != "" && o.TLSCert != "":
		return errors.New("--tls-make and --tls-cert exclude each other")
	case o.TLSClientCA != "" && o.TLSMake == "" && o.TLSCert == "":
		return errors.New("--tls-client-ca needs --tls-cert or --tls-make")
	}
	return nil
}

// certificateLife is how long a certificate that the server makes is valid.
const certificateLife = 30 * 24 * time.Hour

// makeCertificate makes a certificate for this machine's own addresses that is its own authority, and writes
// it to path for the clients.
func makeCertificate(path string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "aiperf mock-server"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateLife), IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
