package mockserver

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/watch/prom"
)

func TestFaultsOfOptionsAreChecked(t *testing.T) {
	for want, o := range map[string]Options{
		"--fault: ":         {Fault: "statuss=503"},
		"--metrics-fault: ": {MetricsFault: "bogus"},
		"--dcgm-fault: ":    {GPU: GPUOptions{Fault: "bogus"}},
		"--dcgm-gpu-name: ": {GPU: GPUOptions{Model: "bogus"}},
		"--backend: ":       {Backend: "bogus"},
	} {
		o.NoTokenizer = true
		if _, err := New(o); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestFaultyPages(t *testing.T) {
	for spec, check := range map[string]func(t *testing.T, a answer, parse error){
		"html": func(t *testing.T, a answer, parse error) {
			if parse == nil || a.header.Get("Content-Type") != "text/html; charset=utf-8" {
				t.Errorf("%v %s", parse, a.header)
			}
		},
		"html;content_type=text/plain": func(t *testing.T, a answer, parse error) {
			if parse == nil || a.header.Get("Content-Type") != "text/plain" {
				t.Errorf("%v %s", parse, a.header)
			}
		},
		"json": func(t *testing.T, a answer, parse error) {
			if parse == nil || a.header.Get("Content-Type") != "application/json" {
				t.Errorf("%v %s", parse, a.header)
			}
		},
		"binary": func(t *testing.T, a answer, parse error) {
			if parse == nil || len(a.body) < 1000 {
				t.Errorf("%v, %d bytes", parse, len(a.body))
			}
		},
		"truncated": func(t *testing.T, a answer, parse error) {
			if parse == nil || a.err != nil || !strings.Contains(a.body, "vllm:prompt_tokens_total{") {
				t.Errorf("%v %v", parse, a.err)
			}
		},
		"drop_after_bytes=5000": func(t *testing.T, a answer, _ error) {
			if a.err == nil || len(a.body) > 5000 {
				t.Errorf("%v, %d bytes", a.err, len(a.body))
			}
		},
		"status=503": func(t *testing.T, a answer, _ error) {
			if a.status != 503 {
				t.Error(a.status)
			}
		},
		"huge=3": func(t *testing.T, a answer, parse error) {
			if len(a.body) != 3<<20 || a.err != nil {
				t.Errorf("%d bytes, %v", len(a.body), a.err)
			}
		},
		"gzip": func(t *testing.T, a answer, _ error) {
			if a.header.Get("Content-Encoding") != "gzip" || !strings.HasPrefix(a.body, "\x1f\x8b") {
				t.Errorf("%v %.10q", a.header, a.body)
			}
		},
		"nan": func(t *testing.T, a answer, parse error) {
			if !strings.Contains(a.body, `vllm:num_requests_running{engine="0",model_name="mock-model"} NaN`) ||
				parse != nil {
				t.Error(parse)
			}
		},
		"inf": func(t *testing.T, a answer, parse error) {
			if !strings.Contains(a.body, `vllm:num_requests_running{engine="0",model_name="mock-model"} +Inf`) ||
				parse != nil {
				t.Error(parse)
			}
		},
		"duplicate": func(t *testing.T, a answer, parse error) {
			if strings.Count(a.body, "\nvllm:num_requests_running{") != 2 || parse != nil {
				t.Error(parse)
			}
		},
		"labels=5000": func(t *testing.T, a answer, parse error) {
			if strings.Count(a.body, "\nvllm:prefix_cache_queries_total{") != 5001 || parse != nil {
				t.Error(parse)
			}
		},
		"retype_after_s=0": func(t *testing.T, a answer, parse error) {
			if !strings.Contains(a.body, "# TYPE vllm:num_requests_running_total counter") || parse != nil {
				t.Error(parse)
			}
		},
		"html;rate=0": func(t *testing.T, a answer, parse error) {
			if parse != nil {
				t.Error(parse)
			}
		},
	} {
		t.Run(spec, func(t *testing.T) {
			s := serve(t, Options{Fast: true, NoTokenizer: true, MetricsFault: spec})
			a := s.get("/metrics")
			_, err := prom.NewParser(prom.Options{}).Parse([]byte(a.body), false)
			check(t, a, err)
			if a := s.post(chatPath, chat(text(3), false)); a.status != 200 {
				t.Errorf("inference: %d", a.status)
			}
		})
	}
}

func TestGzipFaultIsThePage(t *testing.T) {
	s := serve(t, Options{Fast: true, NoTokenizer: true, MetricsFault: "gzip"})
	// This client takes compression off.
	s.client.Transport = &http.Transport{DialContext: s.client.Transport.(*http.Transport).DialContext,
		DisableKeepAlives: true}
	resp, err := s.client.Get(s.url + "/vllm/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || !bytes.HasPrefix(body, []byte("# HELP vllm:")) {
		t.Errorf("%v %.40q", err, body)
	}
}

func TestNeverEndingPage(t *testing.T) {
	s := serve(t, Options{Fast: true, NoTokenizer: true, MetricsFault: "huge"})
	resp, err := s.client.Get(s.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if n, err := io.CopyN(io.Discard, resp.Body, 8<<20); err != nil || resp.ContentLength != -1 {
		t.Errorf("%d bytes, %v, length %d", n, err, resp.ContentLength)
	}
}

func TestTricklingPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, Options{Fast: true, NoTokenizer: true, MetricsFault: "slow=10"})
		start := time.Now()
		a := s.get("/vllm/metrics")
		if took := time.Since(start); took != time.Duration(len(a.body))*10*time.Millisecond {
			t.Errorf("%d bytes in %v", len(a.body), took)
		}
		parsePage(t, a.body, false)
	})
}

func TestPageThatNeverComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, Options{Fast: true, NoTokenizer: true, MetricsFault: "never;delay_ms=1000"})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, "GET", s.url+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := s.client.Do(req); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v %v", resp, err)
		}
	})
}

func TestCountersRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, Options{Fast: true, NoTokenizer: true, MetricsFault: "reset_after_s=10"})
		ask := func(n int) {
			for range n {
				s.post(chatPath, chat(text(3), true, tenTokens))
			}
		}
		ask(3)
		s.page("/metrics").want(t, map[string]float64{"vllm:generation_tokens": 30, "vllm:request_success length": 3})
		time.Sleep(11 * time.Second)
		s.page("/metrics").want(t, map[string]float64{"vllm:generation_tokens": 0, "vllm:request_success length": 0,
			"vllm:e2e_request_latency_seconds|count": 0, "aiperf_mock_requests /v1/chat/completions POST 200": 0})
		ask(2)
		time.Sleep(time.Second)
		s.page("/metrics").want(t, map[string]float64{"vllm:generation_tokens": 20, "vllm:request_success length": 2,
			"vllm:e2e_request_latency_seconds|count": 2})
	})
}

func TestHistogramsChangeTheirLayout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, Options{Fast: true, NoTokenizer: true, MetricsFault: "relayout_after_s=10"})
		s.post(chatPath, chat(text(3), true, tenTokens))
		before := s.page("/vllm/metrics")
		time.Sleep(11 * time.Second)
		for key, after := range s.page("/vllm/metrics") {
			old := before[key]
			if len(old.Series.Bounds) == 0 {
				continue
			}
			lacks, more := difference(old.Series.Upper, after.Series.Upper),
				difference(after.Series.Upper, old.Series.Upper)
			if lacks == 0 || more == 0 || after.Count != old.Count {
				t.Errorf("%s: lacks %d, has %d more, count %v", key, lacks, more, after.Count)
			}
		}
	})
}

func difference(a, b []float64) int {
	n := 0
	for _, x := range a {
		found := false
		for _, y := range b {
			found = found || x == y || math.Abs(x-y) < 1e-12*x
		}
		if !found {
			n++
		}
	}
	return n
}

func TestPageThatDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, Options{Fast: true, NoTokenizer: true, MetricsFault: "die_after_s=10"})
		s.page("/metrics")
		time.Sleep(11 * time.Second)
		if resp, err := s.client.Get(s.url + "/metrics"); err == nil {
			t.Errorf("status %d", resp.StatusCode)
		}
		if a := s.post(chatPath, chat(text(3), false)); a.status != 200 {
			t.Errorf("inference: %d", a.status)
		}
	})
}

func TestConstantPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, Options{Fast: true, NoTokenizer: true, MetricsFault: "constant"})
		first := s.get("/metrics").body
		s.post(chatPath, chat(text(3), false))
		time.Sleep(time.Minute)
		if s.get("/metrics").body != first || s.get("/vllm/metrics").body == first {
			t.Error("the page changed")
		}
	})
}
