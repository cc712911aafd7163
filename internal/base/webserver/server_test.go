package webserver_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/webpage"
	"aiperf/internal/base/webserver"
)

// serve returns a server on loopback that greets, or answers with a handler.
func serve(t *testing.T, o webserver.Options) *webserver.Server {
	t.Helper()
	if o.Address == "" {
		o.Address = "127.0.0.1:0"
	}
	if o.Handler == nil {
		o.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") })
	}
	s, err := webserver.Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(time.Second) })
	return s
}

// ask sends a request whose path is sent as it is, and returns the reply with its body read.
func ask(t *testing.T, s *webserver.Server, path string, change func(*http.Request)) (*http.Response, string) {
	t.Helper()
	at := &url.URL{Scheme: "http", Host: s.Host(), Opaque: path}
	r := &http.Request{Method: http.MethodGet, URL: at, Header: http.Header{}}
	if change != nil {
		change(r)
	}
	transport := &http.Transport{DisableCompression: true, DisableKeepAlives: true}
	reply, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply, string(body)
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func TestATakenPortIsNamedWithTheWayOut(t *testing.T) {
	s := serve(t, webserver.Options{})
	_, err := webserver.Listen(webserver.Options{Flag: "--web", Address: s.Host()})
	if err == nil {
		t.Fatal("the port was taken twice")
	}
	for _, part := range []string{"--web: ", s.Host(), "choose another port, or 0"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not name %q", err, part)
		}
	}
}

func TestRepliesKeepBrowsersFromGuessingAndFraming(t *testing.T) {
	reply, _ := ask(t, serve(t, webserver.Options{}), "/", nil)
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
		"Content-Security-Policy": webpage.DefaultPolicy,
	} {
		if got := reply.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// A name of somebody else's that resolves to 127.0.0.1 must not open the server to their page.
func TestOnlyNamesOfThisMachineAreAnsweredOnLoopback(t *testing.T) {
	s := serve(t, webserver.Options{})
	for host, want := range map[string]int{
		"127.0.0.1:1": 200, "localhost": 200, "[::1]:80": 200, "LOCALHOST.:9": 200, "run.localhost": 200,
		"evil.example": 403, "127.0.0.1.evil.example:80": 403, "localhost.evil.example": 403,
	} {
		reply, body := ask(t, s, "/", func(r *http.Request) { r.Host = host })
		if reply.StatusCode != want {
			t.Errorf("host %s: %d %s, want %d", host, reply.StatusCode, body, want)
		}
	}
}

func TestOtherMachinesNeedTheKey(t *testing.T) {
	s := serve(t, webserver.Options{Address: ":0"})
	_, key, _ := strings.Cut(s.URL("/"), "/?key=")
	if !s.Everywhere() || len(key) < 20 {
		t.Fatalf("the address is %s", s.URL("/"))
	}
	status := func(path string, change func(*http.Request)) int {
		reply, _ := ask(t, s, path, change)
		return reply.StatusCode
	}
	for name, got := range map[string]int{
		"none": status("/", nil), "wrong": status("/?key=x", nil), "empty": status("/?key=", nil),
		"another cookie": status("/", header("Cookie", "aiperf-key=x")),
		"wrong bearer":   status("/", header("Authorization", "Bearer x")),
	} {
		if got != http.StatusUnauthorized {
			t.Errorf("%s: %d, want 401", name, got)
		}
	}
	if got := status("/", header("Authorization", "Bearer "+key)); got != 200 {
		t.Errorf("bearer: %d", got)
	}
	if got := status("/?key="+key, nil); got != 200 {
		t.Errorf("in the address: %d", got)
	}
	reply, _ := ask(t, s, "/a?x=1&key="+key, header("Sec-Fetch-Mode", "navigate"))
	if reply.StatusCode != http.StatusSeeOther || reply.Header.Get("Location") != "/a?x=1" {
		t.Errorf("a browser got %d, %q", reply.StatusCode, reply.Header.Get("Location"))
	}
	cookie := reply.Cookies()[0]
	if !cookie.HttpOnly || status("/", header("Cookie", cookie.Name+"="+cookie.Value)) != 200 {
		t.Errorf("the cookie %v does not open", cookie)
	}
	open := serve(t, webserver.Options{Address: ":0", Open: true})
	if reply, _ := ask(t, open, "/", nil); reply.StatusCode != 200 || strings.Contains(open.URL("/"), "key") {
		t.Errorf("an open server answered %d", reply.StatusCode)
	}
}

func TestOtherOrigins(t *testing.T) {
	s := serve(t, webserver.Options{Origins: []string{"https://a.example"}})
	allowed := func(origin, method string) (int, string) {
		reply, _ := ask(t, s, "/", func(r *http.Request) {
			r.Method = method
			r.Header.Set("Origin", origin)
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Access-Control-Request-Method", "POST")
		})
		return reply.StatusCode, reply.Header.Get("Access-Control-Allow-Origin")
	}
	for _, c := range []struct {
		origin, method string
		status         int
		allow          string
	}{
		{"https://a.example", "GET", 200, "https://a.example"},
		{"https://a.example", "POST", 200, "https://a.example"},
		{"https://a.example", "OPTIONS", 204, "https://a.example"},
		{"https://b.example", "GET", 200, ""},
		{"https://b.example", "POST", 403, ""},
	} {
		if status, allow := allowed(c.origin, c.method); status != c.status || allow != c.allow {
			t.Errorf("%s from %s: %d %q, want %d %q", c.method, c.origin, status, allow, c.status, c.allow)
		}
	}
	if _, err := webserver.Listen(webserver.Options{Flag: "X", Address: "127.0.0.1:0", Handler: http.NotFoundHandler(),
		Origins: []string{"a.example"}}); err == nil || !strings.Contains(err.Error(), "is not an origin") {
		t.Errorf("a wrong origin: %v", err)
	}
}

func TestLargeRepliesAreCompressed(t *testing.T) {
	s := serve(t, webserver.Options{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.URL.Query().Get("type"))
		io.WriteString(w, strings.Repeat("hello ", 1000))
	})})
	for _, c := range []struct{ accept, kind, want string }{
		{"zstd, gzip", "application/json", "zstd"}, {"gzip", "application/json", "gzip"},
		{"", "application/json", ""}, {"gzip", "text/event-stream", ""}, {"gzip", "image/png", ""},
	} {
		reply, _ := ask(t, s, "/?type="+url.QueryEscape(c.kind), header("Accept-Encoding", c.accept))
		if got := reply.Header.Get("Content-Encoding"); got != c.want {
			t.Errorf("%s for %q is %q, want %q", c.kind, c.accept, got, c.want)
		}
	}
}

