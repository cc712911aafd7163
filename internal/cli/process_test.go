package cli_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// patience bounds every wait for a process; only a hang reaches it.
const patience = 3 * time.Minute

// mockServer is an "aiperf mock-server" process.
type mockServer struct {
	url  string
	stop func()
}

// startMock starts a mock server without latencies on a free port. It records relative to dir.
func startMock(dir string, flags ...string) (*mockServer, error) {
	cmd := exec.Command("aiperf", append([]string{"mock-server", "--fast", "--port", "0"}, flags...)...)
	cmd.Dir = dir
	// The server lives as long as its standard input, so that a test that is killed leaves none behind.
	cmd.Env = append(cmd.Environ(), "AIPERF_STOP_WITH_STDIN=1")
	alive, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	var complaints strings.Builder
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &mockServer{stop: sync.OnceFunc(func() {
		alive.Close()
		kill := time.AfterFunc(patience, func() { cmd.Process.Kill() })
		defer kill.Stop()
		io.Copy(io.Discard, out)
		cmd.Wait()
	})}
	line, err := bufio.NewReader(out).ReadString('\n')
	at := strings.Index(line, "http")
	if err != nil || at < 0 {
		s.stop()
		return nil, fmt.Errorf("the mock server did not start: %s", complaints.String())
	}
	s.url = strings.TrimSpace(line[at:])
	return s, nil
}

// readDocuments reads one JSON document or one a line.
func readDocuments(text string) ([]any, error) {
	var documents []any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	for {
		var document any
		switch err := decoder.Decode(&document); {
		case errors.Is(err, io.EOF):
			return documents, nil
		case err != nil:
			return nil, err
		}
		documents = append(documents, document)
	}
}

// pick prints what stands at a path such as "body.messages.*.role": "*" takes all elements of a list,
// "len" counts them, and a text that holds JSON is entered like the JSON itself. What is absent is "-".
func pick(value any, path string) string {
	if text, ok := value.(string); ok && path != "" {
		if json.Unmarshal([]byte(text), &value) != nil {
			return "-"
		}
	}
	step, rest, _ := strings.Cut(path, ".")
	switch v := value.(type) {
	case map[string]any:
		switch {
		case path == "":
		case step == "len":
			return strconv.Itoa(len(v))
		case step == "keys":
			keys := make([]string, 0, len(v))
			for key := range v {
				keys = append(keys, key)
			}
			slices.Sort(keys)
			return strings.Join(keys, ",")
		default:
			member, ok := v[step]
			if !ok {
				return "-"
			}
			return pick(member, rest)
		}
	case []any:
		if path == "" {
			break
		}
		if step == "len" {
			return strconv.Itoa(len(v))
		}
		if step == "*" {
			var all []string
			for _, element := range v {
				all = append(all, pick(element, rest))
			}
			return strings.Join(all, ",")
		}
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(v) {
			return pick(v[i], rest)
		}
		return "-"
	case string:
		return v
	}
	if path != "" {
		return "-"
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
