package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"aiperf/internal/cli/command"
)

// echoed is a key that may stand anywhere: as the name of a header, of a metric or of a label, and as a word.
const echoed = "sk_echo0key1deep2"

// hiddenBehindEscapes is the key as a text of JSON in which every character is escaped.
func hiddenBehindEscapes() string {
	var b strings.Builder
	for _, r := range echoed {
		fmt.Fprintf(&b, `\u%04x`, r)
	}
	return b.String()
}

// everyMember is a reply of a chat with the key in every member that is a text, and in names. %s is the key.
const everyMember = `{"id":"%[1]s","object":"%[2]s","created":1,"model":"%[1]s","system_fingerprint":"%[1]s",` +
	`"service_tier":"%[1]s","%[1]s":"%[1]s","nvext":{"timing":{"%[1]s":1},"worker_id":"%[1]s"},` +
	`"choices":[{"index":0,"%[3]s":{"role":"%[1]s","content":"it is %[1]s","reasoning_content":"so %[1]s",` +
	`"refusal":"%[1]s","tool_calls":[{"index":0,"id":"%[1]s","type":"%[1]s","function":{"name":"%[1]s",` +
	`"arguments":"{\"%[1]s\":\"%[1]s\"}"}}]},"finish_reason":"%[1]s","stop_reason":"%[1]s",` +
	`"logprobs":{"content":[{"token":"%[1]s","logprob":-1}]}}],` +
	`"usage":{"prompt_tokens":8,"completion_tokens":3,"total_tokens":"%[1]s","%[1]s":1,` +
	`"completion_tokens_details":{"%[1]s":"%[1]s","reasoning_tokens":1}}}`

const everyErrorMember = `{"error":{"message":"no %[1]s","type":"%[1]s","code":"%[1]s","param":"%[1]s",` +
	`"%[1]s":{"%[1]s":["%[1]s"]}},"detail":"%[1]s","object":"%[1]s"}`

func wholeOf(key string) string { return fmt.Sprintf(everyMember, key, "chat.completion", "message") }
func chunkOf(key string) string {
	return fmt.Sprintf(everyMember, key, "chat.completion.chunk", "delta")
}
func errorOf(key string) string { return fmt.Sprintf(everyErrorMember, key) }

// headersOf are header fields that name the key; they are well formed.
func headersOf(key string) string {
	return fmt.Sprintf("%[1]s: %[1]s\r\nX-Request-Id: %[1]s\r\nServer: %[1]s\r\nSet-Cookie: a=%[1]s\r\n"+
		"X-%[1]s: Bearer %[1]s\r\nWWW-Authenticate: Bearer realm=\"%[1]s\"\r\n", key)
}

// inChunks is a chunked body with extensions and trailers that name the key.
func inChunks(body string) string {
	return fmt.Sprintf("%x;%s=%s\r\n%s\r\n0\r\n%[2]s: %[2]s\r\n\r\n", len(body), echoed, echoed, body)
}

