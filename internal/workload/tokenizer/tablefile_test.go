package tokenizer_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/workload/tokenizer"
)

// The layout of a file: a head, and for each section its name and more.
const (
	headSize = 32
	nameSize = 16
	rowSize  = nameSize + 16
)

func sample() []byte {
	w := &tokenizer.TableWriter{}
	w.Bytes("text", []byte("hello"))
	tokenizer.WriteNumbers(w, "words", []uint32{1, 1 << 31, 3})
	tokenizer.WriteNumbers(w, "scores", []float64{-1.5, 2})
	w.Bytes("nothing", nil)
	return w.File()
}

func TestSectionsComeBack(t *testing.T) {
	for shift := range 8 { // wherever the file lies in memory
		data := append(make([]byte, shift, 1024), sample()...)[shift:]
		f, err := tokenizer.OpenTables(data)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := f.Text("text"); err != nil || text != "hello" {
			t.Errorf("got %q, %v", text, err)
		}
		if words, err := tokenizer.Numbers[uint32](f, "words"); err != nil ||
			!slices.Equal(words, []uint32{1, 1 << 31, 3}) {
			t.Errorf("got %v, %v", words, err)
		}
		scores, err := tokenizer.Numbers[float64](f, "scores")
		if err != nil || !slices.Equal(scores, []float64{-1.5, 2}) {
			t.Errorf("got %v, %v", scores, err)
		}
		if text, err := f.Text("nothing"); err != nil || text != "" {
			t.Errorf("got %q, %v", text, err)
		}
		if _, err := f.Text("other"); err == nil || !strings.Contains(err.Error(), `lacks the section "other"`) {
			t.Errorf("got %v", err)
		}
		if _, err := tokenizer.Numbers[uint64](f, "text"); err == nil ||
			!strings.Contains(err.Error(), "numbers of 8 bytes") {
			t.Errorf("got %v", err)
		}
	}
}

// resealed gives a changed file the right checksum.
func resealed(data []byte) []byte {
	binary.LittleEndian.PutUint32(data[12:], crc32.Checksum(data[16:], crc32.MakeTable(crc32.Castagnoli)))
	return data
}

func TestDamagedFilesSayWhy(t *testing.T) {
	for want, change := range map[string]func(data []byte) []byte{
		"is not a packed":     func(d []byte) []byte { return d[:20] },
		"first bytes":         func(d []byte) []byte { d[6] = '\n'; return d },
		"version 2":           func(d []byte) []byte { d[8] = 2; return d },
		"truncated":           func(d []byte) []byte { return d[:len(d)-1] },
		"checksum is wrong":   func(d []byte) []byte { d[len(d)-1] ^= 1; return d },
		"lists more sections": func(d []byte) []byte { d[26] = 1; return resealed(d) },
		"outside the packed":  func(d []byte) []byte { d[headSize+nameSize+8+3] = 1; return resealed(d) },
		`"text" lies outside`: func(d []byte) []byte { d[headSize+nameSize] = 1; return resealed(d) },
		"should have 123": func(d []byte) []byte {
			binary.LittleEndian.PutUint64(d[16:],
				123)
			return resealed(d)
		},
		"extended: it has 1": func(d []byte) []byte { return append(d, make([]byte, 1000)...) },
	} {
		if _, err := tokenizer.OpenTables(change(sample())); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}

// FuzzOpen reads any bytes behind a right head.
func FuzzOpenTables(f *testing.F) {
	f.Add(sample()[16:])
	f.Fuzz(func(t *testing.T, rest []byte) {
		data := append(sample()[:16], rest...) // the magic, the version and what is the checksum
		if len(data) >= headSize {
			binary.LittleEndian.PutUint64(data[16:], uint64(len(data)))
			resealed(data)
		}
		file, err := tokenizer.OpenTables(data)
		if err != nil {
			return
		}
		rows := data[headSize:]
		for range binary.LittleEndian.Uint32(data[24:]) {
			name := string(bytes.TrimRight(rows[:nameSize], "\x00"))
			if rows = rows[rowSize:]; !file.Has(name) {
				t.Fatalf("the section %q is not found", name)
			}
			if words, err := tokenizer.Numbers[uint64](file, name); err == nil {
				_ = slices.Max(append(words, 0))
			}
		}
	})
}
