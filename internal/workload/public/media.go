package public

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // pictures of rows may be GIF
	"image/jpeg"
	_ "image/png" // or PNG
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/mewkiz/flac"

	"aiperf/internal/base/bounded"
	"aiperf/internal/workload/media"
)

// content returns what a media value of a row holds: its bytes, or the address under which the server finds them.
func (c *converter) content(v any) (data []byte, address string, err error) {
	for {
		list, ok := v.([]any)
		if !ok {
			break
		}
		if len(list) == 0 {
			return nil, "", nil
		}
		v = list[0]
	}
	if m, ok := v.(map[string]any); ok {
		if data, ok := m["bytes"].([]byte); ok && len(data) > 0 {
			return data, "", nil
		}
		if v = m["path"]; v == nil {
			v = m["src"]
		}
	}
	switch v := v.(type) {
	case nil:
		return nil, "", nil
	case []byte:
		return v, "", nil
	case string:
		if u, err := url.Parse(v); v == "" || err == nil && u.Scheme != "" && len(u.Scheme) > 1 {
			return nil, v, nil
		}
		if !filepath.IsLocal(filepath.FromSlash(v)) {
			return nil, v, nil
		}
		data, err := bounded.ReadFile(filepath.Join(filepath.Dir(c.reading.file), filepath.FromSlash(v)))
		if err != nil {
			return nil, v, nil // c name that means something to the server alone
		}
		return data, "", nil
	}
	return nil, "", errors.New("neither bytes nor an address")
}

// image returns a picture as JPEG.
func (c *converter) image(v any) (string, error) {
	data, address, err := c.content(v)
	if err != nil || len(data) == 0 {
		return address, err
	}
	if http.DetectContentType(data) == "image/jpeg" {
		return media.DataURL("image/jpeg", data), nil
	}
	picture, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return "", fmt.Errorf("a picture that cannot be decoded: %w", err)
	}
	const quality = 85
	var out bytes.Buffer
	if err := jpeg.Encode(&out, picture, &jpeg.Options{Quality: quality}); err != nil {
		return "", err
	}
	return media.DataURL("image/jpeg", out.Bytes()), nil
}

// video returns an address, or the video itself.
func (c *converter) video(v any) (string, error) {
	data, address, err := c.content(v)
	if err != nil {
		return "", err
	}
	if len(data) > 0 {
		kind := http.DetectContentType(data)
		if !strings.HasPrefix(kind, "video/") {
			kind = "video/mp4"
		}
		return media.DataURL(kind, data), nil
	}
	if address != "" && !strings.Contains(address, ":") {
		return "file://" + address, nil
	}
	return address, nil
}

// audio returns a recording as a wav or mp3 file, and its seconds; 0 if they are not known.
func (c *converter) audio(v any) (string, float64, error) {
	data, address, err := c.content(v)
	if err != nil || len(data) == 0 {
		return address, 0, err
	}
	switch {
	case bytes.HasPrefix(data, []byte("fLaC")):
		var seconds float64
		if data, seconds, err = unpackFLAC(data); err != nil {
			return "", 0, fmt.Errorf("a FLAC recording that cannot be decoded: %w", err)
		}
		return media.AudioText("wav", data), seconds, nil
	case bytes.HasPrefix(data, []byte("RIFF")):
		seconds, _ := media.WAVSeconds(data)
		return media.AudioText("wav", data), seconds, nil
	case bytes.HasPrefix(data, []byte("ID3")), len(data) > 1 && data[0] == 0xff && data[1]&0xe0 == 0xe0:
		return media.AudioText("mp3", data), 0, nil
	}
	return "", 0, errors.New("a recording that is neither WAV nor MP3 nor FLAC")
}

// unpackFLAC returns the recording as a wav file, which servers accept.
func unpackFLAC(data []byte) ([]byte, float64, error) {
	stream, err := flac.New(bytes.NewReader(data))
	if err != nil {
		return nil, 0, err
	}
	defer stream.Close()
	info := stream.Info
	width := (int(info.BitsPerSample) + 7) / 8
	if width < 2 || width > 4 || info.SampleRate == 0 {
		return nil, 0, fmt.Errorf("%d bits at %d Hz", info.BitsPerSample, info.SampleRate)
	}
	shift := width*8 - int(info.BitsPerSample)
	var pcm []byte
	for {
		frame, err := stream.ParseNext()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, 0, err
		}
		for i := range int(frame.BlockSize) {
			for _, channel := range frame.Subframes {
				v := uint32(channel.Samples[i] << shift)
				for k := range width {
					pcm = append(pcm, byte(v>>(8*k)))
				}
			}
		}
	}
	channels := int(info.NChannels)
	rate := int(info.SampleRate)
	wav := media.AppendWAV(nil, len(pcm), rate, 8*width, channels, func(b []byte) []byte { return append(b, pcm...) })
	return wav, float64(len(pcm)) / float64(width*channels) / float64(rate), nil
}