// echoReplies are replies as they go over the wire, in turn.
func echoReplies(streaming bool) []string {
	head := func(first, kind string) string {
		return "HTTP/1.1 " + first + "\r\nContent-Type: " + kind + "\r\nConnection: close\r\n" + headersOf(echoed)
	}
	chunked := func(first, kind, body string) string {
		return head(first, kind) + "Transfer-Encoding: chunked\r\n\r\n" + inChunks(body)
	}
	list := []string{
		chunked("200 fine "+echoed, "application/json", wholeOf(echoed)),
		chunked("200 OK", "application/json; charset="+echoed, wholeOf(hiddenBehindEscapes())),
		chunked("401 not "+echoed, "application/json", errorOf(echoed)),
		chunked("200 OK", "application/json", errorOf(echoed)),
		chunked("422 "+echoed, "application/problem+json", errorOf(hiddenBehindEscapes())),
		chunked("200 OK", "application/json", fmt.Sprintf(`{"object":"error","message":"%[1]s","type":"%[1]s",`+
			`"code":"%[1]s"}`, echoed)),
		chunked("500 "+echoed, "text/plain", "it broke for "+echoed),
		chunked("503 "+echoed, "text/html", "<html><title>"+echoed+"</title></html>"),
		chunked("200 OK", "text/"+echoed, "no JSON: "+echoed),
		chunked("200 OK", "application/octet-stream", "\x00\xff"+echoed+"\x00\xfe"),
		chunked("418 "+echoed, "application/octet-stream", "\x00\xff\x01"+echoed+"\x00\xfe"),
		chunked("200 OK", "application/json", `{"choices":"`+echoed+`"`),
		head("200 OK", "application/json") + "Content-Encoding: " + echoed + "\r\nContent-Length: 2\r\n\r\n{}",
		head("200 OK", "application/json") + "Content-Length: " + echoed + "\r\n\r\n{}",
		head("200 OK", "application/json") + "Transfer-Encoding: " + echoed + "\r\n\r\n{}",
		head("200 OK", "application/json") + "Transfer-Encoding: chunked\r\n\r\n" + echoed + "\r\n{}",
		head("200 OK", "application/json") + "Content-Length: 400\r\n\r\n" + echoed,
		head("307 "+echoed, "text/plain") + "Location: ftp://" + echoed + "/" + echoed +
			"\r\nContent-Length: 0\r\n\r\n",
		head("308 "+echoed, "text/plain") + "Location: http://[" + echoed + "\r\nContent-Length: 0\r\n\r\n",
		head("200 OK", "application/json") + echoed + "\r\n\r\n",
		"HTTP/1.1 " + echoed + "\r\n\r\n",
		echoed + "\r\n\r\n",
	}
	if !streaming {
		return list
	}
	sse := "text/event-stream"
	for _, events := range []string{
		fmt.Sprintf("event: %[1]s\nid: %[1]s\nretry: %[1]s\n: %[1]s\n:%[1]s\n%[1]s: %[1]s\n%[1]s\n", echoed) +
			"data: " + chunkOf(echoed) + "\n\ndata: " + chunkOf(echoed) + "\n\ndata: [DONE]\n\n: " + echoed + "\n\n",
		"data: " + chunkOf(hiddenBehindEscapes()) + "\n\ndata: [DONE]\n\n",
		"data: " + chunkOf("one") + "\n\nevent: error\nid: " + echoed + "\ndata: " + errorOf(echoed) + "\n\n",
		"data: " + chunkOf("one") + "\n\nevent: error\ndata: it broke for " + echoed + "\n\n",
		"data: " + errorOf(hiddenBehindEscapes()) + "\n\n",
		"data: {" + echoed + "\n\n",
		"data: " + chunkOf("one") + "\n\ndata: " + echoed,
		"\x00" + echoed + "\n\n",
	} {
		list = append(list, chunked("200 it is "+echoed, sse, events))
	}
	return list
}

