package analysis

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/testkit"
)

// line is a request of a session, in milliseconds.
func line(session string, turn int, start, end int64, more string) string {
	return fmt.Sprintf(`{"metadata":{"x_correlation_id":%q,"conversation_id":"conversation of %s","turn_index":%d,"request_start_ns":%d,"request_end_ns":%d,"benchmark_phase":"profiling"%s`,
		session, session, turn, 1_700_000_000_000_000_000+start*1e6, 1_700_000_000_000_000_000+end*1e6, more)
}

const good = `},"metrics":{}}`

// swimlane reads lines of a per-request file.
func swimlane(t *testing.T, lines ...string) *Swimlane {
	t.Helper()
	path := filepath.Join(t.TempDir(), "profile_export.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := ReadSwimlane(path, "a run")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func example(t *testing.T) *Swimlane {
	return swimlane(t,
		line("b", 0, 20, 60, good),
		line("a", 0, 0, 50, `},"metrics":{"time_to_first_token":{"value":10.0,"unit":"ms"},"input_sequence_length":{"value":7,"unit":"tokens"},"output_sequence_length":{"value":3,"unit":"tokens"}}}`),
		line("c", 0, 30, 40, `,"agent_depth":1,"root_correlation_id":"a","parent_correlation_id":"a"},"metrics":{},"error":{"code":500,"type":"Internal Server Error","message":"</script><b>no"}}`),
		line("a", 1, 80, 100, `,"was_cancelled":true},"metrics":{},"error":{"code":499,"type":"RequestCancellationError"}}`),
		line("w", 0, -100, -50, `,"benchmark_phase":"warmup"},"metrics":{}}`),
	)
}

func TestChartOfARun(t *testing.T) {
	c := example(t)
	var sessions []string
	for _, s := range c.Sessions {
		sessions = append(sessions, fmt.Sprint(s.ID, " lane ", s.Lane, " ", s.StartNS/1e6, "-", s.EndNS/1e6))
	}
	// A child stands below its parent, though it began after the session that follows.
	if want := []string{"a lane 0 0-100", "c lane 1 30-40", "b lane 2 20-60"}; !slices.Equal(sessions, want) {
		t.Errorf("sessions %q, want %q", sessions, want)
	}
	var bars []string
	for _, b := range c.Bars {
		bars = append(bars, fmt.Sprint(c.Sessions[b.Session].ID, b.Turn, " ", b.StartNS/1e6, " ", b.FirstNS/1e6, " ",
			b.EndNS/1e6, " ", b.State))
	}
	if want := []string{"a0 0 10 50 0", "b0 20 0 60 0", "c0 30 0 40 1", "a1 80 0 100 2"}; !slices.Equal(bars, want) {
		t.Errorf("bars %q, want %q", bars, want)
	}
	ms := func(list []Step) (out [][2]int64) {
		for _, s := range list {
			out = append(out, [2]int64{s.AtNS / 1e6, int64(s.Value)})
		}
		return out
	}
	if want := [][2]int64{{0, 1}, {20, 2}, {30, 3}, {40, 2}, {50, 1}, {60, 0}, {80, 1},
		{100, 0}}; !reflect.DeepEqual(ms(c.Requests), want) || c.PeakRequests != 3 {
		t.Errorf("requests %v, peak %d", ms(c.Requests), c.PeakRequests)
	}
	if want := [][2]int64{{0, 1}, {20, 2}, {30, 3}, {40, 2}, {60, 1}, {100, 0}}; !reflect.DeepEqual(ms(c.Active),
		want) || c.PeakActive != 3 {
		t.Errorf("sessions under way %v, peak %d", ms(c.Active), c.PeakActive)
	}
}

func TestOneRequestFollowsAnotherAtTheSameInstant(t *testing.T) {
	c := swimlane(t, line("a", 0, 0, 10, good), line("b", 0, 10, 20, good), line("c", 0, 20, 20, good))
	if c.PeakRequests != 1 || len(c.Requests) != 2 {
		t.Errorf("%+v", c.Requests)
	}
}

func TestManySessionsShareLanes(t *testing.T) {
	var lines []string
	for i := range 3 * ownLanes {
		at := int64(i/3) * 10
		lines = append(lines, line(fmt.Sprint("s", i), 0, at, at+10, good))
	}
	c := swimlane(t, lines...)
	if c.Lanes != 3 || len(c.Sessions) != 3*ownLanes || c.PeakActive != 3 {
		t.Errorf("%d lanes, %d sessions, peak %d", c.Lanes, len(c.Sessions), c.PeakActive)
	}
	ends := make([]int64, c.Lanes)
	for _, s := range c.Sessions {
		if s.StartNS < ends[s.Lane] {
			t.Fatalf("session %s begins in lane %d before the one there has ended", s.ID, s.Lane)
		}
		ends[s.Lane] = s.EndNS
	}
	if !strings.Contains(c.heading(), "300 sessions, 300 requests in 3 lanes") {
		t.Error(c.heading())
	}
}

func TestNothingToDraw(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl")
	if err := os.WriteFile(path, []byte(line("w", 0, 0, 1, `,"benchmark_phase":"warmup"},"metrics":{}}`)+"\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSwimlane(path, ""); !errors.Is(err, ErrNoRequests) {
		t.Error(err)
	}
	if _, err := ReadSwimlane(path+"x", ""); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// The picture must show what the chart says: colours are looked up at instants of lanes.
func TestPicture(t *testing.T) {
	c := example(t)
	c.Concurrency, c.RampNS = 2, 70e6
	var out bytes.Buffer
	if err := c.WritePNG(&out); err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(&out)
	if err != nil {
		t.Fatal(err)
	}
	at := func(ms float64, lane int) color.NRGBA {
		x := marginLeft + (pictureWidth-marginLeft-marginRight)*ms/100
		y := headHeight + maxLane*(float64(lane)+0.5)
		return color.NRGBAModel.Convert(picture.At(int(x), int(y))).(color.NRGBA)
	}
	for _, test := range []struct {
		ms    float64
		lane  int
		shade color.NRGBA
	}{
		{33, 0, palette[0]}, {35, 1, failure}, {43, 2, palette[2]}, {93, 0, cancelled},
		{93, 1, color.NRGBA{0xff, 0xff, 0xff, 0xff}},
	} {
		if got := at(test.ms, test.lane); got != test.shade {
			t.Errorf("at %v ms in lane %d: %v, want %v", test.ms, test.lane, got, test.shade)
		}
	}
	if waiting := at(5, 0); waiting == palette[0] || waiting == (color.NRGBA{0xf6, 0xf7, 0xf9, 0xff}) {
		t.Errorf("the wait for the first token looks like %v", waiting)
	}
	if !has(picture, rampMark) || !has(picture, target) {
		t.Error("marks are missing")
	}
	c.Concurrency, c.RampNS = 0, 0
	if err := c.WritePNG(&out); err != nil {
		t.Fatal(err)
	}
	if picture, err = png.Decode(&out); err != nil || has(picture, rampMark) || has(picture, target) {
		t.Errorf("marks that nobody asked for (%v)", err)
	}
}

func has(picture image.Image, shade color.NRGBA) bool {
	b := picture.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if color.NRGBAModel.Convert(picture.At(x, y)) == shade {
				return true
			}
		}
	}
	return false
}

func TestPageNeedsNothingElse(t *testing.T) {
	c := example(t)
	c.Title = "<i>run</i>\x1b[31m\u0085"
	var out bytes.Buffer
	if err := c.WriteHTML(&out); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	testkit.Page(t, "the chart", page)
	for _, bad := range []string{"http://", "https://", "<i>run", "</script><b>no", "src=", "@import"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	for _, want := range []string{`[0,0,10000,50000,0,0,7,3]`, `[1,30000,0,40000,0,1,null,null,"`, `"lanes":3`,
		"conversation of a"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestTicks(t *testing.T) {
	for _, test := range []struct {
		limit float64
		want  []float64
	}{
		{10, []float64{0, 2, 4, 6, 8, 10}}, {1, []float64{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1}}, {0, []float64{0}},
		{8.64, []float64{0, 2, 4, 6, 8}},
	} {
		if got := ticks(test.limit, 5); !slices.Equal(got, test.want) {
			t.Errorf("%v: got %v", test.limit, got)
		}
	}
}

func TestPictureOfManyLanesIsBounded(t *testing.T) {
	for _, lanes := range []int{1, 100, 4000, 1_000_000} {
		c := Swimlane{Lanes: lanes, EndNS: 1}
		l := c.layout()
		if height := l.lanesBottom - l.lanesTop; height > tallest+1 || lanes <= 4000 && l.laneHeight < minLane {
			t.Errorf("%d lanes of %v are %v high", lanes, l.laneHeight, height)
		}
	}
}
