package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"aiperf/internal/base/clock"
	"aiperf/internal/load"
	"aiperf/internal/mockserver"
	"aiperf/internal/run"
	"aiperf/internal/run/remote"
)

// TestAClockThatIsSetChangesNoTimes: an agent whose clock is 3 s ahead, and is set by 2 s while it sends.
func TestAClockThatIsSetChangesNoTimes(t *testing.T) {
	t.Parallel()
	s := startMock(t, mockserver.Options{TTFT: 5 * time.Millisecond})
	var step atomic.Int64
	ahead := clock.NewAt(time.Now().Add(3 * time.Second).UnixNano())
	x := assembleWith(t, 2, func(o *Options) { o.Heartbeat = time.Minute },
		func(i int, o *AgentOptions) {
			if i == 1 {
				o.Clock = ahead
				o.Wall = func() time.Time { return time.Now().Add(time.Duration(step.Load())) }
			}
		})
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		x.begun(t)
		step.Store(int64(2 * time.Second))
		if err := x.await(t.Context(), func() bool { return len(x.members[1].report.Notes) > 0 }); err != nil {
			t.Error(err)
		}
	}()
	dir := t.TempDir()
	c := x.Clock()
	began := c.WallNS(c.NowNS())
	_, accounts, err := x.execute(configOf(t, dir, s.url, "--concurrency", "4", "--benchmark-duration", "60",
		"--export-level", "records"), stop)
	ended := c.WallNS(c.NowNS())
	if err != nil {
		t.Fatal(err)
	}
	a := accounts[1]
	if len(a.Notes) != 1 || !strings.Contains(a.Notes[0], "was set by 2s") || len(accounts[0].Notes) > 0 {
		t.Errorf("notes %q and %q", accounts[0].Notes, a.Notes)
	}
	ours := c.NowNS()
	apart := time.Duration(ahead.WallNS(ahead.NowNS()) - c.WallNS(ours))
	if off := (a.Offset.Offset - apart).Abs(); off > a.Offset.Bound+time.Millisecond {
		t.Errorf("the offset is %s, the clocks are %s apart", a.Offset.Offset, apart)
	}
	data, err := os.ReadFile(filepath.Join(dir, "profile_export.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range bytes.Lines(data) {
		var r struct {
			Metadata struct {
				Start int64 `json:"request_start_ns"`
				End   int64 `json:"request_end_ns"`
			} `json:"metadata"`
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		if m := r.Metadata; m.Start < began || m.End > ended || m.End < m.Start {
			t.Fatalf("a request from %d to %d, in a run from %d to %d", m.Start, m.End, began, ended)
		}
		n++
	}
	if _, recorded, _, _ := total(accounts); int64(n) != recorded {
		t.Errorf("%d of %d records are in the file", n, recorded)
	}
}

func TestRawExchangesStayWithTheirAgents(t *testing.T) {
	t.Parallel()
	s := startMock(t, fast())
	x := assemble(t, 2, func(o *Options) { o.RawStays = true })
	dir := t.TempDir()
	_, accounts, err := x.execute(configOf(t, dir, s.url, "--request-count", "21", "--concurrency", "3", "--export-level",
		"raw"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "profile_export_raw.jsonl")); err == nil {
		t.Error("the coordinator has raw exchanges")
	}
	for i, a := range accounts {
		data, err := os.ReadFile(filepath.Join(a.Dir, "profile_export_raw.jsonl"))
		if n := int64(bytes.Count(data, []byte("\n"))); err != nil || n != a.Recorded || n < 10 ||
			!strings.HasPrefix(a.Dir, x.agents[i].dir) {
			t.Errorf("%d lines in %s, %v; account %+v", n, a.Dir, err, a)
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, "profile_export.jsonl"))
	if n := bytes.Count(data, []byte("\n")); err != nil || n != 21 {
		t.Errorf("%d records here, %v", n, err)
	}
}

// byteTokenizer writes a tokenizer that has a token for each byte, as a model's folder has it.
func byteTokenizer(t *testing.T, dir string) {
	t.Helper()
	vocab, next := map[string]int{}, 256
	for b := range 256 {
		r := rune(b)
		if b < '!' || b > '~' && b < 0xa1 || b == 0xad {
			r = rune(next)
			next++
		}
		vocab[string(r)] = b
	}
	text, err := json.Marshal(map[string]any{
		"model":         map[string]any{"type": "BPE", "vocab": vocab, "merges": []string{}},
		"pre_tokenizer": map[string]any{"type": "ByteLevel", "add_prefix_space": false},
		"decoder":       map[string]any{"type": "ByteLevel"},
	})
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "tokenizer.json"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// emptied removes a folder before the shares start.
type emptied struct {
	*RemoteRun
	dir string
}

func (e emptied) Start(ctx context.Context, plan load.Plan, sink remote.Sink) (int, error) {
	if err := os.RemoveAll(e.dir); err != nil {
		return 0, err
	}
	return e.RemoteRun.Start(ctx, plan, sink)
}

func TestAgentsNeedNoTokenizer(t *testing.T) {
	t.Parallel()
	s := startMock(t, fast())
	x := assemble(t, 2, nil)
	dir := filepath.Join(t.TempDir(), "model")
	byteTokenizer(t, dir)
	r := x.Remote()
	out, err := x.executeWith(configOf(t, t.TempDir(), s.url, "--request-count", "20", "--concurrency", "2", "--tokenizer",
		dir), nil, emptied{r, dir})
	if err != nil {
		t.Fatal(err)
	}
	sent, recorded, _, _ := total(r.Accounts())
	if out.Result.Counts.Successes != 20 || sent != 20 || recorded != 20 || out.Result.Incomplete != "" {
		t.Errorf("%+v, accounts %+v", out.Result.Counts, r.Accounts())
	}
	for i := range x.agents {
		if got, _ := filepath.Glob(filepath.Join(x.agents[i].dir, "*", "tokenizer-*")); len(got) > 0 {
			t.Errorf("left behind: %q", got)
		}
	}
}

var _ run.Stocker = emptied{}

// claims of a NATS server's operator mode: an operator, an account with JetStream and a user in it.
type claims struct {
	operator *jwt.OperatorClaims
	// tokens are those of the accounts by their keys, system is the key of the server's own.
	tokens map[string]string
	system string
	creds  []byte
}

func newClaims(t *testing.T) (c claims) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	public := func(pair nkeys.KeyPair, err error) (nkeys.KeyPair, string) {
		check(err)
		key, err := pair.PublicKey()
		check(err)
		return pair, key
	}
	operator, operatorKey := public(nkeys.CreateOperator())
	account, accountKey := public(nkeys.CreateAccount())
	user, userKey := public(nkeys.CreateUser())
	own, err := jwt.NewOperatorClaims(operatorKey).Encode(operator)
	check(err)
	c.operator, err = jwt.DecodeOperatorClaims(own)
	check(err)
	a := jwt.NewAccountClaims(accountKey)
	a.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
	_, c.system = public(nkeys.CreateAccount())
	c.tokens = map[string]string{}
	c.tokens[accountKey], err = a.Encode(operator)
	check(err)
	c.tokens[c.system], err = jwt.NewAccountClaims(c.system).Encode(operator)
	check(err)
	signed, err := jwt.NewUserClaims(userKey).Encode(account)
	check(err)
	seed, err := user.Seed()
	check(err)
	c.creds, err = jwt.FormatUserConfig(signed, seed)
	check(err)
	return c
}

func TestCredentialsForAServerOfOthers(t *testing.T) {
	t.Parallel()
	c := newClaims(t)
	resolver := &server.MemAccResolver{}
	for key, token := range c.tokens {
		if err := resolver.Store(key, token); err != nil {
			t.Fatal(err)
		}
	}
	n, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: t.TempDir(), TrustedOperators: []*jwt.OperatorClaims{c.operator},
		AccountResolver: resolver, SystemAccount: c.system, DisableJetStreamBanner: true})
	if err != nil {
		t.Fatal(err)
	}
	go n.Start()
	t.Cleanup(func() { n.Shutdown(); n.WaitForShutdown() })
	if !n.ReadyForConnections(time.Minute) {
		t.Fatal("the server is not ready")
	}
	path := filepath.Join(t.TempDir(), "user.creds")
	if err := os.WriteFile(path, c.creds, 0o600); err != nil {
		t.Fatal(err)
	}
	s := startMock(t, fast())
	x := assemble(t, 2, func(o *Options) {
		o.URL, o.Listen, o.Security = "nats://"+n.Addr().String(), "", Security{CredentialsFile: path}
	})
	if _, accounts, err := x.execute(configOf(t, t.TempDir(), s.url, "--request-count", "11", "--concurrency", "2"),
		nil); err != nil || fmt.Sprint(total(accounts)) != "11 11 0 0" {
		t.Errorf("%+v, %v", accounts, err)
	}
	stranger := filepath.Join(t.TempDir(), "stranger.creds")
	if err := os.WriteFile(stranger, newClaims(t).creds, 0o600); err != nil {
		t.Fatal(err)
	}
	a := x.join("stranger", func(o *AgentOptions) {
		o.Security, o.Wait = Security{CredentialsFile: stranger}, time.Millisecond
	})
	<-a.done
	if a.err == nil || !strings.Contains(a.err.Error(), "refuses the token, nkey or credentials") {
		t.Errorf("an agent with the credentials of another operator ended with %v", a.err)
	}
}
