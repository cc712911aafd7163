package fleet

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/neterr"
	"aiperf/internal/config/parse"
)

// Security is what a process proves itself with to a NATS server, and what it checks the server by. Empty = none.
type Security struct {
	// Token is shared by all processes of a fleet. Drawn: nobody but this process knows it, so that it has to show it.
	Token string
	Drawn bool
	// NKeyFile holds the seed of an nkey, CredentialsFile a user's token and seed.
	NKeyFile, CredentialsFile string
	// CAFile has the certificates of authorities, CertFile and KeyFile a certificate of this process: of the server
	// that is embedded, else of the client.
	CAFile, CertFile, KeyFile string
}

// tls reports whether the links are encrypted.
func (s *Security) tls() bool { return s.CAFile != "" || s.CertFile != "" }

// encrypts reports whether what a client sends to a server is encrypted or stays on this machine. A client that has
// certificates encrypts nats:// as well.
func (s *Security) encrypts(address string) bool {
	return parse.Confidential(address) || s.tls() && parse.SchemeOf(address) == "nats"
}

// clientOptions are those of a connection to a server.
func (s *Security) clientOptions() (list []nats.Option, err error) {
	if s.Token != "" {
		list = append(list, nats.Token(s.Token))
	}
	if s.NKeyFile != "" {
		o, err := nats.NkeyOptionFromSeed(s.NKeyFile)
		if err != nil {
			return nil, fmt.Errorf("the nkey file %s: %w", s.NKeyFile, err)
		}
		list = append(list, o)
	}
	if s.CredentialsFile != "" {
		if _, err := os.Stat(s.CredentialsFile); err != nil {
			return nil, fmt.Errorf("the credentials file: %w", err)
		}
		list = append(list, nats.UserCredentials(s.CredentialsFile))
	}
	if s.CAFile != "" {
		list = append(list, nats.RootCAs(s.CAFile))
	}
	if s.CertFile != "" {
		list = append(list, nats.ClientCert(s.CertFile, s.KeyFile))
	}
	return list, nil
}

// NewToken returns a token that nobody can guess.
func NewToken() string { return strings.ToLower(rand.Text()) }

// ReadToken returns the token that a file holds.
func ReadToken(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("the token file: %w", err)
	}
	token := strings.TrimSpace(string(data))
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("the token file %s must hold one word", path)
	}
	return token, nil
}

// serverStartTimeout bounds the start of the embedded server.
const serverStartTimeout = 10 * time.Second

// largestMessage bounds a message on the embedded server; a batch of records with raw exchanges may be large.
const largestMessage = 32 << 20

// embedded is a NATS server in this process.
type embedded struct {
	*server.Server
	dir      *artifact.Temporary
	encrypts bool
}

// startServer starts the embedded server; listen is HOST:PORT.
func startServer(ctx context.Context, listen string, s *Security) (*embedded, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, fmt.Errorf("--nats-listen %s: %w", listen, err)
	}
	number, err := net.LookupPort("tcp", port)
	if err != nil {
		return nil, fmt.Errorf("--nats-listen %s: %w", listen, err)
	}
	if number == 0 {
		number = server.RANDOM_PORT
	}
	temporary, err := artifact.NewTemporary("fleet")
	if err != nil {
		return nil, err
	}
	started := false
	defer func() {
		if !started {
			temporary.Remove()
		}
	}()
	o := &server.Options{
		ServerName: "aiperf", Host: host, Port: number, NoSigs: true, NoLog: true, JetStream: true,
		StoreDir:   temporary.Dir,
		MaxPayload: largestMessage, MaxPending: 256 << 20, Authorization: s.Token, DisableJetStreamBanner: true,
		PingInterval: 5 * time.Second, MaxPingsOut: 3,
	}
	if s.NKeyFile != "" {
		if o.Nkeys, err = usersOf(s.NKeyFile); err != nil {
			return nil, err
		}
	}
	if s.CertFile != "" {
		if o.TLSConfig, err = server.GenTLSConfig(&server.TLSConfigOpts{
			CertFile: s.CertFile, KeyFile: s.KeyFile, CaFile: s.CAFile, MinVersion: tls.VersionTLS12,
		}); err != nil {
			return nil, fmt.Errorf("--nats-cert-file %s: %w", s.CertFile, err)
		}
	}
	n, err := server.NewServer(o)
	if err != nil {
		return nil, fmt.Errorf("the NATS server cannot be made: %w", err)
	}
	e := &embedded{n, temporary, s.CertFile != ""}
	if host != "" || number > 0 { // an address that is taken would end the program within the server
		probe, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, port))
		if err != nil {
			e.close()
			text, _ := neterr.Describe(err)
			return nil, fmt.Errorf("--nats-listen %s: %s", listen, text)
		}
		probe.Close()
	}
	n.Start()
	if !n.ReadyForConnections(serverStartTimeout) {
		e.close()
		return nil, fmt.Errorf("the NATS server on %s was not ready within %s", listen, serverStartTimeout)
	}
	started = true
	return e, nil
}

// usersOf returns the only user that an embedded server knows: the owner of a seed.
func usersOf(path string) ([]*server.NkeyUser, error) {
	seed, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the nkey file: %w", err)
	}
	pair, err := nkeys.ParseDecoratedNKey(seed)
	if err != nil {
		return nil, fmt.Errorf("the nkey file %s: %w", path, err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("the nkey file %s: %w", path, err)
	}
	return []*server.NkeyUser{{Nkey: public}}, nil
}

