package page

import (
	"aiperf/internal/mockserver/api"
	"aiperf/internal/mockserver/httpd"
	"aiperf/internal/watch/prom"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestEveryPageInBothFormats(t *testing.T) {
	for _, open := range []bool{false, true} {
		e := exporter(t, Options{Backend: "trtllm", OpenMetrics: open})
		a := e.Tally().Account()
		accounted(&a, &api.Reply{Arrival: 1}, 10)
		for _, p := range e.pages {
			if p.path == "" {
				continue // the server's own families have no page to themselves
			}
			at, ok := e.Find([]byte(p.path), "")
			none := httpd.NoPageFault()
			body, contentType, _ := e.Append(nil, at, false, &none)
			text := string(body)
			if !ok || strings.HasPrefix(contentType, OpenMetricsType) != open ||
				strings.HasSuffix(text, "# EOF\n") != open {
				t.Errorf("%s: type %q", p.path, contentType)
			}
			checkLines(t, p.path, text)
			if samples, err := prom.NewParser(prom.Options{}).Parse(body, open); err != nil || len(samples) < 10 {
				t.Errorf("%s: %d series, %v", p.path, len(samples), err)
			}
		}
	}
}

// Names that workers, runtime and block manager add are on the pages and in the catalogue.
func TestNamesThatWorkersAddAreShownAndDocumented(t *testing.T) {
	docs, err := os.ReadFile("../../../docs/server-metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	_, catalogue, _ := strings.Cut(string(docs), "\n## Catalogue\n")
	e := exporter(t, Options{})
	all := ""
	for _, p := range e.pages {
		if at, ok := e.Find([]byte(p.path), ""); ok && p.path != "" {
			none := httpd.NoPageFault()
			body, _, _ := e.Append(nil, at, false, &none)
			all += string(body)
		}
	}
	for _, name := range []string{"trtllm:num_aborted_requests", "trtllm:kv_transfer_latency_seconds",
		"trtllm:kv_transfer_bytes", "trtllm:kv_transfer_speed_gb_s", "dynamo_component_embedding_cache_hits",
		"dynamo_component_embedding_cache_misses", "dynamo_component_kv_publisher_zmq_events",
		"dynamo_frontend_event_loop_delay_seconds", "dynamo_frontend_event_loop_stall", "nv_cache_num_hits_per_model",
		"nv_cache_num_misses_per_model"} {
		if !strings.Contains(all, "# TYPE "+name) {
			t.Errorf("%s is on no page", name)
		}
		if short := strings.TrimPrefix(name, "trtllm:"); !strings.Contains(catalogue, "`"+short+"`") {
			t.Errorf("%s is not in the catalogue", short)
		}
	}
}

var sampleLine = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*(\{([a-z_]+="[^"]*",?)*\})? [-+.0-9eNaInf]+$`)

// checkLines demands the plainest form of the format: a HELP and a TYPE line above each family, once.
func checkLines(t *testing.T, path, text string) {
	t.Helper()
	declared, last := map[string]bool{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		words := strings.SplitN(line, " ", 4)
		switch {
		case line == "# EOF":
		case strings.HasPrefix(line, "# HELP "):
			last = words[2]
		case strings.HasPrefix(line, "# TYPE "):
			if words[2] != last || declared[last] {
				t.Errorf("%s: %s", path, line)
			}
			declared[last] = true
		case !sampleLine.MatchString(line) || !strings.HasPrefix(line, last):
			t.Errorf("%s: %q below %s", path, line, last)
		}
	}
}

func BenchmarkPage(b *testing.B) {
	for _, series := range []int{0, 5000} {
		b.Run(fmt.Sprint(series), func(b *testing.B) {
			e := exporter(b, Options{Series: series})
			at, _ := e.Find([]byte(Path), "")
			none := httpd.NoPageFault()
			var body []byte
			for b.Loop() {
				body, _, _ = e.Append(body[:0], at, false, &none)
			}
			b.SetBytes(int64(len(body)))
		})
	}
}
