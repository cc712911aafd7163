package loader

import (
	"compress/gzip"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A line that is too long is an error that names file, line and the variable, in every reader of lines: with and
// without a format, packed, as CSV, in a file that is indexed.
func TestLongLinesAreRefused(t *testing.T) {
	row := func(n int) string { return `{"text": "` + strings.Repeat("x", n) + `"}` + "\n" }
	trace := func(n int) string { return `{"timestamp": 1, "input_length": ` + strings.Repeat(" ", n) + `5}` + "\n" }
	csv := "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
	for _, c := range []struct {
		name, file, text, format string
		from                     int64
		line                     string
	}{
		{"lines", "f.jsonl", row(10) + row(2000), "single_turn", 0, "2"},
		{"the first line", "f.jsonl", row(2000), "", 0, "1"},
		{"lines of unknown format", "f.jsonl", row(10) + row(10) + row(2000), "", 0, "3"},
		{"packed lines", "f.jsonl.gz", row(10) + row(2000), "single_turn", 0, "2"},
		{"no line end", "f.jsonl", strings.Repeat("\x00", 5000), "", 0, "1"},
		{"an indexed trace", "f.jsonl", trace(1) + trace(1) + trace(2000), mooncakeTrace, 1, "3"},
		{"an indexed CSV file", "f.csv", csv + "1,m,2,3,5,c\n2,m," + strings.Repeat(" ", 2000) + "2,3,5,c\n",
			burstGPTTrace, 1, "3"},
		{"a CSV file", "f.csv", csv + "1,m,2,3,5,c\n2,m," + strings.Repeat(" ", 2000) + "2,3,5,c\n", burstGPTTrace,
			1 << 40, "3"},
		{"the header of a CSV file", "f.csv", strings.Repeat("a", 2000) + "\n", burstGPTTrace, 1 << 40, "1"},
	} {
		path := filepath.Join(t.TempDir(), c.file)
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(c.file, ".gz") {
			packed := gzip.NewWriter(file)
			packed.Write([]byte(c.text))
			packed.Close()
		} else {
			file.WriteString(c.text)
		}
		file.Close()
		_, err = LoadWith(context.Background(), path, c.format, Options{MaxLine: 1024, IndexFrom: c.from})
		want := path + ":" + c.line + ": the line is longer than 1024 bytes; AIPERF_DATASET_MAX_LINE_BYTES sets the limit"
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
}

// A document may be on one line, whatever its length.
func TestADocumentOnOneLineIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "inputs.json")
	text := `{"data": [{"session_id": "s", "payloads": [{"messages": [{"role": "user", "content": "` +
		strings.Repeat("x", 2000) + `"}]}]}]}`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := LoadWith(context.Background(), path, "", Options{MaxLine: 1024})
	if err != nil || r.Format != inputsJSON {
		t.Errorf("%+v, %v", r, err)
	}
}

// A device never ends; it is refused whatever it is said to hold.
func TestADeviceIsRefused(t *testing.T) {
	const device = "/dev/zero"
	if _, err := os.Stat(device); err != nil {
		t.Skipf("needs a device that never ends, which only Unix systems have: %v", err)
	}
	for _, format := range []string{"", "single_turn", "multi_turn", "random_pool", mooncakeTrace, burstGPTTrace,
		wekaTrace, "inputs_json", "dag_jsonl", "raw_payload"} {
		_, err := LoadWith(context.Background(), device, format, Options{})
		if err == nil || !strings.Contains(err.Error(), "/dev/zero") {
			t.Errorf("%s: got %v", format, err)
		}
	}
}
