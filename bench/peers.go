//go:build unix

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
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
	// tokens reports whether it sees when the tokens of a stream come; the others read a stream as one body.
	tokens bool
	args   func(p *peers, load peerLoad) []string
}

// peerLoad is what all programs send, over 32 connections.
type peerLoad struct {
	name    string
	tokens  int
	streams bool
	// counter is that of the server for what the load is counted in.
	counter string
	seconds int
}

// peers compares the programs that -peers names with ours: 32 connections for some seconds on one core, the mock server
// on another. Requests and tokens are those that the server counted, so that no program's own account is used.
type peers struct {
	*bench
	url   string
	paths map[string]string
}

var allPeers = []peer{
	{name: "aiperf", records: "a line with its figures, times and ids", tokens: true, args: (*peers).profileArgs},
	{name: "wrk", records: "nothing; a histogram of latencies", args: func(p *peers, load peerLoad) []string {
		return []string{"-t", "1", "-c", "32", "-d", load.time(), "-s", p.file(load, "lua"), p.url}
	}},
	{name: "oha", records: "nothing in a file; times in memory", args: func(p *peers, load peerLoad) []string {
		return append([]string{"--no-tui"}, p.heyArgs(load)...)
	}},
	{name: "vegeta", records: "start, latency, code, headers (binary)", args: func(p *peers, load peerLoad) []string {
		return []string{"attack", "-rate=0", "-workers=32", "-max-workers=32", "-duration=" + load.time(), "-max-body=0",
			"-targets=" + p.file(load, "targets"), "-output=" + p.file(load, "vegeta")}
	}},
	{name: "hey", records: "nothing in a file; times in memory", args: (*peers).heyArgs},
	{name: "original", records: "a line with its figures, times and ids", tokens: true, args: (*peers).profileArgs},
	{name: "guidellm", records: "a JSON object with prompt, answer and times", tokens: true, args: (*peers).guidellm},
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
	for _, load := range []peerLoad{
		{name: "request", tokens: 1, counter: "vllm:request_success_total"},
		{name: "token", tokens: 200, streams: true, counter: "vllm:generation_tokens_total"},
	} {
		if err := p.files(load); err != nil {
			return err
		}
		if err := p.compare(load); err != nil {
			return err
		}
	}
	return nil
}

// peerCost is what a round of a program took: a run of one second and a longer one. Their difference is what the load
// costs, and the rest what a run costs whatever it sends.
type peerCost struct{ each, besides, rate, rssKB float64 }

// compare runs the programs in turns and prints a line for each: medians of the rounds, but the best rate, since other
// work on the machine can only lower it.
func (p *peers) compare(load peerLoad) error {
	rounds := map[string][]peerCost{}
	for range growthRounds {
		for _, of := range allPeers {
			if _, err := exec.LookPath(p.paths[of.name]); err != nil {
				continue // not asked for, or not there
			}
			c, err := p.round(of, load)
			if err != nil {
				return fmt.Errorf("%s: %w", of.name, err)
			}
			rounds[of.name] = append(rounds[of.name], c)
		}
	}
	fmt.Printf("\n%-10s %12s %16s %14s %12s  %s\n", "program", load.name+"s/s", "CPU µs/"+load.name, "CPU s besides",
		"MB resident", "recorded of each request; sees tokens come")
	for _, of := range allPeers {
		list := rounds[of.name]
		if len(list) == 0 {
			if p.paths[of.name] != "" {
				fmt.Printf("%-10s not there\n", of.name)
			}
			continue
		}
		middle := func(value func(peerCost) float64) float64 {
			slices.SortFunc(list, func(a, b peerCost) int { return cmp.Compare(value(a), value(b)) })
			return value(list[len(list)/2])
		}
		best := slices.MaxFunc(list, func(a, b peerCost) int { return cmp.Compare(a.rate, b.rate) })
		fmt.Printf("%-10s %12.0f %16.2f %14.1f %12.0f  %s; %t\n", of.name, best.rate,
			middle(func(c peerCost) float64 { return c.each })*1e6, middle(func(c peerCost) float64 { return c.besides }),
			middle(func(c peerCost) float64 { return c.rssKB })/1024, of.records, of.tokens)
	}
	return nil
}

func (p *peers) round(of peer, load peerLoad) (peerCost, error) {
	load.seconds = 1
	short, err := p.loaded(of, load)
	if err != nil {
		return peerCost{}, err
	}
	load.seconds = max(p.seconds, 2)
	long, err := p.loaded(of, load)
	each := (long.seconds() - short.seconds()) / (long.size - short.size)
	return peerCost{each, long.seconds() - each*long.size, long.size / float64(load.seconds), long.rssKB}, err
}

