//go:build unix

package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// peer is a program that can send the load of the comparison.
type peer struct {
	name string
	// records is what it keeps of each request, with the arguments below.
	records string
	// args returns the arguments for a load of some seconds; streams is nil for a program that reads no streams.
	unary, streams func(p *peers) []string
}

// peers compares the programs that -peers names with ours: 32 connections for some seconds on one core, the mock server
// on another. Requests and tokens are those that the server counted, so that no program's own account is used.
type peers struct {
	*bench
	url, post, script, targets, tokenizer string
	paths                                 map[string]string
}

var allPeers = []peer{
	{name: "aiperf", records: "a line with its figures, times and ids",
		unary: func(p *peers) []string { return p.profileArgs("--osl", "1") },
		streams: func(p *peers) []string {
			return p.profileArgs("--osl", "200", "--streaming", "--extra-inputs", "ignore_eos:true")
		}},
	{name: "wrk", records: "nothing; a histogram of latencies",
		unary: func(p *peers) []string {
			return []string{"-t", "1", "-c", "32", "-d", p.time("s"), "-s", p.script, p.url}
		}},
	{name: "oha", records: "nothing in a file; times of each request in memory",
		unary: func(p *peers) []string {
			return []string{"--no-tui", "-z", p.time("s"), "-c", "32", "-m", "POST", "-T", "application/json", "-D", p.post,
				p.url}
		}},
	{name: "vegeta", records: "start, latency, code, bytes (binary file)",
		unary: func(p *peers) []string {
			return []string{"attack", "-rate=0", "-workers=32", "-max-workers=32", "-duration=" + p.time("s"),
				"-targets=" + p.targets, "-output=" + filepath.Join(p.dir, "vegeta.bin")}
		}},
	{name: "hey", records: "nothing in a file; times of each request in memory",
		unary: func(p *peers) []string {
			return []string{"-z", p.time("s"), "-c", "32", "-m", "POST", "-T", "application/json", "-D", p.post, p.url}
		}},
	{name: "k6", records: "trends of 8 times, nothing for each request",
		unary: func(p *peers) []string {
			return []string{"run", "--quiet", "--vus", "32", "--duration", p.time("s"), p.script + ".js"}
		}},
	{name: "original", records: "a line with its figures and ids",
		unary: func(p *peers) []string { return p.profileArgs("--osl", "1") },
		streams: func(p *peers) []string {
			return p.profileArgs("--osl", "200", "--streaming", "--extra-inputs", "ignore_eos:true")
		}},
	{name: "guidellm", records: "a JSON object with prompt, answer and times",
		unary:   func(p *peers) []string { return p.guidellm(1) },
		streams: func(p *peers) []string { return p.guidellm(200) }},
}

// comparePeers prints a row for each program that is there.
func (b *bench) comparePeers() error {
	server, err := b.server("--fast")
	if err != nil {
		return err
	}
	defer server.stop()
	core := "1"
	if out, err := exec.Command("taskset", "-a", "-c", "-p", core, strconv.Itoa(server.cmd.Process.Pid)).
		CombinedOutput(); err != nil {
		return fmt.Errorf("taskset: %w\n%s", err, out)
	}
	p := &peers{bench: b, url: server.url + "/v1/chat/completions", paths: map[string]string{"aiperf": b.aiperf}}
	for _, pair := range strings.Split(b.others, ",") {
		name, path, _ := strings.Cut(pair, "=")
		p.paths[name] = path
	}
	p.tokenizer = p.paths["tokenizer"]
	if err := p.files(); err != nil {
		return err
	}
	fmt.Printf("\n%-10s %12s %14s %12s  %s\n", "program", "requests/s", "CPU µs/request", "MB resident",
		"of each request")
	for _, of := range allPeers {
		if err := p.compare(of, of.unary, "vllm:request_success_total"); err != nil {
			return err
		}
	}
	fmt.Printf("\n%-10s %12s %14s %12s\n", "program", "tokens/s", "CPU µs/token", "MB resident")
	for _, of := range allPeers {
		if err := p.compare(of, of.streams, "vllm:generation_tokens_total"); err != nil {
			return err
		}
	}
	return nil
}

