// Command plugin is a plug-in for aiperf: it loads files of prompts, measures requests and exports results.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

type figure struct{ Value, Avg float64 }

// params are those of all calls.
type params struct {
	File, Folder string
	Summary      struct{ Request_throughput, Request_latency figure }
	Records      []struct{ Metrics map[string]figure }
}

var calls = map[string]func(params) (any, error){
	"load": func(p params) (any, error) {
		text, err := os.ReadFile(p.File)
		lines := []any{}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" {
				lines = append(lines, map[string]string{"text": line})
			}
		}
		return map[string]any{"lines": lines}, err
	},
	"measure": func(p params) (any, error) {
		values := make([]*float64, len(p.Records)) // nil: no value
		for i, r := range p.Records {
			if tokens := r.Metrics["output_sequence_length"].Value; tokens > 0 {
				v := r.Metrics["request_latency"].Value / tokens
				values[i] = &v
			}
		}
		return map[string]any{"values": values}, nil
	},
	"finish": func(params) (any, error) { return struct{}{}, nil }, // {"value": 1.5} is a figure of the run
	"export": func(p params) (any, error) {
		line := fmt.Sprintf("%v requests/s, %v ms\n", p.Summary.Request_throughput.Avg, p.Summary.Request_latency.Avg)
		err := os.WriteFile(filepath.Join(p.Folder, "summary_line.txt"), []byte(line), 0o644)
		return map[string]string{"message": "wrote summary_line.txt"}, err
	},
}

func main() {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	var greeting struct{ Name string }
	_ = in.Decode(&greeting)
	_ = out.Encode(map[string]any{"aiperf_plugin": 1, "name": greeting.Name})
	for {
		var call struct {
			ID     int
			Method string
			Params params
		}
		if in.Decode(&call) != nil {
			return // aiperf has closed the input
		}
		result, err := calls[call.Method](call.Params)
		if err != nil {
			_ = out.Encode(map[string]any{"id": call.ID, "error": err.Error()})
			continue
		}
		_ = out.Encode(map[string]any{"id": call.ID, "result": result})
	}
}
