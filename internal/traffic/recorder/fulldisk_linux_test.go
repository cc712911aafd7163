package recorder_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/traffic/recorder"
	"aiperf/internal/workload/recording"
)

// TestAFullDiskDelaysNobody: every write to the device of the first files, and in the other case of the second ones, fails
// for want of space.
func TestAFullDiskDelaysNobody(t *testing.T) {
	t.Parallel()
	for _, part := range []int{0, 1} {
		rec := before(t, "http://127.0.0.1:1", func(o *recorder.Options) {
			o.Upstream = serve(t, answers)
			o.MaxBytes = 8000
			for _, name := range []string{recording.TrafficName, recording.MooncakeName} {
				if err := os.Symlink("/dev/full", filepath.Join(o.Folder, recording.PartName(name, part))); err != nil {
					t.Fatal(err)
				}
			}
		})
		const n = 400
		for i := range n {
			if status, text := rec.post("/v1/completions", fmt.Sprintf(`{"prompt":"This is prompt number %d of all"}`, i)); status != 200 || text != answer {
				t.Fatal(status, text)
			}
		}
		err := rec.r.Close(context.Background())
		s := rec.r.Snapshot()
		if s.Requests != n || s.Rows+s.Lost != n || s.Lost == 0 || (s.Rows > 0) != (part == 1) || len(rec.warn) == 0 ||
			!strings.Contains(rec.warn[0], "no space left on device") {
			t.Errorf("part %d: %+v, %v, %v", part, s, err, rec.warn)
		}
	}
}
