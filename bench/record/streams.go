//go:build linux

package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"time"
)

const (
	streamTokens = 32
	streamWords  = 16
)

// many opens streams at once through the recorder, and compares each text with that which the server sends directly.
func (b *bench) many() error {
	slow, err := b.server("--ttft", "3000", "--itl", "50")
	if err != nil {
		return err
	}
	defer slow.stop()
	fast, err := b.server("--fast")
	if err != nil {
		return err
	}
	defer fast.stop()
	folder := filepath.Join(b.dir, "streams")
	recorder, err := b.recorder(slow.url, folder)
	if err != nil {
		return err
	}
	want := b.texts(fast.url, 64)
	begun := time.Now()
	got := b.texts(recorder.url, b.streams)
	spent := time.Since(begun)
	cpu := recorder.processor()
	recorder.stop()
	failed, other := 0, 0
	var why error
	for i := range got {
		switch {
		case got[i].err != nil || want[i].err != nil:
			failed++
			why = got[i].err
		case got[i].sum != want[i].sum || got[i].events != want[i].events:
			other++
		}
	}
	rows, err := rowsOf(folder)
	fmt.Printf("\n%d streams of %d tokens at once: %.1f s, %.0f µs of processor time an event, %.0f MB resident; "+
		"%d failed, %d of another text, %d rows\n", b.streams, streamTokens, spent.Seconds(),
		cpu.Seconds()*1e6/float64(b.streams*streamTokens), resident(recorder), failed, other, rows)
	if err == nil && (failed > 0 || other > 0 || rows != b.streams) {
		err = fmt.Errorf("streams or rows are lost (%v)", why)
	}
	return err
}

// text is what a stream said.
type text struct {
	sum    [sha256.Size]byte
	events int
	err    error
}

// texts reads all streams of a host, so many at once.
func (b *bench) texts(host string, atOnce int) []text {
	list := make([]text, b.streams)
	numbers := make(chan int, b.streams)
	for i := range list {
		numbers <- i
	}
	close(numbers)
	var all sync.WaitGroup
	for range atOnce {
		all.Go(func() {
			for i := range numbers {
				list[i] = read(host, i)
			}
		})
	}
	all.Wait()
	return list
}

func read(host string, number int) (t text) {
	conn, err := dial(host)
	if err != nil {
		return text{err: err}
	}
	defer conn.Close()
	if _, err := conn.Write(request(host, number, streamWords, streamTokens, true)); err != nil {
		return text{err: err}
	}
	resp, err := http.ReadResponse(bufio.NewReaderSize(conn, 1024), nil)
	if err != nil {
		return text{err: err}
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return text{err: fmt.Errorf("status %d", resp.StatusCode)}
	}
	sum := sha256.New()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(make([]byte, 1024), 1<<20)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: {"))
		if !ok {
			continue
		}
		t.events++
		var event struct {
			Choices []struct {
				Delta  struct{ Content string }
				Reason string `json:"finish_reason"`
			}
		}
		if err := json.Unmarshal(append([]byte("{"), data...), &event); err != nil {
			return text{err: err}
		}
		for _, c := range event.Choices {
			fmt.Fprintf(sum, "%q %q\n", c.Delta.Content, c.Reason)
		}
	}
	t.err = lines.Err()
	sum.Sum(t.sum[:0])
	return t
}
