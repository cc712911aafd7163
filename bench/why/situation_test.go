package main

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestThirtySituationsHaveACauseAndTenNone(t *testing.T) {
	names := map[string]bool{}
	for _, set := range [][]situation{open(), held(), healthy(), onVLLM()} {
		for _, s := range set {
			if names[s.name] || s.healthy == (len(s.causes) > 0) || s.healthy == (len(s.advice) > 0) ||
				s.mock() == (len(s.servers) == 0) || len(s.figures) == 0 && s.name != "sglang" {
				t.Errorf("%+v", s)
			}
			names[s.name] = true
		}
	}
	if len(open()) != 20 || len(held()) != 10 || len(healthy()) != 10 {
		t.Errorf("%d, %d and %d situations", len(open()), len(held()), len(healthy()))
	}
}

func TestVerdictsAreCompared(t *testing.T) {
	const judged = `{"request_count":{"unit":"requests","avg":7},"limited_by":[{"code":"old","level":"bad"}],
		"judgement":{"state":{"code":"fine"},"findings":[{"code":"complete","kind":"state","level":"good"},
		{"code":"queue","kind":"cause","level":"warn","advice":"raise --MAX-num-seqs"}]}}`
	s := situation{causes: []string{"queue"}, advice: []string{"max-num-seqs"}}
	for text, want := range map[string]outcome{
		judged: {first: "queue", word: "max-num-seqs", named: true, advice: true},
		`{"limited_by":[{"code":"kv_cache","level":"warn"}]}`: {first: "kv_cache", word: "-"},
		`{}`: {first: "nothing", word: "-"},
	} {
		v := written(t, text)
		if got := s.judge(v); got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
	well := situation{healthy: true}
	if v := written(t, judged); well.judge(v).hit() || v.client["request_count"].Avg != 7 {
		t.Errorf("a warning is no alarm: %+v", v)
	}
	if !well.judge(written(t, `{"limited_by":[{"code":"concurrency","level":"good"}]}`)).hit() {
		t.Error("a good finding is an alarm")
	}
}

func written(t *testing.T, text string) verdict {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "profile_export_aiperf.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	v, err := readVerdict(dir)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestTheNetworkTakesItsTimeAndKeepsTheBytes(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	go func() {
		c, err := server.Accept()
		if err == nil {
			io.Copy(c, c)
			c.Close()
		}
	}()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := network{delay: 20 * time.Millisecond}
	address, err := n.through(ctx, server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	start := time.Now()
	c.Write([]byte("hello"))
	c.(*net.TCPConn).CloseWrite()
	got, err := io.ReadAll(c)
	if took := time.Since(start); string(got) != "hello" || err != nil || took < 4*n.delay {
		t.Errorf("%q after %v, %v", got, took, err)
	}
}
