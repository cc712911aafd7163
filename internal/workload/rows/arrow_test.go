package rows_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"aiperf/internal/workload/rows"
)

// folder holds what another implementation wrote; AIPERF_TEST_ARROW names another one.
func folder() string {
	if dir := os.Getenv("AIPERF_TEST_ARROW"); dir != "" {
		return dir
	}
	return "testdata"
}

// comparable is a value as JSON has it, with the bytes of a value in hexadecimal digits.
func comparable(t *testing.T, v any) any {
	t.Helper()
	var spell func(any) any
	spell = func(v any) any {
		switch v := v.(type) {
		case []byte:
			return "bytes:" + hex.EncodeToString(v)
		case []any:
			out := make([]any, len(v))
			for i := range v {
				out[i] = spell(v[i])
			}
			return out
		case map[string]any:
			out := map[string]any{}
			for k := range v {
				out[k] = spell(v[k])
			}
			return out
		}
		return v
	}
	text, err := json.Marshal(spell(v))
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func fixtures(t testing.TB) (names []string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder(), "*-*.arrow"))
	if err != nil || len(names) < 6 {
		t.Fatalf("%v: %d files", err, len(names))
	}
	return names
}

func readFixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

const maxBatch = 2 << 30 // bytes, as of files

func rowsOf(data []byte) (columns []rows.Column, list []rows.Row, err error) {
	err = rows.EachArrow(bytes.NewReader(data), int64(len(data)), maxBatch, func(c []rows.Column, row rows.Row) error {
		columns, list = c, append(list, row)
		return nil
	})
	return columns, list, err
}

// Files and streams of another implementation, with and without compression, hold the rows that it says.
func TestFilesOfAnotherImplementation(t *testing.T) {
	var want []map[string]any
	if err := json.Unmarshal(readFixture(t, filepath.Join(folder(), "rows.json")), &want); err != nil {
		t.Fatal(err)
	}
	for _, name := range fixtures(t) {
		columns, list, err := rowsOf(readFixture(t, name))
		if err != nil || len(list) != len(want) {
			t.Errorf("%s: %v, %d rows", name, err, len(list))
			continue
		}
		for i := range list {
			for column, value := range want[i] {
				if got := comparable(t, list[i][column]); !reflect.DeepEqual(got, value) {
					t.Errorf("%s: row %d, column %q: %v, want %v", name, i, column, got, value)
				}
			}
		}
		var deep []string
		for _, c := range columns {
			if !c.Plain {
				deep = append(deep, c.Name)
			}
		}
		if len(columns) != len(want[0]) || strings.Join(deep, " ") != "struct structs" {
			t.Errorf("%s: %d columns, deep ones: %v", name, len(columns), deep)
		}
	}
}

func TestReadingEndsWithTheCallersError(t *testing.T) {
	enough := errors.New("enough")
	n := 0
	data := readFixture(t, fixtures(t)[0])
	err := rows.EachArrow(bytes.NewReader(data), int64(len(data)), maxBatch, func([]rows.Column, rows.Row) error {
		n++
		return enough
	})
	if !errors.Is(err, enough) || n != 1 {
		t.Errorf("%v after %d rows", err, n)
	}
}

// Wherever a file is cut off, that is said: no row is lost silently but those behind the end of a whole batch of a
// stream.
func TestFilesThatAreCutOff(t *testing.T) {
	for _, name := range fixtures(t) {
		data := readFixture(t, name)
		_, all, err := rowsOf(data)
		if err != nil {
			t.Fatal(err)
		}
		for cut := 0; cut < len(data); cut += 1 + len(data)/40 {
			_, list, err := rowsOf(data[:cut])
			if err == nil && (strings.Contains(name, "file") || len(list)%2 != 0 && len(list) != len(all)) {
				t.Errorf("%s: %d of %d bytes: %d rows and no error", name, cut, len(data), len(list))
			}
		}
	}
}

func TestWhatIsNoArrowFile(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "it has no schema",
		"ARROW1":                               "longer than what is left",
		"ARROW1\x00\x00":                       "it is cut off",
		"ARROW1\x00\x00 and so on":             "does not end with ARROW1",
		"ARROW1\x00\x00\xff\xff\xff\x7fARROW1": "is longer than the file",
		"{\"prompt\":\"not arrow\"}":           "longer than what is left",
	} {
		if _, _, err := rowsOf([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestHalves(t *testing.T) {
	data := readFixture(t, filepath.Join(folder(), "stream-plain.arrow"))
	numbers := []byte{0x00, 0x3e, 0x00, 0xc0} // 1.5 and -2, with which the column of halves begins
	if n := bytes.Count(data, numbers); n != 1 {
		t.Fatalf("they appear %d times", n)
	}
	at := bytes.Index(data, numbers)
	half := func(bits uint16) any {
		binary.LittleEndian.PutUint16(data[at:], bits)
		_, list, err := rowsOf(data)
		if err != nil {
			t.Fatal(err)
		}
		return list[0]["f16"]
	}
	for bits, want := range map[uint16]float64{0: 0, 1: 1. / (1 << 24), 0x3c00: 1, 0xc000: -2, 0x7bff: 65504,
		0x0400: 1. / (1 << 14)} {
		if got := half(bits); got != want {
			t.Errorf("%#x: %v, want %v", bits, got, want)
		}
	}
	if fmt.Sprint(half(0x7c00), half(0xfc00), half(0x7e00)) != "+Inf -Inf NaN" {
		t.Error("infinities")
	}
}

// FuzzEach reads damaged files: whatever they say, reading ends, and takes no more memory than a multiple of them.
func FuzzEach(f *testing.F) {
	for _, name := range fixtures(f) {
		f.Add(readFixture(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const limit = 1 << 20
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		n := 0
		_ = rows.EachArrow(bytes.NewReader(data), int64(len(data)), limit, func([]rows.Column, rows.Row) error {
			if n++; n > 1<<20 {
				return errors.New("enough")
			}
			return nil
		})
		runtime.ReadMemStats(&after)
		const each = 4 << 10 // maps and values of a row of some columns
		if used := after.TotalAlloc - before.TotalAlloc; used > uint64(64*limit+256*len(data)+each*n) {
			t.Errorf("%d bytes of memory for %d bytes and %d rows", used, len(data), n)
		}
	})
}
