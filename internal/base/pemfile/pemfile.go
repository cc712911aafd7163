// Package pemfile reads the certificates of authorities, by which those of servers and clients are checked.
package pemfile

import (
	"crypto/x509"
	"fmt"
	"os"
)

// Authorities returns the authorities of a file in PEM format. The error names the file: it cannot be read, or has no
// certificate.
func Authorities(path string) (*x509.CertPool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s contains no certificate in PEM format (-----BEGIN CERTIFICATE-----)", path)
	}
	return pool, nil
}
