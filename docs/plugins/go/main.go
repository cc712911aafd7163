// Command plugin is a plug-in for aiperf: it loads files of prompts, measures requests and exports results.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
)

type figure struct{ Value, Avg float64 }

// figures are those that this plug-in needs; there are many more.
type figures struct {
	Throughput figure `json:"request_throughput"`
	Latency    figure `json:"request_latency"`
	Tokens     figure `json:"output_sequence_length"`
}

// params are those of all calls.
type params struct {
	File, Folder string
	Summary      figures
	Records      []struct{ Metrics figures }
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
			if r.Metrics.Tokens.Value > 0 {
				v := r.Metrics.Latency.Value / r.Metrics.Tokens.Value
				values[i] = &v
			}
		}
		return map[string]any{"values": values}, nil
	},
	"finish": func(params) (any, error) { return struct{}{}, nil }, // {"value": 1.5} is a figure of the run
	"export": func(p params) (any, error) {
		line := fmt.Sprintf("%v requests/s, %v ms\n", p.Summary.Throughput.Avg, p.Summary.Latency.Avg)
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
		if err := in.Decode(&call); err == io.EOF {
			return
		} else if err != nil {
			log.Fatal(err)
		}
		result, err := calls[call.Method](call.Params)
		if err != nil {
			_ = out.Encode(map[string]any{"id": call.ID, "error": err.Error()})
			continue
		}
		_ = out.Encode(map[string]any{"id": call.ID, "result": result})
	}
}
