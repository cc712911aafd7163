package recorder_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"aiperf/internal/traffic/recorder"
	"aiperf/internal/workload/recording"
	"aiperf/internal/workload/tokenizer"
)

// recording is a recorder in front of a server.
type proxy struct {
	t    *testing.T
	r    *recorder.Recorder
	url  string
	dir  string
	warn []string
	mu   sync.Mutex
}

func record(t *testing.T, server http.HandlerFunc, change func(*recorder.Options)) *proxy {
	t.Helper()
	return before(t, serve(t, server).String(), change)
}

// serve is the address of a server.
func serve(t *testing.T, server http.HandlerFunc) *url.URL {
	t.Helper()
	upstream := httptest.NewServer(server)
	t.Cleanup(upstream.Close)
	u, err := url.Parse(upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func before(t *testing.T, address string, change func(*recorder.Options)) *proxy {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	rec := &proxy{t: t, dir: t.TempDir()}
	o := recorder.Options{Upstream: u, Folder: rec.dir, Keep: recording.KeepHashes, Tokenizer: tokenizer.Builtin(), BlockSize: 4,
		Salt: []byte("a salt of sixteen"), Warn: func(text string) {
			rec.mu.Lock()
			defer rec.mu.Unlock()
			rec.warn = append(rec.warn, text)
		}}
	if change != nil {
		change(&o)
	}
	if rec.r, err = recorder.New(o); err != nil {
		t.Fatal(err)
	}
	front := httptest.NewUnstartedServer(rec.r)
	front.Config.Protocols = new(http.Protocols)
	front.Config.Protocols.SetHTTP1(true)
	front.Config.Protocols.SetUnencryptedHTTP2(true)
	front.Start()
	t.Cleanup(front.Close)
	rec.url = front.URL
	return rec
}

// post sends a request and returns the whole answer.
func (rec *proxy) post(path, body string, header ...string) (status int, text string) {
	rec.t.Helper()
	req, err := http.NewRequest(http.MethodPost, rec.url+path, strings.NewReader(body))
	if err != nil {
		rec.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		rec.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b)
}

// rows ends the recording and returns what it wrote.
func (rec *proxy) rows() (list []recording.Row) {
	rec.t.Helper()
	if err := rec.r.Close(context.Background()); err != nil {
		rec.t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(rec.dir, "traffic*.jsonl"))
	slices.Sort(files)
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			rec.t.Fatal(err)
		}
		for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
			var row recording.Row
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				rec.t.Fatalf("%s:%d: %v", name, i+1, err)
			}
			if i > 0 {
				list = append(list, row)
			}
		}
	}
	return list
}

const answer = `{"id":"a","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"It rains."},` +
	`"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":3}}`

func answers(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, answer)
}

func TestARequestPassesAndHasARow(t *testing.T) {
	t.Parallel()
	var got http.Header
	var path, body string
	rec := record(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got, path, body = r.Header, r.URL.RequestURI(), string(b)
		w.Header().Set("X-Server", "s")
		answers(w, r)
	}, nil)
	sent := `{"model":"m","messages":[{"role":"user","content":"What is the weather like in the north today?"}],` +
		`"temperature":0.5,"max_tokens":7,"user":"somebody"}`
	status, text := rec.post("/v1/chat/completions?k=v", sent, "Authorization", "Bearer key", "X-Forwarded-For", "1.2.3.4")
	if status != 200 || text != answer || body != sent || path != "/v1/chat/completions?k=v" {
		t.Errorf("%d %s; the server got %s %s", status, text, path, body)
	}
	if got.Get("Authorization") != "Bearer key" || got.Get("X-Forwarded-For") != "1.2.3.4" {
		t.Errorf("the server got %v", got)
	}
	rows := rec.rows()
	if len(rows) != 1 {
		t.Fatalf("%d rows", len(rows))
	}
	row := rows[0]
	if row.Endpoint != "chat" || row.Model != "m" || row.Outcome != "ok" || row.Status != 200 || row.Stream ||
		row.InputLength != 10 || len(row.HashIDs) != 2 || row.OutputLength != 3 || *row.UsagePrompt != 9 ||
		row.StopReason != "stop" || row.Turn != 0 || row.ThinkMS != nil || row.Incomplete != "" {
		t.Errorf("%+v", row)
	}
	if fmt.Sprintf("%s %s", row.Sampling["temperature"], row.Sampling["max_tokens"]) != "0.5 7" || len(row.Sampling) != 2 {
		t.Errorf("sampling %s", row.Sampling)
	}
}

