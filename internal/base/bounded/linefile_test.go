package bounded_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"aiperf/internal/base/bounded"
)

// written returns a text of lines in several frames, and the path without .zst of its file.
func written(t *testing.T) (text []byte, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "x.jsonl")
	file, err := os.Create(path + bounded.CompressedSuffix)
	if err != nil {
		t.Fatal(err)
	}
	c, err := bounded.NewCompressor(file)
	if err != nil {
		t.Fatal(err)
	}
	for frame := range 20 {
		var part []byte
		for i := range 1 + frame*500 {
			part = fmt.Appendf(part, "{\"line\":%d,\"of\":%d}\n", i, frame)
		}
		if frame == 7 {
			part = append(bytes.Repeat([]byte("a"), 1<<20), '\n') // blocks of one repeated byte
		}
		if n, err := c.Write(part); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
		text = append(text, part...)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return text, path
}

func readAll(t *testing.T, path string) []byte {
	t.Helper()
	f, err := bounded.OpenCompressed(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestCompressedLinesAreReadBack(t *testing.T) {
	text, path := written(t)
	if got := readAll(t, path); !bytes.Equal(got, text) {
		t.Fatalf("%d bytes of %d", len(got), len(text))
	}
	if got := readAll(t, path+bounded.CompressedSuffix); !bytes.Equal(got, text) {
		t.Fatalf("by its own name: %d bytes of %d", len(got), len(text))
	}
	if info, err := bounded.StatCompressed(path); err != nil || info.Size() >= int64(len(text))/5 {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.WriteFile(path, []byte("plain\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, path); string(got) != "plain\n" {
		t.Errorf("the plain file does not come first: %.20q", got)
	}
}

func TestAnyPlaceIsRead(t *testing.T) {
	text, path := written(t)
	check := func(name string) {
		f, err := bounded.OpenCompressed(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		random := rand.New(rand.NewPCG(1, 2))
		for range 200 {
			at := random.IntN(len(text))
			p := make([]byte, 1+random.IntN(100_000))
			n, err := f.ReadAt(p, int64(at))
			want := text[at:min(at+len(p), len(text))]
			if !bytes.Equal(p[:n], want) || (err == nil) != (len(want) == len(p)) || err != nil && err != io.EOF {
				t.Fatalf("%s: %d of %d bytes at %d, %v", name, n, len(want), at, err)
			}
		}
	}
	check("own frames")
	// Another tool writes one frame that does not say its size.
	var whole bytes.Buffer
	w, err := zstd.NewWriter(&whole)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(text[:len(text)/2])
	w.Flush()
	w.Write(text[len(text)/2:])
	w.Close()
	if err := os.WriteFile(path+bounded.CompressedSuffix, whole.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	check("another tool's")
}

// What a killed process left is read up to a whole block; a damaged file is an error.
func TestCutAndDamagedFiles(t *testing.T) {
	text, path := written(t)
	data, err := os.ReadFile(path + bounded.CompressedSuffix)
	if err != nil {
		t.Fatal(err)
	}
	for cut := 0; cut < len(data); cut += len(data)/97 + 1 {
		if err := os.WriteFile(path+bounded.CompressedSuffix, data[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		if got := readAll(t, path); !bytes.HasPrefix(text, got) {
			t.Fatalf("cut at %d: what is read is not the beginning", cut)
		}
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(path+bounded.CompressedSuffix, data, 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := bounded.OpenCompressed(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.Copy(io.Discard, f); err == nil {
		t.Error("a damaged file is read without an error")
	}
}

func TestAFailedWriteLeavesWholeFrames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl")
	file, err := os.Create(path + bounded.CompressedSuffix)
	if err != nil {
		t.Fatal(err)
	}
	c, err := bounded.NewCompressor(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte("first\n")); err != nil {
		t.Fatal(err)
	}
	file.Close()
	if n, err := c.Write([]byte("second\n")); n != 0 || err == nil {
		t.Errorf("%d, %v", n, err)
	}
	if got := readAll(t, path); string(got) != "first\n" {
		t.Errorf("%q", got)
	}
}

func FuzzFile(f *testing.F) {
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(encoder.EncodeAll([]byte("{}\n{}\n"), nil), int64(3))
	f.Fuzz(func(t *testing.T, data []byte, at int64) {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path+bounded.CompressedSuffix, data, 0o644); err != nil {
			t.Fatal(err)
		}
		file, err := bounded.OpenCompressed(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		text, err := io.ReadAll(io.LimitReader(file, 1<<20))
		if at < 0 || err != nil || at >= int64(len(text)) || len(text) == 1<<20 {
			return
		}
		p := make([]byte, 1)
		if _, err := file.ReadAt(p, at); err != nil || p[0] != text[at] {
			t.Fatalf("at %d: %q, %v; want %q", at, p, err, text[at:at+1])
		}
	})
}