// echoServer answers chats with replies in turn, and everything else with the key as well.
func echoServer(t *testing.T, replies []string) string {
	var turn atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("X-"+echoed, echoed)
		switch {
		case strings.HasPrefix(r.URL.Path, "/kind/"):
			w.Header().Set("Content-Type", "application/json; of="+echoed)
			fmt.Fprintf(w, `{"%[1]s":"%[1]s"}`, echoed)
		case strings.HasPrefix(r.URL.Path, "/coding/"):
			w.Header().Set("Content-Encoding", echoed)
			fmt.Fprint(w, echoed)
		case strings.HasPrefix(r.URL.Path, "/away/"):
			w.Header().Set("Location", "ftp://"+echoed+"/"+echoed)
			w.WriteHeader(http.StatusFound)
		case strings.HasPrefix(r.URL.Path, "/text/"):
			fmt.Fprintf(w, "<html>%s", echoed)
		case strings.HasSuffix(r.URL.Path, "/metrics"):
			w.Header().Set("Content-Type", "text/plain; version=0.0.4")
			fmt.Fprintf(w, "# HELP vllm:num_requests_running of %[1]s\n# TYPE vllm:num_requests_running gauge\n"+
				"vllm:num_requests_running{model_name=\"%[1]s\",%[1]s=\"%[1]s\"} %[2]d\n"+
				"# HELP %[1]s_x of %[1]s\n# TYPE %[1]s_x gauge\n%[1]s_x{engine=\"%[1]s\"} 3\n"+
				"# TYPE %[1]s_seen counter\n%[1]s_seen_total{%[1]s=\"1\"} %[2]d\n"+
				"# TYPE vllm:cache_config_info gauge\nvllm:cache_config_info{block_size=\"%[1]s\",%[1]s=\"%[1]s\"} 1\n"+
				"# TYPE h histogram\nh_bucket{%[1]s=\"%[1]s\",le=\"1\"} %[2]d\n"+
				"h_bucket{%[1]s=\"%[1]s\",le=\"+Inf\"} %[2]d\nh_sum{%[1]s=\"%[1]s\"} 1\nh_count{%[1]s=\"%[1]s\"} "+
				"%[2]d\n"+
				"# TYPE DCGM_FI_DEV_GPU_UTIL gauge\nDCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-1\","+
				"modelName=\"%[1]s\",Hostname=\"%[1]s\",namespace=\"%[1]s\",pod=\"%[1]s\"} 50\n", echoed, turn.Load())
		case strings.HasSuffix(r.URL.Path, "/models"):
			fmt.Fprintf(w, `{"object":"%[1]s","data":[{"id":"m","object":"%[1]s","owned_by":"%[1]s",`+
				`"root":"%[1]s","parent":"%[1]s","%[1]s":"%[1]s","max_model_len":4096},{"id":"%[1]s","root":"%[1]s"}]}`,
				echoed)
		case r.Method == http.MethodGet: // /health, /version, /v1/version …
			fmt.Fprintf(w, `{"status":"%[1]s","version":"%[1]s","%[1]s":"%[1]s"}`, echoed)
		default:
			nc, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				return
			}
			defer nc.Close()
			io.WriteString(nc, replies[int(turn.Add(1)-1)%len(replies)])
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// echoGRPC is a server of KServe's protocol that answers with the key in every member, or with an error of it.
func echoGRPC(t *testing.T) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	field := func(n int, data string) string {
		return string(binary.AppendUvarint([]byte{byte(n<<3 | 2)}, uint64(len(data)))) + data
	}
	tensor := field(1, "text_output") + field(2, "BYTES") + string([]byte{3 << 3, 1}) + field(5, field(8,
		"it is "+echoed))
	reply := field(1, echoed) + field(2, echoed) + field(3, echoed) +
		field(4, field(1, echoed)+field(2, field(3, echoed))) + field(5, tensor)
	var turn atomic.Int64
	server := rpc.NewServer(rpc.ForceServerCodecV2(bytesCodec{}), rpc.UnknownServiceHandler(
		func(_ any, stream rpc.ServerStream) error {
			var message []byte
			if err := stream.RecvMsg(&message); err != nil {
				return err
			}
			stream.SetHeader(metadata.Pairs(echoed, echoed, "x-id", echoed, "x-bin", echoed))
			stream.SetTrailer(metadata.Pairs("x-"+echoed, echoed, "x-bin", echoed))
			n := turn.Add(1)
			call, _ := rpc.MethodFromServerStream(stream)
			wrap := func(s string) []byte {
				if strings.HasSuffix(call, "ModelStreamInfer") {
					s = field(2, s)
				}
				return []byte(s)
			}
			switch n % 4 {
			case 0:
				return status.Error(codes.PermissionDenied, "not with "+echoed)
			case 1:
				return status.Error(codes.Code(77), "not with "+echoed)
			case 2:
				return stream.SendMsg([]byte(field(1, "not with "+echoed)))
			}
			return stream.SendMsg(wrap(reply))
		}))
	done := make(chan struct{})
	go func() { defer close(done); server.Serve(ln) }()
	t.Cleanup(func() { server.Stop(); <-done })
	return "grpc://" + ln.Addr().String()
}

// bytesCodec passes messages on as they are.
type bytesCodec struct{}

func (bytesCodec) Name() string { return "proto" }
func (bytesCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}
func (bytesCodec) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