func (e *embedded) close() {
	if e != nil {
		e.Shutdown()
		e.WaitForShutdown()
		e.dir.Remove()
	}
}

// address is where the server listens, as a URL.
func (e *embedded) address() string {
	scheme := "nats"
	if e.encrypts {
		scheme = "tls"
	}
	return scheme + "://" + e.Addr().String()
}

// CheckURL returns an error for what is no address of a NATS server.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return fmt.Errorf("%q is not an address of a NATS server: want nats://HOST:PORT or tls://HOST:PORT", text)
	}
	switch u.Scheme {
	case "nats", "tls", "ws", "wss":
		return nil
	}
	return fmt.Errorf("%q has the scheme %q: want nats:// or tls://", text, u.Scheme)
}

const (
	connectWait   = 2 * time.Second
	reconnectWait = 200 * time.Millisecond
	// reconnectBuffer is what a connection keeps of messages while it is down. All of them are repeated anyway.
	reconnectBuffer = 1 << 20
)

// connect connects to a server and keeps the connection up for as long as it is open. An attempt under way, which takes
// connectWait at most, is not broken off by the context.
func connect(ctx context.Context, address, name string, s *Security, more ...nats.Option) (*nats.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	options, err := s.clientOptions()
	if err != nil {
		return nil, err
	}
	options = append(options, nats.Name(name), nats.Timeout(connectWait), nats.MaxReconnects(-1),
		nats.ReconnectWait(reconnectWait), nats.ReconnectJitter(50*time.Millisecond, 50*time.Millisecond),
		nats.ReconnectBufSize(reconnectBuffer), nats.PingInterval(2*time.Second), nats.MaxPingsOutstanding(3),
		nats.IgnoreAuthErrorAbort(), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	c, err := nats.Connect(address, append(options, more...)...)
	if err != nil {
		return nil, fmt.Errorf("the NATS server %s: %w", hostOf(address), explained(err))
	}
	return c, nil
}

// subscribe has a function take the messages of a subject, one after the other. The goroutine that calls it is counted
// until it has ended, after the connection is closed.
func subscribe(c *nats.Conn, subject string, take func(*nats.Msg), ends *sync.WaitGroup) (*nats.Subscription, error) {
	s, err := c.Subscribe(subject, take)
	if err == nil {
		ends.Add(1)
		s.SetClosedHandler(func(string) { ends.Done() })
	}
	return s, err
}

// flush waits until the server has got everything so far.
func flush(ctx context.Context, c *nats.Conn, most time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	return c.FlushWithContext(ctx)
}

// explained adds the way out to errors of connections.
func explained(err error) error {
	switch {
	case errors.Is(err, nats.ErrAuthorization):
		return errors.New("it refuses the token, nkey or credentials")
	case errors.Is(err, nats.ErrSecureConnRequired):
		return errors.New("it wants TLS: use tls://, and --nats-ca-file (--ca-file of aiperf agent) if its certificate is " +
			"your own")
	case errors.Is(err, nats.ErrNoServers):
		return errors.New("nothing answers there")
	}
	return err
}

// hostOf is the host and port of an address, without user information.
func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return address
}

// objectStore is the store of a run: a bucket of NATS' object store, which cuts what is put into it, and checks it.
type objectStore struct{ jetstream.ObjectStore }

// bucketAge bounds the life of a bucket whose coordinator died.
const bucketAge = 24 * time.Hour

func createObjectStore(ctx context.Context, c *nats.Conn, bucket string) (*objectStore, error) {
	js, err := jetstream.New(c)
	if err != nil {
		return nil, err
	}
	s, err := js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{
		Bucket: bucket, TTL: bucketAge, Storage: jetstream.FileStorage, Description: "what the requests of a run of aiperf say",
	})
	if errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) ||
		errors.Is(err, nats.ErrNoResponders) {
		return nil, errors.New("the NATS server has no JetStream, which holds the data set: start it with -js, or leave " +
			"--nats-url out")
	}
	if err != nil {
		return nil, fmt.Errorf("the data set cannot be stored on the NATS server: %w", err)
	}
	return &objectStore{s}, nil
}

func openObjectStore(ctx context.Context, c *nats.Conn, bucket string) (*objectStore, error) {
	js, err := jetstream.New(c)
	if err != nil {
		return nil, err
	}
	s, err := js.ObjectStore(ctx, bucket)
	if err != nil {
		return nil, fmt.Errorf("the data set is not on the NATS server: %w", err)
	}
	return &objectStore{s}, nil
}

// deleteObjectStore removes a bucket; one that stays goes by its age.
func deleteObjectStore(ctx context.Context, c *nats.Conn, bucket string) {
	if js, err := jetstream.New(c); err == nil {
		_ = js.DeleteObjectStore(ctx, bucket)
	}
}

func (o *objectStore) put(ctx context.Context, name string, data []byte) error {
	if _, err := o.PutBytes(ctx, name, data); err != nil {
		return fmt.Errorf("the data set cannot be stored on the NATS server: %w", err)
	}
	return nil
}

func (o *objectStore) get(ctx context.Context, name string) ([]byte, error) {
	return o.GetBytes(ctx, name)
}
