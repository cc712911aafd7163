// Package sigv4 signs requests for AWS services: AWS4-HMAC-SHA256 over the exact bytes that are sent. Credentials come
// from the sources that AWS tools use (environment, shared files and profiles, single sign-on, roles of containers and
// instances) and are renewed before they expire. It sends no request but those for credentials.
package sigv4

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"

	"aiperf/internal/measure/record"
)

// Options say for whom requests are signed.
type Options struct {
	Region, Service string
	// Profile is that of the shared files; "" = AWS_PROFILE or the default.
	Profile string
}

// Signer signs requests. It is safe for concurrent use.
type Signer struct {
	options     Options
	credentials aws.CredentialsProvider
	signer      *v4.Signer
}

// findLimit bounds the first search for credentials, renewLimit each later one.
const (
	findLimit  = 30 * time.Second
	renewLimit = 30 * time.Second
)

// New finds the credentials; without any it fails.
func New(ctx context.Context, o Options) (*Signer, error) {
	ctx, cancel := context.WithTimeout(ctx, findLimit)
	defer cancel()
	load := []func(*config.LoadOptions) error{config.WithRegion(o.Region)}
	if o.Profile != "" {
		load = append(load, config.WithSharedConfigProfile(o.Profile))
	}
	c, err := config.LoadDefaultConfig(ctx, load...)
	if err != nil {
		return nil, fmt.Errorf("AWS configuration cannot be read: %w; see --aws-profile", err)
	}
	if _, err := c.Credentials.Retrieve(ctx); err != nil {
		return nil, fmt.Errorf("no AWS credentials were found: %w; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "+
			"or give --aws-profile", err)
	}
	return &Signer{options: o, credentials: c.Credentials, signer: v4.NewSigner()}, nil
}

// Sign returns the headers that a request needs besides its own.
func (s *Signer) Sign(method string, u *url.URL, headers []record.Header, body []byte) ([]record.Header, error) {
	ctx, cancel := context.WithTimeout(context.Background(), renewLimit)
	defer cancel()
	credentials, err := s.credentials.Retrieve(ctx)
	if err != nil {
		return nil, fmt.Errorf("the AWS credentials could not be renewed: %w", err)
	}
	r := &http.Request{Method: method, URL: u, Host: u.Host, Header: http.Header{}, ContentLength: int64(len(body))}
	for _, h := range headers {
		switch {
		case strings.EqualFold(h.Name, "Host"):
			r.Host = h.Value
		case strings.EqualFold(h.Name, "Authorization"), strings.EqualFold(h.Name, "Connection"):
		default:
			r.Header.Add(h.Name, h.Value)
		}
	}
	sum := sha256.Sum256(body)
	if err := s.signer.SignHTTP(ctx, credentials, r, hex.EncodeToString(sum[:]), s.options.Service, s.options.Region,
		time.Now()); err != nil {
		return nil, fmt.Errorf("the request cannot be signed: %w", err)
	}
	var signed []record.Header
	for _, name := range []string{"Authorization", "X-Amz-Date", "X-Amz-Security-Token"} {
		if value := r.Header.Get(name); value != "" {
			signed = append(signed, record.Header{Name: name, Value: value})
		}
	}
	return signed, nil
}
