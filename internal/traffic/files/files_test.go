package files_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aiperf/internal/traffic/files"
	"aiperf/internal/workload/loader"
	"aiperf/internal/workload/recipe"
	"aiperf/internal/workload/recording"
)

// TestRecordsAreSorted sorts more than memory holds, with files that are merged in between: equal keys keep their order.
func TestRecordsAreSorted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ records, size int }{{0, 1}, {1, 1}, {1000, 10}, {3000, 20_000}} {
		dir := t.TempDir()
		s := files.NewSorter(dir)
		random := rand.New(rand.NewPCG(1, 2))
		var want []string
		for i := range c.records {
			key := binary.BigEndian.AppendUint32(nil, random.Uint32()%500)
			value := append(binary.BigEndian.AppendUint32(nil, uint32(i)), make([]byte, c.size)...)
			if err := s.Add(key, value); err != nil {
				t.Fatal(err)
			}
			want = append(want, string(key)+string(value[:4]))
		}
		slices.Sort(want)
		var got []string
		err := s.Each(func(key, value []byte) error {
			if len(value) != c.size+4 {
				t.Errorf("%d bytes", len(value))
			}
			got = append(got, string(key)+string(value[:4]))
			return nil
		})
		s.Close()
		if left, _ := os.ReadDir(dir); err != nil || !slices.Equal(got, want) || len(left) > 0 {
			t.Errorf("%d records of %d bytes: %d, %v, %d files left", c.records, c.size, len(got), err, len(left))
		}
	}
}

func rowOf(session string, atMS float64, ids ...int64) *recording.Row {
	think := 250.0
	return &recording.Row{TimestampMS: atMS, Endpoint: "chat", Model: "m", Stream: true, Status: 200, Outcome: "ok", SessionID: session,
		InputLength: 16*len(ids) + 3, OutputLength: 5, HashIDs: ids, ThinkMS: &think, LatencyMS: 100, StopReason: "stop"}
}

func create(t *testing.T, dir string) *files.Writer {
	t.Helper()
	w, err := files.Create(files.Options{Folder: dir, Keep: recording.KeepHashes, Tokenizer: "builtin", BlockSize: 16,
		Start: time.Unix(1_800_000_000, 0), MaxBytes: 1000, Warn: func(text string) { t.Error(text) }})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestSessionsAreWrittenAsWekaTraces: a file for each session, of all parts, in the order of the times.
func TestSessionsAreWrittenAsWekaTraces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := create(t, dir)
	failed := rowOf("00000000000000aa", 5)
	failed.Outcome = "error"
	w.Add(failed)
	for i := range 20 { // the later turn comes first
		at := float64(19-i) * 1000
		w.Add(rowOf(fmt.Sprintf("%016x", i%2), at, 1, 2, int64(3+i)))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	parts, _ := filepath.Glob(filepath.Join(dir, "traffic-*"))
	sessions, _ := filepath.Glob(filepath.Join(dir, recording.WekaName, "*"))
	if len(parts) < 3 || len(sessions) != 2 {
		t.Fatal(parts, sessions)
	}
	text, err := os.ReadFile(sessions[1])
	if err != nil || !strings.HasPrefix(string(text), `{"id":"0000000000000001","block_size":16,"hash_id_scope":"local",`) ||
		!strings.Contains(string(text), `{"t":18,"type":"s","model":"m","in":51,"out":5,"hash_ids":[1,2,4],"input_types":["text"],`+
			`"output_types":["text"],"stop":"stop","api_time":0.1,"think_time":0.25,"ttft":0}`) {
		t.Error(string(text), err)
	}
	r, err := loader.LoadWith(context.Background(), filepath.Join(dir, recording.WekaName), "", loader.Options{Models: []string{"m"},
		Weka: recipe.Weka{SeamOverlap: 0.5, SeamSeconds: 60}})
	if err != nil || r.BlockSize != 16 {
		t.Fatal(r, err)
	}
	turns := 0
	for i := range r.Dataset.Conversations.Len() {
		turns += len(r.Dataset.At(i).Turns)
	}
	if turns != 20 {
		t.Errorf("%d turns", turns)
	}
}

// TestARecordingWithACutLineIsRead: a killed recorder leaves half a line and no weka_trace, which is made later.
func TestARecordingWithACutLineIsRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := create(t, dir)
	w.Add(rowOf("00000000000000aa", 0, 1))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, recording.TrafficName)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(text, text[:len(text)-30]...), 0o600); err != nil {
		t.Fatal(err)
	}
	// The head of the copy is a row there, which has no session and no prompt.
	if sessions, left, err := files.WriteWeka(dir); sessions != 1 || left != 0 || err != nil {
		t.Error(sessions, left, err)
	}
	if err := recording.EachRow(filepath.Join(dir, recording.WekaName, "00000000000000aa.json"), nil); err == nil {
		t.Error("a file that is no recording was read")
	}
}