func TestWhatServersEchoIsNowhere(t *testing.T) {
	for name, c := range map[string]struct {
		replies []string
		args    []string
	}{
		"whole":      {echoReplies(false), nil},
		"streamed":   {echoReplies(true), []string{"--streaming"}},
		"turns":      {echoReplies(true)[:2], []string{"--conversation-turn-mean", "3"}},
		"compressed": {echoReplies(false), []string{"--records-compress", "zstd"}},
		"gRPC":       {nil, []string{"--endpoint-type", "kserve_v2_infer"}},
		"gRPC flow":  {nil, []string{"--endpoint-type", "kserve_v2_infer", "--streaming"}},
		"no model":   {nil, []string{"--model-selection-strategy", "round_robin"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "out")
			replies := c.replies
			if replies == nil {
				replies = echoReplies(false)
			}
			url := echoServer(t, replies)
			pages := []string{"--server-metrics", url + "/metrics", url + "/kind/metrics", url + "/coding/metrics",
				url + "/away/metrics", url + "/text/metrics", "--gpu-telemetry", url + "/gpu/metrics"}
			if strings.HasPrefix(name, "gRPC") {
				url = echoGRPC(t)
			}
			args := append([]string{"--tokenizer", "builtin", "--isl", "8", "--osl", "3", "--request-count",
				fmt.Sprint(2 * len(replies)), "--concurrency", "2", "-vv", "--url", url, "--api-key", echoed,
				"--server-metrics-formats", "json", "csv", "jsonl", "parquet",
				"--export-level", "raw", "--export-http-trace", "--export-outputs-json", "--export-records-parquet",
				"--html-report", "--slice-duration", "1", "--show-trace-timing", "--report", "full",
				"--ui", "none", "--artifact-dir", out}, append(pages, c.args...)...)
			if name != "no model" {
				args = append(args, "--model", "m")
			}
			code, screen := runProfile(t, map[string]string{"AIPERF_SERVER_METRICS_COLLECTION_INTERVAL": "0.1"},
				args...)
			seek(t, "the screen", []byte(screen))
			if name == "no model" {
				return // two models to choose from
			}
			if code != command.ExitOK {
				t.Fatalf("exit code %d:\n%s", code, screen)
			}
			files := 0
			err := filepath.WalkDir(out, func(path string, d os.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				files++
				seek(t, "the name of a file", []byte(d.Name()))
				data, err := os.ReadFile(path)
				seek(t, d.Name(), data)
				decode(t, d.Name(), path, data)
				return err
			})
			if err != nil || files < 12 {
				t.Errorf("%d files, %v", files, err)
			}
		})
	}
}

// decode looks at what a file says behind its format.
func decode(t *testing.T, name, path string, data []byte) {
	t.Helper()
	if plain, ok := strings.CutSuffix(name, ".zst"); ok {
		r, err := zstd.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(name, err)
		}
		defer r.Close()
		if data, err = io.ReadAll(r); err != nil || len(data) == 0 {
			t.Fatalf("%s: %d bytes, %v", name, len(data), err)
		}
		seek(t, name, data)
		name = plain
	}
	switch filepath.Ext(name) {
	case ".json", ".jsonl":
		for d := json.NewDecoder(bytes.NewReader(data)); ; {
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if text, ok := token.(string); ok {
				seek(t, name, []byte(text))
				nested(t, name, text)
			}
		}
	case ".parquet":
		file, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		seek(t, name, []byte(file.Schema().String()))
		for _, kv := range file.Metadata().KeyValueMetadata {
			seek(t, name, []byte(kv.Key+"="+kv.Value))
		}
		rows, values := parquet.NewReader(file), 0
		defer rows.Close()
		for {
			row := map[string]any{}
			if err := rows.Read(&row); err != nil {
				break
			}
			values += len(row)
			seek(t, name, fmt.Append(nil, row))
		}
		if values == 0 {
			t.Errorf("%s has no values", name)
		}
	}
}

// nested looks at the texts of a document that is a text of another one.
func nested(t *testing.T, name, text string) {
	t.Helper()
	if !strings.HasPrefix(text, "{") {
		return
	}
	for d := json.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.Token()
		if err != nil {
			return
		}
		if text, ok := token.(string); ok {
			seek(t, name, []byte(text))
			nested(t, name, text)
		}
	}
}

var perhapsBase64 = regexp.MustCompile(`[A-Za-z0-9+/_-]{12,}={0,2}`)

// seek fails if a text holds the key, in any case (as names of headers do), or in Base64.
func seek(t *testing.T, where string, text []byte) {
	t.Helper()
	found := func(text, in []byte, as string) bool {
		i := bytes.Index(bytes.ToLower(in), []byte(echoed))
		if i >= 0 {
			t.Errorf("%s holds the key%s: …%q…", where, as, in[max(0, i-80):min(len(in), i+len(echoed)+30)])
		}
		return i >= 0
	}
	if found(text, text, "") {
		return
	}
	for _, word := range perhapsBase64.FindAll(text, -1) {
		word = bytes.TrimRight(word, "=")
		for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			for cut := range 4 { // a word may begin before the text that is encoded
				if cut > len(word) {
					break
				}
				got, _ := e.DecodeString(string(word[cut:]))
				if found(text, got, " in Base64") {
					return
				}
			}
		}
	}
}
