package export_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"aiperf/internal/watch/servermetrics/export"
)

// lazy is a page of a server that makes its series with the first request.
func lazy(requests int) string {
	page := "# TYPE clients gauge\nclients 1\n"
	if requests == 0 {
		return page
	}
	return page + fmt.Sprintf("# TYPE r counter\nr_total{status=\"ok\"} %[1]d\n# TYPE h histogram\nh_bucket{le=\"1\"} %[1]d\n"+
		"h_bucket{le=\"+Inf\"} %[1]d\nh_sum %[1]d\nh_count %[1]d\n", requests)
}

// Every file has all requests of a series that began with the first of them, and Parquet no row of a page without it.
func TestSeriesThatBeginWithTheFirstRequest(t *testing.T) {
	c := newCollection(t)
	for i, requests := range []int{0, 0, 8, 12, 16} {
		c.page(url, time.Duration(2*i-1)*time.Second, lazy(requests))
	}
	var got struct {
		Metrics map[string]struct {
			Series []struct {
				Stats   map[string]float64
				Buckets map[string]int64
			}
		}
	}
	if err := json.Unmarshal([]byte(c.json()), &got); err != nil {
		t.Fatal(err)
	}
	if s := got.Metrics["r"].Series[0].Stats; s["total"] != 16 || s["rate"] != 2 {
		t.Errorf("the counter is %v", s)
	}
	h := got.Metrics["h"].Series[0]
	if h.Stats["count"] != 16 || h.Stats["sum"] != 16 || h.Stats["count_rate"] != 2 || h.Buckets["+Inf"] != 16 {
		t.Errorf("the histogram is %v", h)
	}
	for _, row := range []string{",r,,16.0000,2.0000,", ",h,,16,2.0000,16.0000,2.0000,1.0000,"} {
		if !strings.Contains(c.csv(), row) {
			t.Errorf("CSV lacks %s:\n%s", row, c.csv())
		}
	}
	var legacy bytes.Buffer
	if err := (export.LegacyJSON{Run: c.run()}).Write(context.Background(), &legacy); err != nil {
		t.Fatal(err)
	}
	for _, member := range []string{`"delta": 16.0`, `"observation_count": 16`} {
		if !strings.Contains(legacy.String(), member) {
			t.Errorf("the legacy file lacks %s:\n%s", member, legacy.String())
		}
	}
	var values, counts []any
	for _, row := range parquetRows(t, c.run()) {
		switch {
		case row["metric_name"] == "r":
			values = append(values, row["value"])
		case row["metric_name"] == "h" && row["bucket_le"] == "+Inf":
			counts = append(counts, row["count"])
		}
	}
	for _, list := range [][]any{values, counts} {
		if fmt.Sprint(list) != "[8 12 16]" {
			t.Errorf("Parquet has %v", list)
		}
	}
}

// Files say why there are no figures of an address at which several servers answer, and have none.
func TestFilesOfServersThatAnswerInTurn(t *testing.T) {
	c := newCollection(t)
	for i := range 6 {
		server := i % 2
		c.page(url, time.Duration(2*i-1)*time.Second, fmt.Sprintf("# TYPE process_start_time_seconds gauge\n"+
			"process_start_time_seconds %d\n", 1000+1000*server)+lazy(500*server+i+1))
	}
	const why = url + " is answered by 2 servers in turn: name the page of each with --server-metrics URL"
	text := c.json()
	if !strings.Contains(text, `"no_totals": "`+why+`"`) || strings.Contains(text, `"r": {`) ||
		strings.Contains(text, `"h": {`) || !strings.Contains(text, `"clients": {`) {
		t.Errorf("JSON is\n%s", text)
	}
	if csv := c.csv(); strings.Contains(csv, ",counter,") || strings.Contains(csv, ",histogram,") ||
		!strings.Contains(csv, ",gauge,clients,") {
		t.Errorf("CSV is\n%s", csv)
	}
	for _, row := range parquetRows(t, c.run()) {
		if kind := row["metric_type"]; kind != "gauge" {
			t.Fatalf("a row of a %s", kind)
		}
	}
	if got := footerOf(t, c.run())("aiperf.no_totals"); got != `{"`+url+`":"`+why+`"}` {
		t.Errorf("the footer says %s", got)
	}
	var legacy bytes.Buffer
	if err := (export.LegacyJSON{Run: c.run()}).Write(context.Background(), &legacy); err != nil {
		t.Fatal(err)
	}
	if text := legacy.String(); !strings.Contains(text, `"no_totals": "`) || strings.Contains(text, `"delta"`) {
		t.Errorf("the legacy file is\n%s", text)
	}
}