// folder returns a served folder with a file beside it that is no part of it.
func folder(t *testing.T) *webserver.Server {
	t.Helper()
	base := t.TempDir()
	dir := filepath.Join(base, "run")
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(base, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("secret.txt", "secret")
	write("run/a.json", "{}")
	write("run/logs/b.txt", "0123456789")
	write("run/äö.csv", "1")
	if runtime.GOOS != "windows" {
		for link, to := range map[string]string{"out": "../secret.txt", "outdir": "..", "in.txt": "logs/b.txt"} {
			if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
				t.Fatal(err)
			}
		}
	}
	routes := http.NewServeMux()
	routes.Handle("GET /files/{path...}", webserver.Files(dir, "/files/"))
	return serve(t, webserver.Options{Handler: routes})
}

// Trap 34 of the orchestration: nothing outside the folder is read, whatever the spelling.
func TestTrapPathsThatLeadOutAre400(t *testing.T) {
	s := folder(t)
	paths := []string{
		"/files/../../etc/passwd", "/files/..%2f..%2fetc/passwd", "/files/%2e%2e/%2e%2e/etc/passwd",
		"/files/%2e%2e%2fsecret.txt", "/files/..%5csecret.txt", "/files/%252e%252e/secret.txt",
		"/files/logs/../../secret.txt",
		"/files/a.json/..", "/files/..", "/files/%2fetc/../passwd", "/files/a%00.json", "/..",
	}
	if runtime.GOOS != "windows" {
		paths = append(paths, "/files/out", "/files/outdir/secret.txt")
	}
	for _, path := range paths {
		reply, body := ask(t, s, path, nil)
		if reply.StatusCode != http.StatusBadRequest || strings.Contains(body, "root:") || body == "secret" {
			t.Errorf("%s: %d %q, want 400", path, reply.StatusCode, body)
		}
	}
	for _, path := range []string{"/files/none", "/files/", "/files/logs", "/files/logs/", "/files/a.json/b", "/files/" +
		strings.Repeat("a", 300), "/files/%2fetc/passwd", "/files/c:/x"} {
		reply, body := ask(t, s, path, nil)
		onWindows := reply.StatusCode == http.StatusBadRequest && strings.Contains(path, ":")
		if reply.StatusCode != http.StatusNotFound && !onWindows {
			t.Errorf("%s: %d %q, want 404", path, reply.StatusCode, body)
		}
	}
}