// event is one of a stream of chat.
func event(content string) string {
	return `data: {"choices":[{"index":0,"delta":{"content":"` + content + `"}}]}` + "\n\n"
}

func TestAStreamIsNotHeldBack(t *testing.T) {
	t.Parallel()
	goOn := make(chan struct{})
	rec := record(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, word := range []string{"It", " rains"} {
			io.WriteString(w, event(word))
			w.(http.Flusher).Flush()
			<-goOn
		}
		io.WriteString(w, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`+"\n\ndata: [DONE]\n\n")
	}, nil)
	resp, err := http.Post(rec.url+"/v1/chat/completions", "application/json",
		strings.NewReader(`{"model":"m","stream":true,"messages":[{"role":"user","content":"Hello there"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	for range 2 { // each event is here before the server sends the next
		line, err := lines.ReadString('\n')
		if err != nil || !strings.HasPrefix(line, "data: {") {
			t.Fatal(line, err)
		}
		lines.ReadString('\n')
		goOn <- struct{}{}
	}
	io.Copy(io.Discard, lines)
	row := rec.rows()[0]
	if row.OutputLength != 2 || row.StopReason != "length" || row.TTFTMS == nil || *row.TTFTMS > row.LatencyMS || !row.Stream {
		t.Errorf("%+v", row)
	}
}

func TestSessionsAreToldByTheirMessages(t *testing.T) {
	t.Parallel()
	rec := record(t, answers, nil)
	chat := func(messages ...string) {
		list := make([]string, len(messages))
		for i, m := range messages {
			list[i] = fmt.Sprintf(`{"role":%q,"content":%q}`, []string{"system", "user", "assistant"}[min(i, 1+(i+1)%2)], m)
		}
		rec.post("/v1/chat/completions", `{"model":"m","messages":[`+strings.Join(list, ",")+`]}`)
	}
	chat("Be short.", "Name a river, please.")
	chat("Be short.", "Name a mountain, please.")
	chat("Be short.", "Name a river, please.", "The Rhine", "And another one")
	chat("Be short.", "Name a river, please.", "The Rhine", "And another one", "The Elbe", "Where is it?")
	chat("Be short.", "Name a mountain, please.", "Rigi", "How high is it?")
	rows := rec.rows()
	var got []string
	names := map[string]string{}
	for _, row := range rows {
		if names[row.SessionID] == "" {
			names[row.SessionID] = string(rune('a' + len(names)))
		}
		got = append(got, fmt.Sprintf("%s%d", names[row.SessionID], row.Turn))
		if (row.Turn > 0) != (row.ThinkMS != nil) {
			t.Errorf("%+v", row)
		}
	}
	if want := []string{"a0", "b0", "a1", "a2", "b1"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	// What a turn repeats are the same blocks.
	first, second := rows[0].HashIDs, rows[2].HashIDs
	if len(first) != rows[0].InputLength/4 || !slices.Equal(first, second[:len(first)]) {
		t.Errorf("%v is not the beginning of %v", first, second)
	}
	if first[0] != rows[1].HashIDs[0] || slices.Equal(first, rows[1].HashIDs) {
		t.Errorf("%v and %v", first, rows[1].HashIDs)
	}
}

func TestAHeaderOrACookieTellsSessions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		change func(*recorder.Options)
		header func(string) []string
	}{
		{func(o *recorder.Options) { o.SessionHeader = "X-Session" }, func(v string) []string { return []string{"X-Session", v} }},
		{func(o *recorder.Options) { o.SessionCookie = "sid" }, func(v string) []string { return []string{"Cookie", "a=b; sid=" + v} }},
	} {
		rec := record(t, answers, c.change)
		for _, who := range []string{"planted-1", "planted-2", "planted-1"} {
			rec.post("/v1/completions", `{"model":"m","prompt":"Once upon a time"}`, c.header(who)...)
		}
		rows := rec.rows()
		if rows[0].SessionID != rows[2].SessionID || rows[0].SessionID == rows[1].SessionID || rows[2].Turn != 1 {
			t.Errorf("%+v", rows)
		}
		noneOf(t, rec.dir, "planted")
	}
}

// noneOf reads the files of a folder: none has one of the texts.
func noneOf(t *testing.T, dir string, texts ...string) {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files = append(files, name)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Error("there are no files", err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			if bytes.Contains(b, []byte(text)) {
				t.Errorf("%s has %q", filepath.Base(name), text)
			}
		}
	}
}

func TestNoTextIsWrittenUnlessAskedFor(t *testing.T) {
	t.Parallel()
	scripts := []string{"Alpenglühen über dem See", "Ещё один секрет", "秘密の言葉です", "رسالة سرية جدا", "סוד גדול מאוד",
		"गुप्त संदेश यहाँ", "비밀 메시지입니다", "ข้อความลับ", "μυστικό μήνυμα", "a plain english secret"}
	server := func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"choices":[{"message":{"content":%q,"tool_calls":[{"id":"call-planted","type":"function",`+
			`"function":{"name":"tool_planted","arguments":"{\"q\":\"planted\"}"}}]},"finish_reason":"reason-planted"}]}`,
			strings.Join(scripts, " "))
	}
	for _, keep := range []recording.Keep{recording.KeepHashes, recording.KeepLengths, recording.KeepText} {
		rec := record(t, server, func(o *recorder.Options) { o.Keep = keep })
		for _, text := range scripts {
			rec.post("/v1/chat/completions?token=query-planted", fmt.Sprintf(`{"model":"m","user":"user-planted",`+
				`"messages":[{"role":"user","name":"name-planted","content":%q}],"stop":["stop-planted"],"temperature":"t-planted",`+
				`"tools":[{"type":"function","function":{"name":"tool_planted","description":"planted"}}]}`, text),
				"Authorization", "Bearer key-planted", "X-Api-Key", "key-planted", "Cookie", "c=cookie-planted")
			rec.post("/planted/path", `{"text":"`+text+`"}`)
			rec.post("/v1/chat/completions", "no json: "+text)
		}
		rows := rec.rows()
		if len(rows) != 30 || rows[0].ToolCalls != 1 || rows[0].Tools != 1 || rows[0].StopReason != "other" {
			t.Errorf("%d rows, the first %+v", len(rows), rows[0])
		}
		if keep == recording.KeepText {
			noneOf(t, rec.dir, "key-planted", "cookie-planted", "query-planted")
			if rows[0].Reply == nil || !strings.Contains(string(rows[0].Request), scripts[0]) {
				t.Errorf("%+v", rows[0])
			}
			continue
		}
		noneOf(t, rec.dir, append(slices.Clone(scripts), "planted", "a salt of sixteen")...)
		if (keep == recording.KeepLengths) != (rows[0].HashIDs == nil) {
			t.Errorf("%s: %v", keep, rows[0].HashIDs)
		}
	}
}

func TestTheSaltDecidesTheHashes(t *testing.T) {
	t.Parallel()
	ids := func(salt string) []int64 {
		rec := record(t, answers, func(o *recorder.Options) { o.Salt = []byte(salt) })
		rec.post("/v1/completions", `{"prompt":"Once upon a time there was a king who had three daughters"}`)
		return rec.rows()[0].HashIDs
	}
	a, b, c := ids("one salt"), ids("one salt"), ids("another")
	if !slices.Equal(a, b) || slices.ContainsFunc(a, func(id int64) bool { return slices.Contains(c, id) || id < 0 || id >= 1<<52 }) {
		t.Error(a, b, c)
	}
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	entered, left := make(chan struct{}), make(chan struct{})
	rec := record(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		switch r.Header.Get("X-Do") {
		case "refuse":
			http.Error(w, `{"error":{"message":"no"}}`, http.StatusTooManyRequests)
		case "break":
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, event("It"))
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		case "hang":
			close(entered)
			<-r.Context().Done()
			close(left)
		case "inside":
			io.WriteString(w, `{"error":{"message":"out of memory","code":500}}`)
		}
	}, nil)
	const body = `{"messages":[{"role":"user","content":"Hello"}]}`
	rec.post("/v1/chat/completions", body, "X-Do", "refuse")
	req, _ := http.NewRequest(http.MethodPost, rec.url+"/v1/chat/completions", strings.NewReader(body))
	req.Header.Set("X-Do", "break")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("a reply that broke off looks whole to the client")
	}
	ctx, cancel := context.WithCancel(context.Background())
	req, _ = http.NewRequestWithContext(ctx, http.MethodPost, rec.url+"/v1/chat/completions", strings.NewReader(body))
	req.Header.Set("X-Do", "hang")
	go func() { <-entered; cancel() }()
	if _, err := http.DefaultClient.Do(req); err == nil {
		t.Error("the hanging request was answered")
	}
	<-left // the server hears that the client has left
	rec.post("/v1/chat/completions", body, "X-Do", "inside")
	var got []string
	for _, row := range rec.rows() {
		got = append(got, row.Outcome)
	}
	slices.Sort(got)
	if want := []string{"broken", "cancelled", "error", "error"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestAClientThatLeavesAtTheLastEventWasAnswered: clients close a stream at [DONE], before its last bytes.
func TestAClientThatLeavesAtTheLastEventWasAnswered(t *testing.T) {
	left := make(chan struct{})
	rec := record(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, event("It"))
		io.WriteString(w, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(left)
	}, nil)
	resp, err := http.Post(rec.url+"/v1/chat/completions", "application/json",
		strings.NewReader(`{"stream":true,"messages":[{"role":"user","content":"Hello"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(resp.Body); lines.Scan() && lines.Text() != "data: [DONE]"; {
	}
	resp.Body.Close()
	<-left
	if rows := rec.rows(); len(rows) != 1 || rows[0].Outcome != "ok" {
		t.Errorf("rows %+v, want one that is ok", rows)
	}
}

func TestAServerThatIsNotThereIsA502AndARow(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	rec := before(t, "http://"+l.Addr().String(), nil)
	for range 2 {
		if status, text := rec.post("/v1/completions", `{"prompt":"x"}`); status != 502 || !strings.Contains(text, "does not answer") {
			t.Error(status, text)
		}
	}
	rows := rec.rows()
	if len(rows) != 2 || rows[0].Outcome != "unreached" || len(rec.warn) != 1 {
		t.Errorf("%+v %v", rows, rec.warn)
	}
}

func TestCompressedBodiesPassAsTheyAreAndAreRead(t *testing.T) {
	t.Parallel()
	packed := func(text string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		io.WriteString(z, text)
		z.Close()
		return b.String()
	}
	rec := record(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if _, err := gzip.NewReader(bytes.NewReader(b)); err != nil || r.Header.Get("Accept-Encoding") != "gzip" {
			t.Error(err, r.Header)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		io.WriteString(w, packed(answer))
	}, nil)
	status, text := rec.post("/v1/chat/completions", packed(`{"messages":[{"role":"user","content":"Hello there"}]}`),
		"Content-Encoding", "gzip", "Accept-Encoding", "gzip")
	if status != 200 || text != packed(answer) {
		t.Errorf("%d %q", status, text)
	}
	if row := rec.rows()[0]; row.InputLength != 2 || row.OutputLength != 3 || row.Incomplete != "" {
		t.Errorf("%+v", row)
	}
}

func TestHTTP2AndTLSOnEitherSide(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Proto", r.Proto)
		answers(w, r)
	}))
	upstream.EnableHTTP2 = true
	upstream.StartTLS()
	defer upstream.Close()
	rec := before(t, upstream.URL, func(o *recorder.Options) { o.TLS = &tls.Config{InsecureSkipVerify: true} })
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Post(rec.url+"/v1/chat/completions", "application/json",
		strings.NewReader(`{"messages":[{"role":"user","content":"Hello"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(resp.Body)
	if resp.ProtoMajor != 2 || resp.Header.Get("X-Proto") != "HTTP/2.0" || string(text) != answer {
		t.Errorf("%s, %s to the server: %s", resp.Proto, resp.Header.Get("X-Proto"), text)
	}
	if row := rec.rows()[0]; row.OutputLength != 3 {
		t.Errorf("%+v", row)
	}
}

func TestAConnectionThatChangesItsProtocolIsPassedThrough(t *testing.T) {
	t.Parallel()
	rec := record(t, func(w http.ResponseWriter, r *http.Request) {
		c, both, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		line, _ := both.ReadString('\n')
		io.WriteString(c, "echo "+line)
	}, nil)
	c, err := net.Dial("tcp", strings.TrimPrefix(rec.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, "GET /v1/realtime HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	in := bufio.NewReader(c)
	resp, err := http.ReadResponse(in, nil)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(resp, err)
	}
	io.WriteString(c, "hello\n")
	if line, err := in.ReadString('\n'); line != "echo hello\n" {
		t.Errorf("%q %v", line, err)
	}
}

func TestFilesRotateAndEnd(t *testing.T) {
	t.Parallel()
	rec := record(t, answers, func(o *recorder.Options) { o.MaxBytes, o.TotalBytes = 2000, 6000 })
	for i := range 40 {
		rec.post("/v1/completions", fmt.Sprintf(`{"prompt":"This is prompt number %d of all"}`, i))
	}
	rows := rec.rows()
	files, _ := filepath.Glob(filepath.Join(rec.dir, "traffic*.jsonl"))
	s := rec.r.Snapshot()
	if len(files) < 3 || len(rows) >= 40 || int64(len(rows)) != s.Rows || s.Rows+s.Lost != 40 || !s.Full || len(rec.warn) != 1 {
		t.Errorf("%d files, %d rows, %+v, %v", len(files), len(rows), s, rec.warn)
	}
	for _, name := range files {
		if info, _ := os.Stat(name); info.Size() > 3000 {
			t.Errorf("%s has %d bytes", name, info.Size())
		}
	}
}

func TestAPartThatCannotBeOpenedLosesRowsAndNothingElse(t *testing.T) {
	t.Parallel()
	rec := record(t, answers, func(o *recorder.Options) { o.MaxBytes = 2000 })
	// The second part meets a folder of its name.
	if err := os.Mkdir(filepath.Join(rec.dir, "traffic-0001.jsonl"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if status, _ := rec.post("/v1/completions", fmt.Sprintf(`{"prompt":"This is prompt number %d of all"}`, i)); status != 200 {
			t.Error(status)
		}
	}
	if err := rec.r.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if s := rec.r.Snapshot(); s.Rows == 0 || s.Lost == 0 || s.Rows+s.Lost != 20 || !s.Full || len(rec.warn) != 1 {
		t.Errorf("%+v %v", s, rec.warn)
	}
}

// slow is a tokenizer that waits to be let go on.
type slow struct {
	tokenizer.Tokenizer
	go_ chan struct{}
}

func (s *slow) Encode(dst []int, text string) []int { <-s.go_; return s.Tokenizer.Encode(dst, text) }

func TestASlowTokenizerDelaysNobody(t *testing.T) {
	t.Parallel()
	letGo := make(chan struct{})
	rec := record(t, answers, func(o *recorder.Options) { o.Tokenizer = &slow{o.Tokenizer, letGo} })
	const n = 5000 // more than the queue is long
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for range n / 8 {
				if status, text := rec.post("/v1/completions", `{"prompt":"x"}`); status != 200 || text != answer {
					t.Error(status, text)
					return
				}
			}
		})
	}
	clients.Wait()
	close(letGo)
	rows := rec.rows()
	s := rec.r.Snapshot()
	if s.Lost == 0 || s.Rows+s.Lost != n || int64(len(rows)) != s.Rows || len(rec.warn) != 1 {
		t.Errorf("%+v, %d rows, %v", s, len(rows), rec.warn)
	}
}

func TestRequestsUnderWayAreWaitedFor(t *testing.T) {
	t.Parallel()
	entered, goOn := make(chan struct{}), make(chan struct{})
	rec := record(t, func(w http.ResponseWriter, r *http.Request) { close(entered); <-goOn; answers(w, r) }, nil)
	sent := make(chan struct{})
	go func() { rec.post("/v1/completions", `{"prompt":"x"}`); close(sent) }()
	<-entered
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if err := rec.r.Close(ctx); err == nil {
		t.Error("Close did not say that a request has no row")
	}
	close(goOn)
	<-sent
}
