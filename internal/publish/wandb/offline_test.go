package wandb

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// readLog reads the records of a file for "wandb sync" and checks its head, sums and blocks.
func readLog(t *testing.T, data []byte) (records [][]byte) {
	t.Helper()
	if !bytes.HasPrefix(data, []byte{':', 'W', '&', 'B', 0xe1, 0xbe, 0}) {
		t.Fatalf("head % x", data[:min(7, len(data))])
	}
	var record []byte
	begun := false
	for at := 7; at < len(data); {
		if room := blockSize - at%blockSize; room < recordHead {
			if bytes.Trim(data[at:at+room], "\x00") != nil {
				t.Fatalf("the end of the block at %d is not empty", at)
			}
			at += room
		}
		sum, n := binary.LittleEndian.Uint32(data[at:]), int(binary.LittleEndian.Uint16(data[at+4:]))
		kind, body := data[at+6], data[at+recordHead:at+recordHead+n]
		if crc32.ChecksumIEEE(append([]byte{kind}, body...)) != sum {
			t.Fatalf("the sum at %d", at)
		}
		if begun != (kind == middle || kind == last) || at/blockSize != (at+6+n)/blockSize {
			t.Fatalf("kind %d at %d, %d bytes", kind, at, n)
		}
		record, begun = append(record, body...), true
		if kind == whole || kind == last {
			records, record, begun = append(records, record), nil, false
		}
		at += recordHead + n
	}
	if begun {
		t.Fatal("the last record is not complete")
	}
	return records
}

func TestRecordsCrossBlocks(t *testing.T) {
	l := newRecordLog()
	var want [][]byte
	add := func(n int) {
		want = append(want, bytes.Repeat([]byte{byte(n) + 1}, n))
		l.append(want[len(want)-1])
	}
	for _, n := range []int{0, 1, blockSize, 3*blockSize + 5, 100} {
		add(n)
	}
	for left := range 9 { // bytes between the end of a record and the end of its block
		add(2*(blockSize-recordHead) - l.out.Len()%blockSize - left)
		if got := blockSize - l.out.Len()%blockSize; got%blockSize != left {
			t.Fatalf("%d bytes left, want %d", got, left)
		}
		add(1)
	}
	got := readLog(t, l.out.Bytes())
	if len(got) != len(want) {
		t.Fatalf("%d records, want %d", len(got), len(want))
	}
	for i := range want {
		if !bytes.Equal(got[i], want[i]) {
			t.Errorf("record %d: %d bytes, want %d", i, len(got[i]), len(want[i]))
		}
	}
}

// textOf returns the first text field of a message with this number, following a path of them.
func textOf(m []byte, path ...protowire.Number) string {
	for len(m) > 0 {
		number, kind, n := protowire.ConsumeTag(m)
		if number == path[0] && kind == protowire.BytesType {
			part, _ := protowire.ConsumeBytes(m[n:])
			if len(path) == 1 {
				return string(part)
			}
			return textOf(part, path[1:]...)
		}
		m = m[n+protowire.ConsumeFieldValue(number, kind, m[n:]):]
	}
	return ""
}

func TestARunIsWrittenForTheClient(t *testing.T) {
	dir := t.TempDir()
	log := publishFrom(t, dir, Options{Environment: &Environment{Offline: true}, Timeout: time.Minute, Entity: "team"})
	found, _ := filepath.Glob(filepath.Join(dir, "wandb", "offline-run-*", "run-*.wandb"))
	if len(found) != 1 || !strings.Contains(log, "wandb sync "+filepath.Dir(found[0])) {
		t.Fatalf("%v, log %s", found, log)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	id := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(found[0]), "run-"), ".wandb")
	records := readLog(t, data)
	if len(records) != 9 {
		t.Fatalf("%d records", len(records))
	}
	for i, c := range []struct {
		record int
		path   []protowire.Number
		want   string
	}{
		{1, []protowire.Number{recordRun, 1}, id},
		{1, []protowire.Number{recordRun, 2}, "team"},
		{1, []protowire.Number{recordRun, 3}, "bench"},
		{1, []protowire.Number{recordRun, 4, 1, 1}, "models"},
		{1, []protowire.Number{recordRun, 4, 1, 16}, `["m"]`},
		{1, []protowire.Number{recordRun, 8}, "aiperf-01234567"},
		{1, []protowire.Number{recordRun, 10}, "aiperf-1.2.3"},
		{3, []protowire.Number{recordArtifact, 5}, "run-" + id + "-summary_metrics"},
		{6, []protowire.Number{recordArtifact, 5}, "aiperf-" + id},
		{6, []protowire.Number{recordArtifact, 12, 4, 1}, "a.json"},
		{6, []protowire.Number{recordArtifact, 12, 4, 6}, filepath.Join(dir, "a.json")},
		{8, []protowire.Number{1}, ""},
	} {
		if got := textOf(records[c.record], c.path...); got != c.want {
			t.Errorf("%d: record %d, fields %v: %q, want %q", i, c.record, c.path, got, c.want)
		}
	}
	if strings.Contains(string(data), "s3cret") {
		t.Error("a secret is in the records")
	}
	table := textOf(records[3], recordArtifact, 12, 4, 6)
	media := textOf(records[4], recordFiles, 1, 1)
	for _, path := range []string{table, filepath.Join(filepath.Dir(found[0]), "files", media)} {
		if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), "Req Latency (ms)") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestARunThatIsNotWrittenCostsOneLine(t *testing.T) {
	log := publishFrom(t, t.TempDir(), Options{Environment: &Environment{Offline: true}, Timeout: time.Nanosecond})
	if strings.Count(log, "\n") != 1 || !strings.Contains(log, "was not written within 1e-09 s ("+variableTimeout) {
		t.Error(log)
	}
}