// compare runs one program and prints what it did, by a counter of the server: the round with the median processor time.
func (p *peers) compare(of peer, args func(*peers) []string, counter string) error {
	path := p.paths[of.name]
	if path == "" || args == nil {
		return nil
	}
	if _, err := exec.LookPath(path); err != nil {
		fmt.Printf("%-10s not there\n", of.name)
		return nil
	}
	type round struct{ each, rate, rssKB float64 }
	var rounds []round
	for range growthRounds {
		before, err := p.counted(counter)
		if err != nil {
			return err
		}
		u, err := p.once(path, args(p))
		if err != nil {
			return fmt.Errorf("%s: %w", of.name, err)
		}
		after, err := p.counted(counter)
		if err != nil {
			return err
		}
		n := after - before
		rounds = append(rounds, round{u.cpu.Seconds() * 1e6 / n, n / float64(p.seconds), u.rssKB})
	}
	slices.SortFunc(rounds, func(a, b round) int { return cmp.Compare(a.each, b.each) })
	r := rounds[len(rounds)/2]
	fmt.Printf("%-10s %12.0f %14.1f %12.0f  %s\n", of.name, r.rate, r.each, r.rssKB/1024, of.records)
	return nil
}

// once runs a program on the first core, with what it needs to stay offline.
func (p *peers) once(path string, args []string) (usage, error) {
	cmd := exec.Command("taskset", append([]string{"-c", "0", path}, args...)...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "HF_HUB_OFFLINE=1", "DO_NOT_TRACK=1")
	cmd.Dir = p.dir
	late := time.AfterFunc(p.bound, func() {
		if cmd.Process != nil {
			cmd.Process.Kill()
		}
	})
	out, err := cmd.CombinedOutput()
	if !late.Stop() {
		err = errors.New("took too long")
	}
	if err != nil {
		return usage{}, fmt.Errorf("%w\n%s", err, out)
	}
	return usageOf(cmd.ProcessState), nil
}

// counted returns the sum of a counter on the server's metrics page.
func (p *peers) counted(name string) (sum float64, err error) {
	base, _, _ := strings.Cut(p.url, "/v1/")
	resp, err := http.Get(base + "/metrics")
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), name+"{"); ok {
			v, err := strconv.ParseFloat(text[strings.LastIndex(text, " ")+1:], 64)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", name, err)
			}
			sum += v
		}
	}
	return sum, lines.Err()
}

func (p *peers) time(unit string) string { return strconv.Itoa(p.seconds) + unit }

// files writes the request in the forms in which the programs want it.
func (p *peers) files() error {
	p.post, p.script = filepath.Join(p.dir, "post.json"), filepath.Join(p.dir, "post.lua")
	p.targets = filepath.Join(p.dir, "targets.txt")
	text := string(body(1, false))
	return errors.Join(
		os.WriteFile(p.post, []byte(text), 0o644),
		os.WriteFile(p.targets, []byte("POST "+p.url+"\nContent-Type: application/json\n@"+p.post+"\n"), 0o644),
		os.WriteFile(p.script, wrkScript(text), 0o644),
		os.WriteFile(p.script+".js", fmt.Appendf(nil, `import http from "k6/http";
const body = %q;
export default function () { http.post(%q, body, { headers: { "Content-Type": "application/json" } }); }
`, text, p.url), 0o644),
		os.MkdirAll(filepath.Join(p.dir, "peer"), fs.ModePerm))
}

// profileArgs are those of aiperf and the original.
func (p *peers) profileArgs(args ...string) []string {
	base, _, _ := strings.Cut(p.url, "/v1/")
	return append([]string{"profile", "--model", "mock-model", "--tokenizer", "builtin", "--url", base, "--endpoint-type",
		"chat", "--random-seed", "1", "--ui", "none", "--no-server-metrics", "--no-gpu-telemetry", "--concurrency", "32",
		"--isl", "32", "--benchmark-duration", strconv.Itoa(p.seconds), "--artifact-dir", filepath.Join(p.dir, "peer")},
		args...)
}

func (p *peers) guidellm(tokens int) []string {
	base, _, _ := strings.Cut(p.url, "/v1/")
	return []string{"run", "--backend", "kind=openai_http,target=" + base,
		"--profile", "kind=concurrent,streams=[32]",
		"--data", "kind=synthetic_text,prompt_tokens=32,output_tokens=" + strconv.Itoa(tokens),
		"--tokenizer", fmt.Sprintf(`{"kind":"huggingface_auto","model":%q}`, p.tokenizer),
		"--constraint", "kind=max_duration,seconds=" + strconv.Itoa(p.seconds), "--disable-console-interactive",
		"--output", "kind=json,path=" + filepath.Join(p.dir, "peer", "guidellm.json")}
}
