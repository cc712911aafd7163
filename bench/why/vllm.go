package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// vllm is vLLM on the processor, with a tiny model.
type vllm struct{ options string }

// vllmStart is the longest that vLLM may take to start: a minute of a processor that does nothing else.
const vllmStart = 15 * time.Minute

// onVLLM are the situations on a real engine, and one without a cause. They stand beside the thirty.
func onVLLM() []situation {
	return []situation{
		{name: "vllm-slots", causes: []string{"queue"}, advice: []string{"max-num-seqs", "max_num_seqs"},
			vllm:   &vllm{options: "--max-num-seqs 1"},
			client: "--concurrency 6 --request-count 48 --isl 50 --osl 40", figures: vllmQueue},
		{name: "vllm-kv-cache", causes: []string{"kv_cache"},
			advice: []string{"gpu-memory-utilization", "num-gpu-blocks", "kv"},
			vllm:   &vllm{options: "--max-num-seqs 16 --num-gpu-blocks-override 10 --max-model-len 1024"},
			client: "--concurrency 8 --request-count 48 --isl 200 --osl 200", figures: vllmQueue},
		{name: "vllm-unchunked", causes: []string{"prefill_stalls"},
			advice: []string{"chunked", "max-num-batched-tokens", "disaggregat"},
			vllm: &vllm{options: "--max-num-seqs 16 --no-enable-chunked-prefill --max-model-len 8192 " +
				"--max-num-batched-tokens 8192"},
			client:  "--concurrency 6 --request-count 60 --isl 4000 --isl-stddev 1500 --osl 60 --osl-stddev 30",
			figures: vllmTimes},
		{name: "vllm-healthy", healthy: true, vllm: &vllm{options: "--max-num-seqs 16"},
			client: "--concurrency 2 --request-count 60 --isl 50 --osl 40", figures: vllmQueue},
	}
}

// startVLLM starts vLLM and waits until it serves; it ends with ctx.
func (b *bench) startVLLM(ctx context.Context, v *vllm) (a arranged, err error) {
	folder, err := filepath.Abs(b.vllm)
	if err != nil {
		return a, err
	}
	ports, err := lowPorts(1)
	if err != nil {
		return a, err
	}
	url, tiny := "http://127.0.0.1:"+strconv.Itoa(ports[0]), filepath.Join(folder, "tiny")
	cmd := exec.CommandContext(ctx, filepath.Join(folder, "venv/bin/vllm"), append([]string{"serve", tiny,
		"--served-model-name", "tiny", "--host", "127.0.0.1", "--port", strconv.Itoa(ports[0]), "--dtype", "bfloat16",
		"--enforce-eager", "--no-enable-prefix-caching"}, strings.Fields(v.options)...)...)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(folder, "venv/bin")+":"+os.Getenv("PATH"),
		"VLLM_NO_USAGE_STATS=1", "VLLM_TARGET_DEVICE=cpu", "VLLM_CPU_KVCACHE_SPACE=1", "HF_HUB_OFFLINE=1",
		"TRANSFORMERS_OFFLINE=1", "VLLM_CACHE_ROOT="+filepath.Join(b.root, "vllm"))
	// It has processes of its own, which it ends when it is asked to.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	if err := cmd.Start(); err != nil {
		return a, err
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	a = arranged{urls: []string{url}, pages: []string{url}, flags: []string{"--model", "tiny", "--tokenizer", tiny,
		"--extra-inputs", "ignore_eos:true"}, wait: func() { <-ended }}
	for deadline := time.Now().Add(vllmStart); time.Now().Before(deadline) && ctx.Err() == nil; {
		response, err := http.Get(url + "/health")
		if err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return a, nil
			}
		}
		select {
		case <-ended:
			return a, errors.New("vLLM ended before it served")
		case <-time.After(time.Second):
		}
	}
	return a, errors.Join(ctx.Err(), errors.New("vLLM does not serve"))
}
