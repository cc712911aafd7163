package run

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// authority makes a certificate for 127.0.0.1 that is its own authority, and its files.
func authority(t *testing.T) (pair tls.Certificate, pool *x509.CertPool, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret})
	for path, data := range map[string][]byte{certFile: certPEM, keyFile: keyPEM} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM(certPEM)
	if pair, err = tls.X509KeyPair(certPEM, keyPEM); err != nil {
		t.Fatal(err)
	}
	return pair, pool, certFile, keyFile
}

// chatServer streams three tokens to every chat request and keeps what it was asked.
type chatServer struct {
	mu       sync.Mutex
	requests []*http.Request
	bodies   []string
	// frame wraps what is streamed; nil leaves it.
	frame func(string) string
	kind  string
}

func (s *chatServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.requests, s.bodies = append(s.requests, r), append(s.bodies, string(body))
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	if s.kind != "" {
		w.Header().Set("Content-Type", s.kind)
	}
	events := []string{}
	for range 3 {
		events = append(events, `{"object":"chat.completion.chunk","choices":[{"delta":{"content":"a"}}]}`)
	}
	events = append(events, `{"object":"chat.completion.chunk","choices":[{"delta":{},"finish_reason":"stop"}]}`,
		"[DONE]")
	for _, e := range events {
		text := "data: " + e + "\n\n"
		if s.frame != nil {
			text = s.frame(text)
		}
		io.WriteString(w, text)
		w.(http.Flusher).Flush()
	}
}

// listen serves h, over TLS with config if there is one.
func listen(t *testing.T, network, address string, config *tls.Config, h http.Handler,
	set func(*http.Protocols)) net.Addr {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Skipf("%s %s: %v", network, address, err)
	}
	s := &http.Server{Handler: h, TLSConfig: config.Clone(), Protocols: new(http.Protocols), ErrorLog: nil}
	set(s.Protocols)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if config != nil {
			_ = s.ServeTLS(l, "", "")
		} else {
			_ = s.Serve(l)
		}
	}()
	t.Cleanup(func() { s.Close(); <-done })
	return l.Addr()
}

func http1(p *http.Protocols) { p.SetHTTP1(true) }

func TestTransports(t *testing.T) {
	t.Parallel()
	pair, pool, certFile, keyFile := authority(t)
	server := &tls.Config{Certificates: []tls.Certificate{pair}}
	mutual := &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool,
		ClientAuth: tls.RequireAndVerifyClientCert}
	dir, err := os.MkdirTemp("", "aip")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	for _, c := range []struct {
		name             string
		network, address string
		config           *tls.Config
		protocols        func(*http.Protocols)
		url              string // ADDR is replaced
		flags            []string
		proto, reason    string
	}{
		{"an authority of one's own", "tcp", "127.0.0.1:0", server, http1, "https://ADDR",
			[]string{"--tls-ca-file", certFile}, "HTTP/1.1", ""},
		{"mutual TLS", "tcp", "127.0.0.1:0", mutual, http1, "https://ADDR",
			[]string{"--tls-ca-file", certFile, "--tls-client-cert", certFile, "--tls-client-key", keyFile}, "HTTP/1.1",
			""},
		{"HTTP/2 over TLS", "tcp", "127.0.0.1:0", server, func(p *http.Protocols) { p.SetHTTP2(true) }, "https://ADDR",
			[]string{"--tls-ca-file", certFile, "--http2"}, "HTTP/2.0", "HTTP/2"},
		{"HTTP/2 in clear text", "tcp", "127.0.0.1:0", nil, func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) },
			"http://ADDR", []string{"--http2"}, "HTTP/2.0", "HTTP/2"},
		{"a Unix socket", "unix", socket, nil, http1, "http://model.local/v1", []string{"--unix-socket", socket},
			"HTTP/1.1", "TCP socket"},
		{"IPv6", "tcp", "[::1]:0", nil, http1, "http://ADDR", nil, "HTTP/1.1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &chatServer{}
			addr := listen(t, c.network, c.address, c.config, s, c.protocols)
			out, err := execute(t, resolve(t, t.TempDir(), strings.ReplaceAll(c.url, "ADDR", addr.String()),
				append(c.flags, "--streaming", "--isl", "8", "--request-count", "3", "--concurrency", "2")...),
				Options{})
			if err != nil {
				t.Fatal(err)
			}
			if n := out.Result.Counts; n.Successes != 3 || n.Errors != 0 {
				t.Errorf("%+v", n)
			}
			for _, r := range s.requests {
				if r.Proto != c.proto || r.URL.Path != "/v1/chat/completions" {
					t.Errorf("asked %s in %s", r.URL.Path, r.Proto)
				}
			}
			if health := fmt.Sprintf("%+v", out.Result); c.reason != "" && !strings.Contains(health, c.reason) {
				t.Errorf("the result does not say that stamps are of user space because of %q", c.reason)
			}
		})
	}
}

func TestFilesOfTLSThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	_, _, certFile, keyFile := authority(t)
	_, _, _, otherKey := authority(t)
	for _, c := range []struct {
		name  string
		flags []string
		fault string
	}{
		{"no certificate in the authority's file", []string{"--tls-ca-file", keyFile}, "--tls-ca-file"},
		{"a key of another certificate", []string{"--tls-client-cert", certFile, "--tls-client-key", otherKey},
			"--tls-client-key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := execute(t, resolve(t, t.TempDir(), "https://127.0.0.1:1", c.flags...), Options{})
			if err == nil || !strings.Contains(err.Error(), c.fault) || strings.Contains(err.Error(), "PRIVATE") {
				t.Errorf("%v", err)
			}
		})
	}
}

// awsEnvironment gives credentials and keeps those of the machine out.
func awsEnvironment(t *testing.T) {
	t.Helper()
	none := filepath.Join(t.TempDir(), "none")
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret-7c6b5a49",
		"AWS_SESSION_TOKEN": "token-1f2e3d4c", "AWS_PROFILE": "",
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_SHARED_CREDENTIALS_FILE": none, "AWS_CONFIG_FILE": none,
	} {
		t.Setenv(name, value)
	}
}

func TestSignedRuns(t *testing.T) {
	awsEnvironment(t)
	s := &chatServer{}
	addr := listen(t, "tcp", "127.0.0.1:0", nil, s, http1)
	dir := t.TempDir()
	out, err := execute(t, resolve(t, dir, "http://"+addr.String(), "--streaming", "--isl", "8", "--request-count", "2",
		"--api-key", "sk-never-sent",
		"--auth-type", "sigv4", "--aws-region", "eu-west-1", "--aws-service", "bedrock", "--wait-for-model-timeout",
		"5", "--export-level", "raw", "--export-http-trace"), Options{})
	if err != nil || out.Result.Counts.Successes != 2 {
		t.Fatal(err)
	}
	if len(s.requests) != 3 {
		t.Fatalf("%d requests, want the probe and two", len(s.requests))
	}
	for _, r := range s.requests {
		auth := r.Header.Get("Authorization")
		if !strings.HasPrefix(auth, "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/") ||
			!strings.Contains(auth, "/eu-west-1/bedrock/aws4_request") ||
			!strings.Contains(auth, "x-request-id") || r.Header.Get("X-Amz-Security-Token") != "token-1f2e3d4c" {
			t.Errorf("headers %v", r.Header)
		}
	}
	for _, name := range []string{"profile_export_raw.jsonl", "profile_export.jsonl", "profile_export_aiperf.json",
		"logs/aiperf.log"} {
		data := fileOf(t, dir, name)
		for _, secret := range []string{"secret-7c6b5a49", "token-1f2e3d4c", "Signature=", "sk-never-sent"} {
			if bytes.Contains(data, []byte(secret)) {
				t.Errorf("%s holds %s", name, secret)
			}
		}
	}
}

func TestSageMaker(t *testing.T) {
	awsEnvironment(t)
	for _, streaming := range []bool{false, true} {
		s := &chatServer{}
		flags := []string{"--isl", "8", "--request-count", "2", "--sagemaker-endpoint-name", "my-endpoint",
			"--aws-region", "us-east-1",
			"--sagemaker-inference-component-name", "part", "--sagemaker-target-variant", "blue"}
		path := "/endpoints/my-endpoint/invocations"
		if streaming {
			flags = append(flags, "--streaming")
			path += "-response-stream"
			s.kind, s.frame = "application/vnd.amazon.eventstream", payloadPart
		} else {
			flags = append(flags, "--sagemaker-target-model", "m.tar.gz")
		}
		addr := listen(t, "tcp", "127.0.0.1:0", nil, s, http1)
		out, err := execute(t, resolve(t, t.TempDir(), "http://"+addr.String(), flags...), Options{})
		if err != nil || out.Result.Counts.Successes != 2 {
			t.Fatalf("streaming %v: %v %+v", streaming, err, out)
		}
		for _, r := range s.requests {
			if r.URL.Path != path || !strings.Contains(r.Header.Get("Authorization"),
				"/us-east-1/sagemaker/aws4_request") ||
				r.Header.Get("X-Amzn-Sagemaker-Inference-Id") != r.Header.Get("X-Request-Id") ||
				r.Header.Get("X-Amzn-Sagemaker-Inference-Component") != "part" ||
				r.Header.Get("X-Amzn-Sagemaker-Target-Variant") != "blue" ||
				(r.Header.Get("X-Amzn-Sagemaker-Target-Model") == "") != streaming {
				t.Errorf("%s %v", r.URL.Path, r.Header)
			}
		}
	}
}
