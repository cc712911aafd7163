//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// body is a chat request with a prompt of 32 tokens.
func body(tokens int, stream bool) []byte {
	prompt := "the quick brown fox jumps over the lazy dog and the old man looks at the sea while the little boy " +
		"runs home to tell his mother about it"
	return fmt.Appendf(nil, `{"messages":[{"role":"user","content":%q}],"model":"mock-model","stream":%t,"max_completion_tokens":%d,"ignore_eos":true}`, prompt, stream, tokens)
}

// bare is the yardstick: the same requests from goroutines that do nothing but read the replies.
func bare(args []string) {
	fs := flag.NewFlagSet("bare", flag.ExitOnError)
	url := fs.String("url", "", "base URL")
	concurrency := fs.Int("concurrency", 1, "loops")
	tokens := fs.Int("tokens", 1, "output tokens")
	stream := fs.Bool("stream", false, "stream the replies")
	requests := fs.Int64("requests", 0, "stop after that many requests")
	seconds := fs.Int("seconds", 8, "or after that time")
	fs.Parse(args)

	transport := &http.Transport{MaxIdleConnsPerHost: *concurrency, DisableCompression: true, ReadBufferSize: 1024,
		WriteBufferSize: 1024}
	client := &http.Client{Transport: transport}
	payload := body(*tokens, *stream)
	var sent, done, events atomic.Int64
	began := time.Now()
	end := began.Add(time.Duration(*seconds) * time.Second)
	var loops sync.WaitGroup
	for range *concurrency {
		loops.Go(func() {
			for {
				if *requests > 0 {
					if sent.Add(1) > *requests {
						return
					}
				} else if time.Now().After(end) {
					return
				}
				n, err := exchange(client, *url+"/v1/chat/completions", payload, *stream)
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				done.Add(1)
				events.Add(n)
			}
		})
	}
	loops.Wait()
	json.NewEncoder(os.Stdout).Encode(map[string]float64{
		"Requests": float64(done.Load()), "Events": float64(events.Load()), "Seconds": time.Since(began).Seconds(),
	})
}

func exchange(client *http.Client, url string, payload []byte, stream bool) (events int64, err error) {
	req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(payload))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if !stream {
		_, err = io.Copy(io.Discard, resp.Body)
		return 0, err
	}
	lines := bufio.NewReaderSize(resp.Body, 4096)
	for {
		line, err := lines.ReadSlice('\n')
		if bytes.HasPrefix(line, []byte("data: {")) {
			events++
		}
		if err == io.EOF {
			return events, nil
		}
		if err != nil {
			return events, err
		}
	}
}
