package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// dynamo is Dynamo's frontend with workers that are its mocker: the scheduler and the KV cache of vLLM, without a GPU.
type dynamo struct {
	// workers are the options of each worker.
	workers []string
}

var dynamoFigures = []figure{{"running", "vllm:num_requests_running", largest},
	{"waiting", "vllm:num_requests_waiting", largest},
	{"KV use", "vllm:kv_cache_usage_perc", largest}, {"preemptions", "vllm:num_preemptions_total", grown},
	{"frontend TTFT ms", "dynamo_frontend_time_to_first_token_seconds", mean}}

// startDynamo starts a frontend and its workers and waits until they serve; they end with ctx.
func (b *bench) startDynamo(ctx context.Context, d *dynamo) (a arranged, err error) {
	folder, err := filepath.Abs(b.dynamo)
	if err != nil {
		return a, err
	}
	store, err := os.MkdirTemp(b.root, "store")
	if err != nil {
		return a, err
	}
	env := append(os.Environ(), "DYN_DISCOVERY_BACKEND=file", "DYN_FILE_KV="+store, "DYN_EVENT_PLANE=zmq",
		"DYN_REQUEST_PLANE=tcp", "DYN_TCP_RPC_HOST=127.0.0.1", "HF_HUB_OFFLINE=1", "TRANSFORMERS_OFFLINE=1")
	start := func(env []string, args ...string) error {
		cmd := exec.CommandContext(ctx, filepath.Join(folder, "venv/bin/python"), append([]string{"-P", "-m"}, args...)...)
		cmd.Env = env
		if err := cmd.Start(); err != nil {
			return err
		}
		go cmd.Wait()
		return nil
	}
	ports, err := lowPorts(1 + len(d.workers))
	if err != nil {
		return a, err
	}
	front := "http://127.0.0.1:" + strconv.Itoa(ports[0])
	err = start(env, "dynamo.frontend", "--http-host", "127.0.0.1", "--http-port", strconv.Itoa(ports[0]))
	if err != nil {
		return a, err
	}
	tiny := filepath.Join(folder, "tiny")
	a = arranged{urls: []string{front}, pages: []string{front},
		flags: []string{"--model", "tiny", "--server-metrics", front + "/metrics"}}
	for i, options := range d.workers {
		page := "http://127.0.0.1:" + strconv.Itoa(ports[i+1])
		args := append([]string{"dynamo.mocker", "--model-path", tiny, "--model-name", "tiny", "--block-size", "16"},
			strings.Fields(options)...)
		if err := start(append(env, "DYN_SYSTEM_PORT="+strconv.Itoa(ports[i+1])), args...); err != nil {
			return a, err
		}
		a.pages = append(a.pages, page)
		a.flags = append(a.flags, page+"/metrics")
	}
	a.flags = append(a.flags, "--extra-inputs", "ignore_eos:true", "--tokenizer", tiny)
	return a, b.serves(ctx, a.pages[1:], front)
}

// serves waits until the workers have pages and the frontend answers a request.
func (b *bench) serves(ctx context.Context, workers []string, front string) error {
	const body = `{"model":"tiny","messages":[{"role":"user","content":"hello"}],"max_tokens":2}`
	answered := 0
	for deadline := time.Now().Add(bound); time.Now().Before(deadline) && ctx.Err() == nil; {
		ready := true
		for _, page := range workers {
			response, err := http.Get(page + "/metrics")
			if err == nil {
				response.Body.Close()
			}
			ready = ready && err == nil && response.StatusCode == http.StatusOK
		}
		response, err := http.Post(front+"/v1/chat/completions", "application/json", strings.NewReader(body))
		if err == nil {
			response.Body.Close()
			if ready && response.StatusCode == http.StatusOK {
				if answered++; answered >= 4*len(workers) { // each worker has been asked
					return nil
				}
				continue
			}
		}
		time.Sleep(200 * time.Millisecond)
	}
	return errors.Join(ctx.Err(), errors.New("Dynamo does not answer"))
}

// lowPorts returns free ports that fit in 16 bits with a sign, as Dynamo reads them.
func lowPorts(n int) (ports []int, err error) {
	for port := 12000 + os.Getpid()%15000; port < 32000 && len(ports) < n; port++ {
		ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		ln.Close()
		ports = append(ports, port)
	}
	if len(ports) < n {
		return nil, errors.New("no free port")
	}
	return ports, nil
}
