//go:build unix

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/recordfile"
	"aiperf/internal/result/report"
	"aiperf/internal/result/summary"
	"aiperf/internal/wire/client"
	"aiperf/internal/wire/client/sse"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/intake"
	"aiperf/internal/workload/tokenizer"
)

// fed is what a feed says about itself.
type fed struct {
	Seconds, SummarySeconds float64
	Bytes                   int64
	Method                  string
}

// records: finished streams of 100 tokens through the whole pipeline behind the socket: events scanned and decoded,
// tokens counted, metrics computed, lines written; then aiperf report on what was written.
func (b *bench) records() error {
	const count = 200_000
	dir := filepath.Join(b.dir, "records")
	f, _, err := b.feed(1, "-records", strconv.Itoa(count), "-tokens", "100", "-dir", dir)
	if err != nil {
		return err
	}
	row("records/s, 100 tokens: decode to JSONL", 1, count/f.Seconds, 0, 0, "%.0f")
	for _, procs := range []int{1, 2} {
		if err := b.report(procs, dir, f.Bytes, "100-token streams"); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	// As much as is kept exactly, and all that can be asked for.
	if f, _, err = b.feed(2, "-records", "1000000", "-tokens", "20", "-dir", dir); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	return b.report(2, dir, f.Bytes, "1,000,000 streams", "--slice-duration", "1", "--html")
}

// report: aiperf report on the folder of a run.
func (b *bench) report(procs int, dir string, size int64, what string, options ...string) error {
	again := exec.Command(b.aiperf,
		append([]string{"report", dir, "--output-dir", filepath.Join(b.dir, "again")}, options...)...)
	again.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(procs))
	began := time.Now()
	if out, err := again.CombinedOutput(); err != nil {
		return fmt.Errorf("%v\n%s", err, out)
	}
	u, seconds := usageOf(again.ProcessState), time.Since(began).Seconds()
	row("report, "+what+": MB/s", procs, float64(size)/1e6/seconds, 0, 0, "%.0f")
	row("report, "+what+": MB/s and core used", procs, float64(size)/1e6/u.cpu.Seconds(), 0, 0, "%.0f")
	row("report, "+what+": MB resident", procs, u.rssKB/1024, 0, 0, "%.0f")
	return nil
}

// tenMillion: a run of ten million requests and its report, then ten million rows of 20 chunks through the pipeline.
func (b *bench) tenMillion() error {
	const count = 10_000_000
	server, err := b.server("--fast")
	if err != nil {
		return err
	}
	defer server.stop()
	began := time.Now()
	ours, err := b.profile(2, server.url, "--concurrency", "64", "--isl", "32", "--osl", "1", "--request-count",
		strconv.Itoa(count))
	if err != nil {
		return err
	}
	server.stop()
	row("MB resident, 10,000,000 requests", 2, ours.rssKB/1024, 0, 0, "%.0f")
	row("seconds for them, all in all", 2, time.Since(began).Seconds(), 0, 0, "%.0f")
	row("seconds from the last record to the end", 2, ours.tail.Seconds(), 0, 0, "%.1f")
	info, err := os.Stat(filepath.Join(ours.dir, "profile_export.jsonl"))
	if err != nil {
		return err
	}
	if err := b.report(2, ours.dir, info.Size(), "10,000,000 requests"); err != nil {
		return err
	}
	if err := os.RemoveAll(ours.dir); err != nil {
		return err
	}
	f, u, err := b.feed(2, "-records", strconv.Itoa(count), "-tokens", "20")
	if err != nil {
		return err
	}
	row("MB resident, 10,000,000 streams fed", 2, u.rssKB/1024, 0, 0, "%.0f")
	row("seconds of their summary ("+f.Method+")", 2, f.SummarySeconds, 0, 0, "%.1f")
	return nil
}

// feed runs the feed in a process of its own.
func (b *bench) feed(procs int, args ...string) (fed, usage, error) {
	cmd := exec.Command(b.self, append([]string{"feed"}, args...)...)
	cmd.Env, cmd.Stderr = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(procs)), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fed{}, usage{}, fmt.Errorf("feed: %w", err)
	}
	var f fed
	return f, usageOf(cmd.ProcessState), json.Unmarshal(out, &f)
}

