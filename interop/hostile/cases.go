//go:build ignore

package main

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// timeout is that of the requests, in seconds; a run has some more to end.
const timeout = "2"

func profile(url string, more ...string) []string {
	if !slices.Contains(more, "--tokenizer") {
		more = append(more, "--tokenizer", "builtin")
	}
	return append([]string{"profile", "--model", "m", "--url", url, "--isl", "5", "--osl", "3", "--ui", "none",
		"--request-count", "2", "--concurrency", "1", "--request-timeout-seconds", timeout, "--artifact-dir",
		artifacts}, more...)
}

// quickly are the attacks over HTTP/1.1 that the quick check makes; fine are those after which the run is a success.
var (
	quickly = strings.Fields(`event-fields event-bare event-cr event-data header-endless interim-endless length-negative
		length-overflow chunk-overflow chunk-negative chunk-trailer encoding-many bomb-refusal json-deep json-numbers
		json-choices no-http redirects-endless redirect-file script escapes escapes-model escapes-event`)
	fine = strings.Fields(
		`ok json-choices json-bytes json-surrogates json-numbers json-deep-usage escapes-model encoding-many`)
)

func overHTTP(url string) (list []attempt) {
	for name := range attacks {
		a := attempt{name: "server " + name, quick: slices.Contains(quickly, name), exits: []int{1},
			limit: 30 * time.Second, mb: 600,
			args: profile(url+"/"+name, "--endpoint-type", "chat", "--streaming", "--custom-endpoint", "/"+name)}
		if slices.Contains(fine, name) {
			a.exits = []int{0, 1}
		}
		if strings.HasPrefix(name, "event-") && name != "event-comments" {
			a.says = "an event of more than 65536 lines"
		}
		large := []string{"-endless", "bomb", "encoding-", "no-line-end"}
		if slices.ContainsFunc(large, func(part string) bool { return strings.Contains(name, part) }) {
			a.mb = 1400 // a response may have 256 MB, and a buffer doubles
		}
		if slices.Contains(strings.Fields("comments-slow drip silent"), name) { // a scrape waits longer than a request
			a.args = append(a.args, "--no-server-metrics")
		}
		if name == "script" {
			a.args, a.absent = append(a.args, "--html-report"), "<img src=x onerror=PWN"
		}
		list = append(list, a)
	}
	return list
}

func overHTTP2(name, url string) attempt {
	return attempt{name: "http2 " + name,
		quick: slices.Contains(strings.Fields("resets continuations empty-data header-bomb bad-settings goaway-all"),
			name),
		exits: []int{1}, limit: 30 * time.Second, mb: 600,
		args: profile(url, "--endpoint-type", "chat", "--http2", "--no-server-metrics")}
}

func file(name, text string) func(string) {
	return func(dir string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			panic(err)
		}
	}
}

// longPacked makes a file of one line of zeros, packed, that unpacks to so many megabytes.
func longPacked(name string, megabytes int) func(string) {
	return func(dir string) {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		for range megabytes {
			z.Write(make([]byte, 1<<20))
		}
		z.Close()
		file(name, b.String())(dir)
	}
}

const aDevice = "/dev/zero is a device, not a file"

// linked makes a run's folder in which a file is a device without end.
func linked(name string) func(string) {
	return func(dir string) {
		os.Mkdir(filepath.Join(dir, "old"), 0o755)
		if err := os.Symlink("/dev/zero", filepath.Join(dir, "old", name)); err != nil {
			panic(err)
		}
	}
}

func tokenizer(normalizers string) string {
	return `{"normalizer":{"type":"Sequence","normalizers":[` + normalizers +
		`]},"model":{"type":"BPE","vocab":{"a":0,"b":1},"merges":[]}}`
}

// garbled returns a text with some bytes changed; the seed decides which.
func garbled(text string, seed uint64) string {
	random, b := rand.New(rand.NewPCG(seed, 1)), []byte(text)
	for range 1 + random.IntN(8) {
		b[random.IntN(len(b))] = byte(random.IntN(256))
	}
	return string(b)
}

const turns = `"turns":[{"messages":[{"role":"user","content":"x"}]`

