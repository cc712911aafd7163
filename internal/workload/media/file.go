package media

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/draw"
	_ "image/jpeg" // a format of Decode
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/base/bounded"
)

// Kind is a modality that is not text.
type Kind string

// The kinds.
const (
	Image Kind = "image"
	Audio Kind = "audio"
	Video Kind = "video"
)

// containers are the names of files that sound and video may come in.
var containers = map[Kind][]string{Audio: {"wav", "mp3"}, Video: {"mp4", "webm"}}

// Resolve makes of what a dataset file says the text that a request carries: what is encoded already and
// URLs stay, the name of a local file becomes the file, encoded. Bytes of a file are sent as they are.
func Resolve(kind Kind, text string) (string, error) {
	switch scheme, host := address(text); {
	case kind == Audio && (strings.HasPrefix(text, "wav,") || strings.HasPrefix(text, "mp3,")):
		return text, nil
	case kind != Audio && scheme == "data":
		return text, nil
	case scheme == "data":
		return "", errors.New(`audio is written as "wav,<base64>" or "mp3,<base64>", not as a data URL`)
	case scheme != "" && host != "":
		return text, nil
	case scheme != "" || host != "":
		return "", errors.New("this is neither a URL with a scheme and a host nor the name of a file")
	}
	data, err := bounded.ReadFile(text)
	if err != nil {
		return "", fmt.Errorf("the %s file cannot be read: %w", kind, err)
	}
	if kind == Image {
		_, format, err := image.DecodeConfig(bytes.NewReader(data))
		if err != nil {
			return "", fmt.Errorf("%s is not a PNG or JPEG picture: %w", text, err)
		}
		return DataURL("image/"+format, data), nil
	}
	format := strings.ToLower(strings.TrimPrefix(filepath.Ext(text), "."))
	if !slices.Contains(containers[kind], format) {
		return "", fmt.Errorf("%s: want a %s file", text, strings.Join(containers[kind], " or "))
	}
	if kind == Audio {
		return AudioText(format, data), nil
	}
	return DataURL("video/"+format, data), nil
}

// address splits off the scheme and the host of a URL. One letter and a colon is a drive, no scheme.
func address(text string) (scheme, host string) {
	rest := text
	if i := strings.IndexByte(text, ':'); i > 1 && isScheme(text[:i]) {
		scheme, rest = strings.ToLower(text[:i]), text[i+1:]
	}
	if after, ok := strings.CutPrefix(rest, "//"); ok && scheme != "data" {
		host = after
		if i := strings.IndexAny(after, "/?#"); i >= 0 {
			host = after[:i]
		}
	}
	return scheme, host
}

func isScheme(s string) bool {
	for i, c := range []byte(s) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || c != '+' && c != '-' && c != '.' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != ""
}

// Seconds returns the length of sound as requests carry it, 0 if it is not known: that of a WAV stands in
// its header.
func Seconds(text string) float64 {
	data, ok := strings.CutPrefix(text, "wav,")
	if !ok {
		return 0
	}
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return 0
	}
	seconds, _ := WAVSeconds(b)
	return seconds
}

// ReadPictures reads the PNG and JPEG files of a folder in the order of their names.
func ReadPictures(folder string) ([]*image.RGBA, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var all []*image.RGBA
	for _, e := range entries {
		switch strings.ToLower(filepath.Ext(e.Name())) {
		case ".png", ".jpg", ".jpeg":
		default:
			continue
		}
		path := filepath.Join(folder, e.Name())
		data, err := bounded.ReadFile(path)
		if err != nil {
			return nil, err
		}
		picture, _, err := image.Decode(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("%s is not a PNG or JPEG picture: %w", path, err)
		}
		flat := image.NewRGBA(image.Rect(0, 0, picture.Bounds().Dx(), picture.Bounds().Dy()))
		draw.Draw(flat, flat.Rect, image.White, image.Point{}, draw.Src)
		draw.Draw(flat, flat.Rect, picture, picture.Bounds().Min, draw.Over)
		all = append(all, flat)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s holds no .png, .jpg or .jpeg file", folder)
	}
	return all, nil
}