// loaded runs a program once; the size is what the server counted meanwhile.
func (p *peers) loaded(of peer, load peerLoad) (grown, error) {
	before, err := p.counted(load.counter)
	if err != nil {
		return grown{}, err
	}
	os.RemoveAll(p.file(load, "run"))
	u, err := p.once(p.paths[of.name], of.args(p, load))
	if err != nil {
		return grown{}, err
	}
	after, err := p.counted(load.counter)
	return grown{size: after - before, usage: u}, err
}

// once runs a program on the first core, with what it needs to stay offline.
func (p *peers) once(path string, args []string) (usage, error) {
	cmd := exec.Command("taskset", append([]string{"-c", "0", path}, args...)...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "HF_HUB_OFFLINE=1", "DO_NOT_TRACK=1")
	cmd.Dir = p.dir
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.WaitDelay = 10 * time.Second // for processes that outlive the one that is killed
	if err := cmd.Start(); err != nil {
		return usage{}, err
	}
	late := time.AfterFunc(p.bound, func() { cmd.Process.Kill() })
	ended, largest := make(chan struct{}), make(chan float64)
	go func() { largest <- largestTogether(cmd.Process.Pid, ended) }()
	err := cmd.Wait()
	close(ended)
	kb := <-largest
	if !late.Stop() {
		err = errors.New("took too long")
	}
	if err != nil {
		return usage{}, fmt.Errorf("%w\n%s", err, said.Bytes())
	}
	u := usageOf(cmd.ProcessState)
	u.rssKB = max(u.rssKB, kb)
	return u, nil
}

// largestTogether returns the most memory in KB, looked at twice a second, of a process and all that it started; a page
// that several of them share counts once. The memory that a process reports at its end is that of the largest one.
func largestTogether(pid int, ended <-chan struct{}) (kb float64) {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return kb
		case <-tick.C:
			kb = max(kb, together(strconv.Itoa(pid)))
		}
	}
}

// together is the memory of a process and its descendants now, by Linux' account of proportional shares.
func together(pid string) (kb float64) {
	rollup, _ := os.ReadFile("/proc/" + pid + "/smaps_rollup")
	for line := range strings.Lines(string(rollup)) {
		if text, ok := strings.CutPrefix(line, "Pss:"); ok {
			fmt.Sscan(text, &kb)
		}
	}
	lists, _ := filepath.Glob("/proc/" + pid + "/task/*/children")
	for _, list := range lists {
		children, _ := os.ReadFile(list)
		for _, child := range strings.Fields(string(children)) {
			kb += together(child)
		}
	}
	return kb
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

func (l peerLoad) time() string { return strconv.Itoa(l.seconds) + "s" }

// file is one of the forms of a load's request, or what a program writes of it.
func (p *peers) file(load peerLoad, form string) string {
	return filepath.Join(p.dir, load.name+"."+form)
}

// files writes the request in the forms in which the programs want it.
func (p *peers) files(load peerLoad) error {
	text := body(load.tokens, load.streams)
	targets := "POST " + p.url + "\nContent-Type: application/json\n@" + p.file(load, "json") + "\n"
	return errors.Join(
		os.WriteFile(p.file(load, "json"), text, 0o644),
		os.WriteFile(p.file(load, "targets"), []byte(targets), 0o644),
		os.WriteFile(p.file(load, "lua"), wrkScript(string(text)), 0o644))
}

// heyArgs are those of hey, which oha shares.
func (p *peers) heyArgs(load peerLoad) []string {
	return []string{"-z", load.time(), "-c", "32", "-m", "POST", "-T", "application/json", "-D",
		p.file(load, "json"), p.url}
}

// profileArgs are those of aiperf and the original.
func (p *peers) profileArgs(load peerLoad) []string {
	base, _, _ := strings.Cut(p.url, "/v1/")
	args := []string{"profile", "--model", "mock-model", "--tokenizer", "builtin", "--url", base, "--endpoint-type",
		"chat", "--random-seed", "1", "--ui", "none", "--no-server-metrics", "--no-gpu-telemetry", "--concurrency", "32",
		"--isl", "32", "--osl", strconv.Itoa(load.tokens), "--extra-inputs", "ignore_eos:true",
		"--benchmark-duration", strconv.Itoa(load.seconds), "--artifact-dir", p.file(load, "run")}
	if load.streams {
		args = append(args, "--streaming")
	}
	return args
}

func (p *peers) guidellm(load peerLoad) []string {
	base, _, _ := strings.Cut(p.url, "/v1/")
	return []string{"run", "--backend", fmt.Sprintf("kind=openai_http,target=%s,stream=%t", base, load.streams),
		"--profile", "kind=concurrent,streams=[32]",
		"--data", "kind=synthetic_text,prompt_tokens=32,output_tokens=" + strconv.Itoa(load.tokens),
		"--tokenizer", fmt.Sprintf(`{"kind":"huggingface_auto","model":%q}`, p.paths["tokenizer"]),
		"--constraint", "kind=max_duration,seconds=" + strconv.Itoa(load.seconds), "--disable-console-interactive",
		"--output", "kind=json,path=" + p.file(load, "guidellm.json")}
}