func TestFilesAreDownloads(t *testing.T) {
	s := folder(t)
	reply, body := ask(t, s, "/files/a.json", nil)
	if body != "{}" || reply.Header.Get("Content-Type") != "application/json" ||
		reply.Header.Get("Content-Disposition") != "attachment; filename=a.json" ||
		reply.Header.Get("X-Filename") != "a.json" {
		t.Errorf("%q, %v", body, reply.Header)
	}
	if reply, _ := ask(t, s, "/files/%C3%A4%C3%B6.csv", nil); reply.StatusCode != 200 ||
		!strings.Contains(reply.Header.Get("Content-Disposition"), "%C3%A4%C3%B6.csv") ||
		reply.Header.Get("X-Filename") != "__.csv" {
		t.Errorf("%v", reply.Header)
	}
	reply, body = ask(t, s, "/files/logs/b.txt", header("Range", "bytes=2-4"))
	if reply.StatusCode != http.StatusPartialContent || body != "234" {
		t.Errorf("a range: %d %q", reply.StatusCode, body)
	}
	if runtime.GOOS != "windows" {
		if _, body = ask(t, s, "/files/in.txt", nil); body != "0123456789" {
			t.Errorf("a link within the folder: %q", body)
		}
	}
	for name, want := range map[string]string{
		"a.jsonl": "application/x-ndjson", "a.csv": "text/csv; charset=utf-8", "x.TXT": "text/plain; charset=utf-8",
		"a.parquet": "application/vnd.apache.parquet", "a.html": "application/octet-stream", "a": "application/octet-stream",
	} {
		if got := webserver.MediaType(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

func TestReportsRunTheirOwnScripts(t *testing.T) {
	dir := t.TempDir()
	const page = "<html><style>a{}</style><script type=\"application/json\">{}</script>\r\n<SCRIPT " +
		"defer>alert(1)\r\n</SCRIPT>" +
		"<p onclick=\"alert(2)\"></p><script>alert(3)</script ></html>"
	for name, text := range map[string]string{"a.html": page, "empty.html": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, sources := range map[string]string{
		"/a.html": " style-src " + webpage.Source("a{}") + "; script-src " + webpage.Source("alert(1)\n") + " " +
			webpage.Source("alert(3)") + ";",
		"/empty.html": "",
	} {
		s := serve(t, webserver.Options{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			webserver.ServeFile(w, r, dir, r.URL.Path, webserver.Presentation{Report: true})
		})})
		reply, body := ask(t, s, name, nil)
		want := "sandbox allow-scripts allow-downloads allow-modals allow-popups; default-src 'none';" + sources +
			" base-uri 'none'; form-action 'none'; img-src data:; frame-ancestors 'none'"
		if got := reply.Header.Get("Content-Security-Policy"); got != want {
			t.Errorf("%s has the policy\n%s, want\n%s", name, got, want)
		}
		if reply.StatusCode != http.StatusOK || reply.Header.Get("Content-Disposition") != "" ||
			(name == "/a.html") != (body == page) {
			t.Errorf("%s: %s %v %q", name, reply.Status, reply.Header, body)
		}
	}
}

func TestConnectionsBeyondTheLimit(t *testing.T) {
	began, end := make(chan struct{}), make(chan struct{})
	s := serve(t, webserver.Options{Connections: 2, Handler: http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/stay" {
				began <- struct{}{}
				<-end
			}
			io.WriteString(w, "hello")
		})})
	dial := func() (net.Conn, *bufio.Reader) {
		c, err := net.Dial("tcp", s.Host())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		c.SetDeadline(time.Now().Add(time.Minute))
		return c, bufio.NewReader(c)
	}
	get := func(c net.Conn, r *bufio.Reader) error {
		fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
		_, err := http.ReadResponse(r, nil)
		return err
	}
	// Those that say nothing, and those that keep their connection, make room.
	for range 10 {
		dial()
		if kept, reader := dial(); get(kept, reader) != nil {
			t.Fatal("silent connections shut others out")
		}
	}
	// Those that have a request do not.
	stays := func() bool {
		c, reader := dial()
		fmt.Fprint(c, "GET /stay HTTP/1.1\r\nHost: localhost\r\n\r\n")
		refused := make(chan struct{})
		go func() {
			reader.ReadByte()
			close(refused)
		}()
		select {
		case <-began:
			return true
		case <-refused: // the last of the loop above still has its request, as far as the server knows
			return false
		}
	}
	for range 2 {
		for !stays() {
			time.Sleep(time.Millisecond)
		}
	}
	if c, reader := dial(); get(c, reader) == nil {
		t.Error("a connection beyond the limit was answered")
	}
	close(end)
	for {
		if again, reader := dial(); get(again, reader) == nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}
