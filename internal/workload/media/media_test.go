package media

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/random"
)

func rng(k uint64) *random.Rand {
	r := random.Root(42).Stream("test").At(k)
	return &r
}

// decoded is the bytes of a text that requests carry, behind its prefix.
func decoded(t *testing.T, text, prefix string) []byte {
	t.Helper()
	data, ok := strings.CutPrefix(text, prefix)
	if !ok {
		t.Fatalf("%.40s… does not begin with %s", text, prefix)
	}
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTrapSizeOfASecondOfSound(t *testing.T) {
	for _, c := range []struct {
		clip Clip
		want int
	}{
		{Clip{Format: "wav", Seconds: 1, RateHz: 16000, Depth: 16, Channels: 1}, 44 + 32000},
		{Clip{Format: "wav", Seconds: 1, RateHz: 44100, Depth: 24, Channels: 2}, 44 + 44100*6},
		{Clip{Format: "wav", Seconds: 0.5, RateHz: 8000, Depth: 32, Channels: 1}, 44 + 16000},
		{Clip{Format: "wav", Seconds: 0.01, RateHz: 11100, Depth: 8, Channels: 1}, 44 + 111 + 1},
	} {
		b := decoded(t, c.clip.Noise(rng(1)), "wav,")
		if len(b) != c.want {
			t.Errorf("%+v has %d bytes, want %d", c.clip, len(b), c.want)
		}
		if n := binary.LittleEndian.Uint32(b[4:]); int(n) != len(b)-8 {
			t.Errorf("%+v: the container says %d bytes, has %d", c.clip, n, len(b)-8)
		}
		if s, ok := WAVSeconds(b); !ok || math.Abs(s-float64(c.clip.samples())/float64(c.clip.RateHz)) > 1e-9 {
			t.Errorf("%+v lasts %v (%v)", c.clip, s, ok)
		}
	}
}

// The noise is normal with a deviation of 0.3 of full scale, at each depth.
func TestNoiseOfSound(t *testing.T) {
	for _, depth := range []int{8, 16, 24, 32} {
		b := Clip{Seconds: 4, RateHz: 16000, Depth: depth, Channels: 1}.wav(rng(2))[wavHeader:]
		n, sum, squares, within := 0, 0.0, 0.0, 0
		for ; len(b) >= depth/8; b = b[depth/8:] {
			var v int32
			switch depth {
			case 8:
				v = int32(int8(b[0]^0x80)) << 24
			default:
				for i := range depth / 8 {
					v |= int32(b[i]) << (32 - depth + 8*i)
				}
			}
			x := float64(v) / (1 << 31)
			n, sum, squares = n+1, sum+x, squares+x*x
			if math.Abs(x) < sigma {
				within++
			}
		}
		mean, deviation := sum/float64(n), math.Sqrt(squares/float64(n))
		if n != 64000 || math.Abs(mean) > 0.01 || math.Abs(deviation-0.3) > 0.006 {
			t.Errorf("depth %d: %d samples, mean %.4f, deviation %.4f", depth, n, mean, deviation)
		}
		if share := float64(within) / float64(n); math.Abs(share-0.6827) > 0.02 {
			t.Errorf("depth %d: %.3f of the samples lie within one deviation", depth, share)
		}
	}
}

// The frames of an MP3 follow each other without a gap, and the data that each one announces fits in.
func TestFramesOfMP3(t *testing.T) {
	for _, rate := range slices.Concat(mp3Rates[0][:], mp3Rates[1][:], mp3Rates[2][:]) {
		for channels := 1; channels <= 2; channels++ {
			t.Run(fmt.Sprintf("%d Hz, %d channels", rate, channels), func(t *testing.T) {
				clip := Clip{Format: "mp3", Seconds: 1.5, RateHz: rate, Channels: channels}
				b := decoded(t, clip.Noise(rng(3)), "mp3,")
				whole, samples := len(b), 0
				for len(b) > 0 {
					version, step := int(b[1]>>3&3), lines
					row := map[int]int{3: 0, 2: 1, 0: 2}[version]
					if version == 3 {
						step = 2 * lines
					}
					if b[0] != 0xff || b[1]&0xe7 != 0xe3 || mp3Rates[row][b[2]>>2&3] != rate ||
						(b[3]>>6 == 3) != (channels == 1) {
						t.Fatalf("the frame at %d has the header % x", whole-len(b), b[:4])
					}
					size := step / 8 * mp3Bitrates[min(row, 1)][b[2]>>4-1] * 1000 / rate
					size += int(b[2] >> 1 & 1)
					if size > len(b) {
						t.Fatalf("the frame at %d has %d bytes, %d are left", whole-len(b), size, len(b))
					}
					readGranules(t, b[4:size], row == 0, channels)
					b, samples = b[size:], samples+step
				}
				if short := samples - clip.samples(); short < 0 || short >= 2*lines {
					t.Errorf("%d samples for %d", samples, clip.samples())
				}
			})
		}
	}
}

// readGranules reads the spectra as the side information announces them.
func readGranules(t *testing.T, b []byte, mpeg1 bool, channels int) {
	t.Helper()
	at := 0
	bits := func(n int) (v int) {
		for range n {
			v = v<<1 | int(b[at/8]>>(7-at%8)&1)
			at++
		}
		return v
	}
	granules, scale, side := channels, 9, 8+channels
	if mpeg1 {
		granules, scale, side = 2*channels, 4, 9+[]int{5, 3}[channels-1]+4*channels
	}
	if begin := bits(side) >> (side - 8); begin != 0 {
		t.Fatalf("the data begins %d bytes before the frame", begin)
	}
	var sizes []int
	for range granules {
		sizes = append(sizes, bits(12))
		if pairs := bits(9); pairs != lines/2 {
			t.Fatalf("%d pairs", pairs)
		}
		bits(8 + scale + 1)
		if tables := bits(15); tables != 0b00001_00001_00001 {
			t.Fatalf("tables %015b", tables)
		}
		bits(4 + 3 + 2)
		if mpeg1 {
			bits(1)
		}
	}
	at = (at + 7) / 8 * 8
	for _, size := range sizes {
		start, set := at, 0
		for range lines / 2 {
			signs := 0
			if bits(1) == 0 {
				if signs = 1; bits(1) == 0 {
					if bits(1) == 0 {
						signs = 2
					}
				}
			}
			bits(signs)
			set += signs
		}
		if at-start != size {
			t.Fatalf("a granule of %d bits announces %d", at-start, size)
		}
		if set < lines*80/100 {
			t.Fatalf("only %d lines are set", set)
		}
	}
}

// Sound and pictures of a seed are frozen: they are the same on every machine and in every release.
func TestTrapSameSeedSameBytesOnEveryMachine(t *testing.T) {
	for name, c := range map[string]struct {
		bytes []byte
		want  string
	}{
		"wav":   {Clip{Seconds: 1, RateHz: 16000, Depth: 32, Channels: 2}.wav(rng(4)), "fe24dbd3f0a56478"},
		"mp3":   {Clip{Seconds: 1, RateHz: 44100, Channels: 2}.mp3(rng(4)), "a255ac7f269bdb75"},
		"noise": {NoisePicture(rng(4), 61, 33).Pix, "ed8a88fe89034f10"},
		"scene": {Scene(3, 61, 33).Pix, "f79eb2f1c83b9816"},
		"small": {Resize(Scene(3, 61, 33), 17, 9).Pix, "d9f4c037c7c9145a"},
		"large": {Resize(Scene(3, 61, 33), 130, 77).Pix, "e04346a13192f9c0"},
		"jpeg":  {appendJPEG(nil, Scene(3, 61, 33)), "94576c830a02d824"},
	} {
		sum := sha256.Sum256(c.bytes)
		if got := hex.EncodeToString(sum[:8]); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// psnr is how near a picture is to another one, in decibels.
func psnr(a, b image.Image) float64 {
	sum, n := 0.0, 0
	for y := range a.Bounds().Dy() {
		for x := range a.Bounds().Dx() {
			p, q := color.RGBAModel.Convert(a.At(x, y)).(color.RGBA), color.RGBAModel.Convert(b.At(x, y)).(color.RGBA)
			for _, d := range []float64{float64(p.R) - float64(q.R), float64(p.G) - float64(q.G),
				float64(p.B) - float64(q.B)} {
				sum, n = sum+d*d, n+1
			}
		}
	}
	return 10 * math.Log10(255*255*float64(n)/sum)
}

func TestPicturesDecode(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {8, 8}, {17, 9}, {64, 48}, {200, 121}} {
		w, h := size[0], size[1]
		for _, source := range []*image.RGBA{Scene(2, w, h), NoisePicture(rng(5), w, h)} {
			text, err := EncodePicture(source, PNG)
			if err != nil {
				t.Fatal(err)
			}
			exact, err := png.Decode(bytes.NewReader(decoded(t, text, "data:image/png;base64,")))
			if err != nil || !math.IsInf(psnr(source, exact), 1) {
				t.Errorf("%dx%d: the PNG differs (%v)", w, h, err)
			}
			if text, err = EncodePicture(source, JPEG); err != nil {
				t.Fatal(err)
			}
			near, err := jpeg.Decode(bytes.NewReader(decoded(t, text, "data:image/jpeg;base64,")))
			if err != nil {
				t.Fatalf("%dx%d: %v", w, h, err)
			}
			if near.Bounds().Dx() != w || near.Bounds().Dy() != h {
				t.Errorf("%dx%d became %v", w, h, near.Bounds())
			}
			if ratio := near.(*image.YCbCr).SubsampleRatio; ratio != image.YCbCrSubsampleRatio444 {
				t.Errorf("%dx%d: the colours are sampled %v", w, h, ratio)
			}
			if db := psnr(source, near); db < 24 {
				t.Errorf("%dx%d: the JPEG is %.1f dB near", w, h, db)
			}
		}
	}
}

func TestPayloadGrowsWithResolution(t *testing.T) {
	for _, format := range []string{PNG, JPEG} {
		var last int
		for _, side := range []int{32, 64, 128, 256} {
			text, err := EncodePicture(Scene(1, side, side), format)
			if err != nil {
				t.Fatal(err)
			}
			if 2*len(text) < 3*last {
				t.Errorf("%s of %d by %d has %d bytes, of half the sides %d", format, side, side, len(text), last)
			}
			last = len(text)
		}
	}
}

func TestResize(t *testing.T) {
	src := image.NewRGBA(image.Rect(0, 0, 2, 2))
	for i, v := range []byte{0, 100, 200, 40} {
		src.SetRGBA(i%2, i/2, color.RGBA{v, v, v, 255})
	}
	row := func(img *image.RGBA, y int) (values []int) {
		for x := range img.Rect.Dx() {
			values = append(values, int(img.RGBAAt(x, y).R))
		}
		return values
	}
	for _, c := range []struct {
		w, h, y int
		want    []int
	}{
		{1, 1, 0, []int{85}},
		{2, 1, 0, []int{100, 70}},
		{4, 2, 0, []int{0, 25, 75, 100}},
		{4, 2, 1, []int{200, 160, 80, 40}},
		{3, 2, 0, []int{0, 50, 100}},
	} {
		img := Resize(src, c.w, c.h)
		if got := row(img, c.y); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%dx%d row %d = %v, want %v", c.w, c.h, c.y, got, c.want)
		}
		if img.RGBAAt(0, 0).A != 255 {
			t.Errorf("%dx%d is not opaque", c.w, c.h)
		}
	}
}

func write(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTrapMediaOfFiles(t *testing.T) {
	var picture bytes.Buffer
	if err := png.Encode(&picture, Scene(0, 5, 4)); err != nil {
		t.Fatal(err)
	}
	pngFile := write(t, "p.bin", picture.Bytes())
	jpegFile := write(t, "x.jpg", appendJPEG(nil, Scene(0, 5, 4)))
	wav := write(t, "x.wav", []byte("W"))
	mp4 := write(t, "x.MP4", []byte("V"))
	text := write(t, "x.txt", []byte("no picture"))
	for _, c := range []struct {
		kind Kind
		text string
		want string // or the error, after "!"
	}{
		{Image, "http://h/x.png", "http://h/x.png"},
		{Image, "data:image/png;base64,QQ==", "data:image/png;base64,QQ=="},
		{Image, "file:///x.png", "!neither a URL"},
		{Image, "//h/x.png", "!neither a URL"},
		{Image, "mailto:x.png", "!neither a URL"},
		{Image, pngFile, "data:image/png;base64,"},
		{Image, jpegFile, "data:image/jpeg;base64,"},
		{Image, text, "!not a PNG or JPEG"},
		{Image, "missing.png", "!missing.png"},
		{Image, `C:\missing.png`, "!cannot be read"},
		{Audio, "wav,QQ==", "wav,QQ=="},
		{Audio, "mp3,QQ==", "mp3,QQ=="},
		{Audio, "data:audio/wav;base64,QQ==", "!not as a data URL"},
		{Audio, "https://h/a.wav", "https://h/a.wav"},
		{Audio, wav, "wav,Vw=="},
		{Audio, mp4, "!want a wav or mp3 file"},
		{Video, mp4, "data:video/mp4;base64,Vg=="},
		{Video, wav, "!want a mp4 or webm file"},
		{Video, "data:video/webm;base64,QQ==", "data:video/webm;base64,QQ=="},
	} {
		got, err := Resolve(c.kind, c.text)
		if wrong, isError := strings.CutPrefix(c.want, "!"); isError {
			if err == nil || !strings.Contains(err.Error(), wrong) {
				t.Errorf("%s %s: error %v, want one with %q", c.kind, c.text, err, wrong)
			}
			continue
		}
		if err != nil || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %s = %.60s (%v), want %s", c.kind, c.text, got, err, c.want)
		}
	}
}

func TestSecondsOfSound(t *testing.T) {
	clip := Clip{Format: "wav", Seconds: 2.5, RateHz: 8000, Depth: 16, Channels: 2}.Noise(rng(6))
	for text, want := range map[string]float64{clip: 2.5, "mp3,QQ==": 0, "wav,QQ==": 0, "wav,%": 0,
		"https://h/x.wav": 0} {
		if got := Seconds(text); got != want {
			t.Errorf("%.20s lasts %v, want %v", text, got, want)
		}
	}
}

func TestReadPictures(t *testing.T) {
	folder := t.TempDir()
	if _, err := ReadPictures(folder); err == nil || !strings.Contains(err.Error(), folder) {
		t.Errorf("an empty folder: %v", err)
	}
	half := image.NewNRGBA(image.Rect(0, 0, 1, 1))
	half.SetNRGBA(0, 0, color.NRGBA{0, 0, 0, 128})
	var b bytes.Buffer
	if err := png.Encode(&b, half); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"b.PNG": b.Bytes(), "a.jpeg": appendJPEG(nil, Scene(0, 9, 3)),
		"notes.txt": []byte("x")} {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	pictures, err := ReadPictures(folder)
	if err != nil || len(pictures) != 2 || pictures[0].Rect.Dx() != 9 {
		t.Fatalf("%d pictures, %v", len(pictures), err)
	}
	if c := pictures[1].RGBAAt(0, 0); c.A != 255 || c.R != 127 {
		t.Errorf("half black on white became %v", c)
	}
	if err := os.WriteFile(filepath.Join(folder, "c.png"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadPictures(folder); err == nil || !strings.Contains(err.Error(), "c.png") {
		t.Errorf("a file that is no picture: %v", err)
	}
}

func FuzzWAVSeconds(f *testing.F) {
	f.Add(Clip{Seconds: 0.1, RateHz: 8000, Depth: 16, Channels: 1}.wav(rng(7)))
	f.Add([]byte("RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, ok := WAVSeconds(b); ok && (s < 0 || math.IsNaN(s) || math.IsInf(s, 0)) {
			t.Errorf("%v seconds", s)
		}
	})
}

func FuzzAddress(f *testing.F) {
	for _, s := range []string{"http://h/x", "C:/x", "data:,x", "//h", "a+b:c", ":"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if scheme, host := address(text); len(scheme)+len(host) > len(text) {
			t.Errorf("%q: scheme %q, host %q", text, scheme, host)
		}
	})
}

func BenchmarkPicture(b *testing.B) {
	for _, format := range []string{PNG, JPEG} {
		b.Run(format, func(b *testing.B) {
			img := NoisePicture(rng(8), 512, 512)
			b.SetBytes(int64(len(img.Pix)))
			for b.Loop() {
				if _, err := EncodePicture(img, format); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSound(b *testing.B) {
	for _, format := range []string{"wav", "mp3"} {
		b.Run(format, func(b *testing.B) {
			clip := Clip{Format: format, Seconds: 10, RateHz: 16000, Depth: 16, Channels: 1}
			r := rng(9)
			for b.Loop() {
				clip.Noise(r)
			}
		})
	}
}
