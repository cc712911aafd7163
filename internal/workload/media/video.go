package media

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/random"
)

// VideoClip says how videos are made.
type VideoClip struct {
	Width, Height int
	Seconds       float64
	FPS           int
	Show          string // MovingShapes, GridClock or NoiseVideo
	Format        string // "webm" or "mp4"
	Codec         string // the name of an encoder of ffmpeg
	// Sound is the track of noise; no channels: silent. Its codec is AudioCodec.
	Sound      Clip
	AudioCodec string
}

// Frames returns the number of pictures of the video.
func (f VideoClip) Frames() int { return int(f.Seconds * float64(f.FPS)) }

// Same reports that all videos made so are the same: nothing in them is drawn.
func (f VideoClip) Same() bool { return f.Show != NoiseVideo && f.Sound.Channels == 0 }

// FFmpeg finds the program that encodes videos.
func FFmpeg() (string, error) {
	path, err := exec.LookPath("ffmpeg")
	if err == nil {
		return path, nil
	}
	hint := map[string]string{
		"darwin":  "brew install ffmpeg",
		"windows": "winget install ffmpeg",
	}[runtime.GOOS]
	if hint == "" {
		hint = "apt-get install ffmpeg or dnf install ffmpeg"
	}
	return "", fmt.Errorf("videos are encoded by ffmpeg, which is not on the PATH: install it (%s), or leave out "+
		"--video-width and --video-height", hint)
}

// Make encodes a video with the ffmpeg at path, as requests carry it.
func (f VideoClip) Make(ctx context.Context, ffmpeg string, pictures, sound *random.Rand) (string, error) {
	temporary, err := artifact.NewTemporary("video")
	if err != nil {
		return "", err
	}
	defer temporary.Remove()
	folder := temporary.Dir
	out := filepath.Join(folder, "video."+f.Format)
	track := ""
	if f.Sound.Channels > 0 {
		track = filepath.Join(folder, "sound.wav")
		if err := os.WriteFile(track, f.Sound.wav(sound), 0o600); err != nil {
			return "", err
		}
	}
	cmd := exec.CommandContext(ctx, ffmpeg, f.arguments(track, out)...)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	writeErr := f.writeFrames(in, pictures)
	in.Close()
	err = cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", fmt.Errorf("ffmpeg could not encode the video with --video-codec %s: %w: %s", f.Codec, err,
			lastLines(complaint.String()))
	case writeErr != nil:
		return "", fmt.Errorf("ffmpeg did not take the video's frames: %w", writeErr)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		return "", err
	}
	if len(data) == 0 {
		return "", errors.New("ffmpeg made an empty video")
	}
	return DataURL("video/"+f.Format, data), nil
}

func (f VideoClip) writeFrames(w io.Writer, r *random.Rand) error {
	c := canvas{f.Width, f.Height, make([]byte, f.Width*f.Height*3)}
	for i := range f.Frames() {
		c.paint(f.Show, i, f.Frames(), r)
		if _, err := w.Write(c.pix); err != nil {
			return err
		}
	}
	return nil
}

// arguments returns those of ffmpeg: raw frames on its input, and nothing in the file that differs from run
// to run.
func (f VideoClip) arguments(track, out string) []string {
	args := []string{"-hide_banner", "-loglevel", "error", "-y",
		"-f", "rawvideo", "-pix_fmt", "rgb24", "-s", fmt.Sprintf("%dx%d", f.Width, f.Height), "-r", strconv.Itoa(f.FPS),
		"-i", "pipe:0"}
	if track != "" {
		args = append(args, "-i", track, "-c:a", f.AudioCodec)
	}
	args = append(args, "-c:v", f.Codec, "-pix_fmt", "yuv420p", "-map_metadata", "-1", "-fflags", "+bitexact",
		"-flags:v", "+bitexact", "-flags:a", "+bitexact")
	if f.Width%2+f.Height%2 > 0 { // colours at half the resolution need even sides
		args = append(args, "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2")
	}
	if f.Format == "mp4" {
		args = append(args, "-movflags", "+faststart")
	}
	return append(args, "-f", f.Format, out)
}

// lastLines keeps the end of what a program complained about.
func lastLines(text string) string {
	const limit = 400
	text = strings.TrimSpace(text)
	if len(text) > limit {
		text = "…" + strings.ToValidUTF8(text[len(text)-limit:], "")
	}
	return strings.ReplaceAll(text, "\n", "; ")
}