// inputs are attempts whose input means ill; the server is harmless.
func inputs(url string) []attempt {
	server := url + "/ok"
	with := func(more ...string) []string {
		return profile(server, append([]string{"--endpoint-type", "chat", "--streaming", "--custom-endpoint", "/ok"},
			more...)...)
	}
	template := func(text string) []string {
		return profile(server, "--endpoint-type", "template", "--custom-endpoint", "/ok", "--extra-inputs",
			"payload_template:"+text)
	}
	replace := `{"type":"Replace","pattern":{"String":"a"},"content":"` + strings.Repeat("a", 100) + `"}`
	refused := []int{1, 2}
	list := []attempt{
		{name: "template macro", quick: true, args: template("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"),
			says: "does not end by itself"},
		{name: "template default", quick: true, args: template("{% macro f(a=f()) %}x{% endmacro %}{{ f() }}"),
			says: "does not end by itself"},
		{name: "template text", quick: true, args: template("{{ 'ab' * 9999999999 }}"), says: "longer than 64 MiB"},
		{name: "template doubling", args: template("{% set n = namespace(s='a') %}{% for i in range(99) %}{% set n.s " +
			"= n.s ~ n.s %}{% endfor %}{{ n.s }}"), says: "longer than 64 MiB"},
		{name: "template itself", quick: true, args: template(`{% include "/template" %}`), says: "cannot read files"},
		{name: "template loops", args: template("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor " +
			"%}{% endfor %}"), says: "does not end by itself"},
		{name: "audio length", quick: true, args: with("--audio-length-mean", "1e8"),
			says: "must be at most 3600 seconds"},
		{name: "picture size", quick: true, args: with("--image-width-mean", "1e8", "--image-height-mean", "1e8"),
			says: "pixels"},
		{name: "line packed", args: with("--input-file", "f.jsonl.gz"),
			prepare: longPacked("f.jsonl.gz", 300), says: "f.jsonl.gz:1: the line is longer than 67108864 bytes"},
		{name: "line packed, limit", quick: true, args: with("--input-file", "f.jsonl.gz"),
			env:     []string{"AIPERF_DATASET_MAX_LINE_BYTES=1000000"},
			prepare: longPacked("f.jsonl.gz", 20), says: "the line is longer than 1000000 bytes"},
		{name: "device", quick: true, args: with("--input-file", "/dev/zero", "--custom-dataset-type", "single_turn"),
			says: aDevice},
		{name: "device of unknown format", quick: true, args: with("--input-file", "/dev/zero"), says: aDevice},
		{name: "device as a schedule", quick: true,
			args: with("--input-file", "/dev/zero", "--custom-dataset-type", "mooncake_trace"), says: aDevice},
		{name: "device as a document", quick: true,
			args: with("--input-file", "/dev/zero", "--custom-dataset-type", "inputs_json"), says: aDevice},
		{name: "device as recordings", quick: true,
			args: with("--input-file", "/dev/zero", "--custom-dataset-type", "weka_trace"), says: aDevice},
		{name: "json deep", quick: true, args: with("--input-file", "f.jsonl"), prepare: file("f.jsonl", deep+"\n")},
		{name: "dag cycle", quick: true, args: with("--input-file", "f.jsonl", "--custom-dataset-type", "dag_jsonl"),
			prepare: file("f.jsonl", `{"session_id":"a",`+turns+`,"forks":["b"]}]}`+"\n"+`{"session_id":"b",`+turns+
				`,"forks":["a"]}]}`+"\n")},
		{name: "dag self", args: with("--input-file", "f.jsonl", "--custom-dataset-type", "dag_jsonl"),
			prepare: file("f.jsonl", `{"session_id":"a",`+turns+`,"forks":["a"]}]}`+"\n")},
		{name: "names of sessions", quick: true, exits: []int{0},
			args:    with("--input-file", "f.jsonl", "--export-level", "raw", "--custom-dataset-type", "multi_turn"),
			prepare: file("f.jsonl", `{"session_id":"../../../evil","turns":[{"text":"x"}]}`+"\n")},
		{name: "file of a prefix", quick: true, args: with("--profile-export-prefix", "../../../evil")},
		{name: "tokenizer explodes", quick: true, args: with("--tokenizer", "./t"), says: "times as long",
			prepare: func(dir string) {
				os.Mkdir(filepath.Join(dir, "t"), 0o755)
				file("t/tokenizer.json", tokenizer(strings.Repeat(replace+",", 7)+replace))(dir)
			}},
		{name: "tokenizer deep", quick: true, args: with("--tokenizer", "./t"),
			prepare: func(dir string) {
				os.Mkdir(filepath.Join(dir, "t"), 0o755)
				file("t/tokenizer.json", strings.Repeat(`{"normalizer":`, 100000))(dir)
			}},
		{name: "report of an endless state", quick: true, args: []string{"report", "old"},
			prepare: linked("run_state.json"), says: "run_state.json is not a regular file"},
		{name: "compare with an endless run", quick: true, args: []string{"compare", "old", "old"},
			prepare: linked("profile_export_aiperf.json"), says: "is not a regular file"},
	}
	for seed := range uint64(8) {
		list = append(list,
			attempt{name: "tokenizer garbled " + string('0'+rune(seed)), exits: []int{0, 1, 2},
				args: with("--tokenizer", "./t"), prepare: func(dir string) {
					os.Mkdir(filepath.Join(dir, "t"), 0o755)
					file("t/tokenizer.json", garbled(tokenizer(replace), seed))(dir)
				}},
			attempt{name: "parquet garbled " + string('0'+rune(seed)),
				args: with("--input-file", "f.parquet", "--custom-dataset-type", "baseten_trace"),
				prepare: file("f.parquet", "PAR1"+garbled(strings.Repeat("\x15\x04\x19\x5c", 200), seed)+
					"\x20\x03\x00\x00PAR1")})
	}
	for i := range list {
		if list[i].exits == nil {
			list[i].exits = refused
		}
		list[i].name, list[i].limit, list[i].mb = "input "+list[i].name, 30*time.Second, 600
	}
	return list
}