// feed makes records of replies that it has in memory. With a folder it leaves one that aiperf report reads.
func feed(args []string) {
	fs := flag.NewFlagSet("feed", flag.ExitOnError)
	count := fs.Int("records", 100_000, "records")
	tokens := fs.Int("tokens", 100, "tokens of a reply, one chunk each")
	dir := fs.String("dir", "", "folder for the records; none keeps no lines")
	profile := fs.String("profile", "", "file for the profile of the processor time")
	fs.Parse(args)
	end, err := startProfile(*profile)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer end()
	f, err := newFeed(*tokens, *dir)
	var told fed
	if err == nil {
		told, err = f.run(*count, *dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	json.NewEncoder(os.Stdout).Encode(told)
}

// startProfile begins a profile of the processor time in a file; "" makes none.
func startProfile(path string) (end func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return pprof.StopCPUProfile, pprof.StartCPUProfile(file)
}

type feeder struct {
	endpoint endpoint.Endpoint
	request  *endpoint.Body
	stream   []byte
	tokens   int
	config   metrics.Config
	set      *metrics.Set
	engine   *metrics.Engine
	intake   *intake.Intake
	sink     *recordfile.Writer
	scanner  sse.Scanner
	random   *rand.Rand
}

func newFeed(tokens int, dir string) (*feeder, error) {
	f := &feeder{tokens: tokens, random: rand.New(rand.NewPCG(1, 2))}
	var err error
	if f.endpoint, err = endpoint.New("chat", endpoint.Options{Model: "mock-model", Streaming: true}); err != nil {
		return nil, err
	}
	f.request = &endpoint.Body{Bytes: body(tokens, true), ContentType: "application/json", Stream: true}
	text := strings.SplitAfter(strings.Repeat("The quick brown fox jumps over the lazy dog, and nobody was surprised. ",
		tokens/13+1), " ")[:tokens]
	for _, word := range text {
		f.stream = fmt.Appendf(f.stream,
			"data: {\"id\":\"chatcmpl-7\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"mock-model\",\"choices\":[{\"index\":0,\"delta\":{\"content\":%q},\"logprobs\":null,\"finish_reason\":null}]}\n\n", word)
	}
	f.stream = fmt.Appendf(f.stream,
		"data: {\"object\":\"chat.completion.chunk\",\"choices\":[],\"usage\":{\"prompt_tokens\":32,\"completion_tokens\":%d,\"total_tokens\":%d}}\n\ndata: [DONE]\n\n", tokens, tokens+32)
	cfg := metrics.DefaultConfig()
	cfg.Streaming, cfg.ProducesTokens, cfg.TokenizesInput = true, true, true
	f.config = cfg
	if f.set, err = metrics.NewSet(cfg); err != nil {
		return nil, err
	}
	f.engine = f.set.NewEngine()
	f.intake = intake.New(intake.Options{Tokenizer: tokenizer.Builtin(), CountsInput: true, CountsOutput: true,
		WallNS: func(ns int64) int64 { return 1_700_000_000_000_000_000 + ns }})
	if dir == "" {
		return f, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	format := recordfile.Format{Metrics: f.set.AppendRecordMetrics, Facts: f.set.AppendRecordFacts}
	path := filepath.Join(dir, "profile_export.jsonl")
	f.sink, err = recordfile.Create(path, artifact.LinesOptions{}, format.AppendLine)
	return f, err
}

func (f *feeder) run(count int, dir string) (fed, error) {
	const each = 100_000 // ns between two starts
	began := time.Now()
	for i := range count {
		if i == count/10 {
			runtime.GC() // what the start left
		}
		if err := f.one(i, int64(1+i)*each); err != nil {
			return fed{}, err
		}
	}
	told := fed{}
	if f.sink != nil {
		if err := f.sink.Close(); err != nil {
			return told, err
		}
	}
	told.Seconds = time.Since(began).Seconds()
	began = time.Now()
	result := summary.Build(summary.Run{AIPerfVersion: "bench"}, f.engine, nil)
	told.SummarySeconds = time.Since(began).Seconds()
	latency, _ := result.Find("request_latency")
	told.Method = string(latency.Method)
	if f.sink == nil {
		return told, nil
	}
	info, err := os.Stat(filepath.Join(dir, "profile_export.jsonl"))
	if err != nil {
		return told, err
	}
	told.Bytes = info.Size()
	state := summary.State{Status: summary.StateFinished, ExportLevel: "records", Config: f.config,
		Run: summary.Run{AIPerfVersion: "bench", BenchmarkID: "bench", EndpointTitle: "LLM Metrics",
			StartNS: 1_700_000_000_000_000_000, Counts: summary.Counts{Sent: int64(count)}}}
	text, err := state.Encode(report.Blocks)
	if err != nil {
		return told, err
	}
	return told, artifact.WriteFile(filepath.Join(dir, "run_state.json"), text)
}

// one takes a reply from its bytes to its row and line.
func (f *feeder) one(i int, start int64) error {
	decoder := f.endpoint.NewDecoder()
	at := start + 20_000_000 + f.random.Int64N(5_000_000)
	again := decoder.(sse.Repeater)
	for rest := f.stream; len(rest) > 0; {
		n := copy(f.scanner.Space(4096), rest)
		f.scanner.Filled(n)
		rest = rest[n:]
		for {
			next := at + 10_000_000 + f.random.Int64N(1_000_000)
			if !f.scanner.Repeat(again, next) {
				e := f.scanner.Next()
				if e == nil {
					break
				}
				decoder.Event(nil, e.Data, next)
			}
			at = next
		}
	}
	memory := f.scanner.Give()
	f.scanner.Reset(64 << 10)
	f.scanner.Use(memory)
	body := endpoint.Body{Bytes: f.request.Bytes, ContentType: f.request.ContentType, Stream: true}
	id := strconv.Itoa(i)
	r := f.intake.Record(&intake.Job{
		Identity: record.Identity{SessionNum: int64(i), RequestID: "0b2b6f0e-5d0f-4f5c-9b43-" + id,
			CorrelationID:  "6a0a4c1e-8d6e-4b0a-8f8e-" + id,
			ConversationID: "session_" + id, WorkerID: "worker_1", ProcessorID: "record_processor_1",
			Phase: record.PhaseProfiling, PhaseName: "profiling"},
		Exchange: client.Exchange{StartNS: start, SentNS: start + 50_000, AckNS: start + 1_000_000, LastResponseNS: at,
			EndNS:     at + 10_000,
			Responses: f.tokens + 2, Status: 200,
			Timing: client.Timing{Sending: 50_000, Waiting: 20_000_000, Receiving: at - start - 20_050_000,
				Duration: at - start,
				Reused:   1, BytesSent: 300, ChunksSent: 1, BytesReceived: int64(len(f.stream)),
				ChunksReceived: int64(f.tokens)}},
		Decoder: decoder, Body: &body, RequestedTokens: int64(f.tokens), IssuedNS: start - 1000,
	})
	if r.Err != nil {
		return fmt.Errorf("record %d: %s", i, r.Err.Message)
	}
	f.set.Judge(r)
	f.engine.Add(r)
	if f.sink != nil {
		f.sink.Add(r)
		return f.sink.Err()
	}
	return nil
}
