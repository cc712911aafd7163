package media

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// The test binary is its own ffmpeg: it writes down what it was asked and how much it was given.
const fakeFFmpeg = "AIPERF_TEST_FFMPEG"

func TestMain(m *testing.M) {
	switch os.Getenv(fakeFFmpeg) {
	case "":
		os.Exit(m.Run())
	case "fail":
		fmt.Fprintln(os.Stderr, "Unknown encoder 'nothing'")
		os.Exit(1)
	case "hang":
		time.Sleep(time.Minute)
	}
	in, err := io.ReadAll(os.Stdin)
	if err == nil {
		err = os.WriteFile(os.Args[len(os.Args)-1],
			fmt.Appendf(nil, "%d %s", len(in), strings.Join(os.Args[1:len(os.Args)-1], " ")), 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func self(t *testing.T, mode string) string {
	t.Helper()
	t.Setenv(fakeFFmpeg, mode)
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var video = VideoClip{Width: 64, Height: 48, Seconds: 1.5, FPS: 4, Show: MovingShapes, Format: "webm",
	Codec:      "libvpx-vp9",
	AudioCodec: "libvorbis"}

func TestFilmIsHandedToFFmpeg(t *testing.T) {
	ffmpeg := self(t, "record")
	with := video
	with.Format, with.Sound, with.Width = "mp4", Clip{Seconds: 1.5, RateHz: 8000, Depth: 16, Channels: 1}, 63
	for _, c := range []struct {
		video   VideoClip
		bytes   int
		words   []string
		without string
	}{
		{video, 64 * 48 * 3 * 6, []string{"-s 64x48 -r 4 -i pipe:0", "-c:v libvpx-vp9 -pix_fmt yuv420p", "-f webm"},
			"-c:a"},
		{with, 63 * 48 * 3 * 6, []string{"sound.wav -c:a libvorbis", "pad=", "+faststart", "-f mp4"}, "webm"},
	} {
		text, err := c.video.Make(context.Background(), ffmpeg, rng(1), rng(2))
		if err != nil {
			t.Fatal(err)
		}
		said := string(decoded(t, text, "data:video/"+c.video.Format+";base64,"))
		for _, word := range append(c.words, fmt.Sprintf("%d ", c.bytes)) {
			if !strings.Contains(said, word) {
				t.Errorf("%q is not in %s", word, said)
			}
		}
		if strings.Contains(said, c.without) {
			t.Errorf("%q is in %s", c.without, said)
		}
	}
}

func TestFailureOfFFmpegIsTold(t *testing.T) {
	_, err := video.Make(context.Background(), self(t, "fail"), rng(1), rng(2))
	if err == nil || !strings.Contains(err.Error(), "Unknown encoder 'nothing'") ||
		!strings.Contains(err.Error(), "--video-codec") {
		t.Errorf("error %v", err)
	}
}

func TestFilmEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := video.Make(ctx, self(t, "hang"), rng(1), rng(2)); err != context.DeadlineExceeded {
		t.Errorf("error %v", err)
	}
}

func TestMissingFFmpeg(t *testing.T) {
	t.Setenv("PATH", "")
	_, err := FFmpeg()
	if err == nil || !strings.Contains(err.Error(), "--video-width") || !strings.Contains(err.Error(), "install") {
		t.Errorf("error %v", err)
	}
}

func frame(show string, w, h, i, n int) *canvas {
	c := &canvas{w, h, make([]byte, w*h*3)}
	c.paint(show, i, n, rng(uint64(i)))
	return c
}

func (c *canvas) at(x, y int) colour { return colour(c.pix[(y*c.w+x)*3 : (y*c.w+x)*3+3]) }

func TestMovingShapes(t *testing.T) {
	const w, h, n = 200, 120, 20
	red, green, blue := colour{255, 0, 0}, colour{0, 255, 0}, colour{0, 0, 255}
	for _, c := range []struct {
		frame, x, y int
		want        colour
	}{
		{0, 0, h / 2, red}, {0, w - 1, h / 2, red}, // half of it comes back on the other side
		{5, w / 2, h / 2, green}, // the square is drawn over the disc
		{6, 120, h / 2, red}, {6, w / 2, 72, green},
		{10, 50, 30, blue}, {0, 40, 20, colour{}},
	} {
		if got := frame(MovingShapes, w, h, c.frame, n).at(c.x, c.y); got != c.want {
			t.Errorf("frame %d at %d,%d is %v, want %v", c.frame, c.x, c.y, got, c.want)
		}
	}
}

func TestGridClock(t *testing.T) {
	first, quarter := frame(GridClock, 128, 128, 0, 40), frame(GridClock, 128, 128, 10, 40)
	hand := colour{255, 64, 64}
	if first.at(64, 40) != hand || quarter.at(88, 64) != hand {
		t.Errorf("the quick hand is %v up at first and %v right after a quarter", first.at(64, 40), quarter.at(88, 64))
	}
	if first.at(96, 100) != (colour{80, 80, 80}) || first.at(100, 100) != (colour{40, 40, 40}) {
		t.Errorf("the grid is %v on %v", first.at(96, 100), first.at(100, 100))
	}
	if bytes.Equal(first.pix[:128*3*16], quarter.pix[:128*3*16]) {
		t.Error("the number does not change")
	}
}

func TestNoiseFrames(t *testing.T) {
	a, b := frame(NoiseVideo, 33, 17, 1, 9), frame(NoiseVideo, 33, 17, 2, 9)
	if slices.Equal(a.pix, b.pix) || a.pix[len(a.pix)-1] == 0 && a.pix[len(a.pix)-2] == 0 {
		t.Error("the frames are not noise")
	}
}
