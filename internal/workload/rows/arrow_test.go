package rows

import (
	"bytes"
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

func rowsOf(data []byte) (columns []arrowColumn, rows []map[string]any, err error) {
	err = eachArrowRow(bytes.NewReader(data), int64(len(data)), func(c []arrowColumn, row map[string]any) error {
		columns, rows = c, append(rows, row)
		return nil
	})
	return columns, rows, err
}

// Files and streams of another implementation, with and without compression, hold the rows that it says.
func TestFilesOfAnotherImplementation(t *testing.T) {
	var want []map[string]any
	if err := json.Unmarshal(readFixture(t, filepath.Join(folder(), "rows.json")), &want); err != nil {
		t.Fatal(err)
	}
	for _, name := range fixtures(t) {
		columns, rows, err := rowsOf(readFixture(t, name))
		if err != nil || len(rows) != len(want) {
			t.Errorf("%s: %v, %d rows", name, err, len(rows))
			continue
		}
		for i := range rows {
			for column, value := range want[i] {
				if got := comparable(t, rows[i][column]); !reflect.DeepEqual(got, value) {
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
	rows := 0
	data := readFixture(t, fixtures(t)[0])
	err := eachArrowRow(bytes.NewReader(data), int64(len(data)), func([]arrowColumn, map[string]any) error {
		rows++
		return enough
	})
	if !errors.Is(err, enough) || rows != 1 {
		t.Errorf("%v after %d rows", err, rows)
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
			_, rows, err := rowsOf(data[:cut])
			if err == nil && (strings.Contains(name, "file") || len(rows)%2 != 0 && len(rows) != len(all)) {
				t.Errorf("%s: %d of %d bytes: %d rows and no error", name, cut, len(data), len(rows))
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
		r := &reader{limit: limit, left: int64(len(data))}
		start, err := r.bounds(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		rows := 0
		r.open(bytes.NewReader(data), start)
		_ = r.each(func([]arrowColumn, map[string]any) error {
			if rows++; rows > 1<<20 {
				return errors.New("enough")
			}
			return nil
		})
		runtime.ReadMemStats(&after)
		const each = 4 << 10 // maps and values of a row of some columns
		if used := after.TotalAlloc - before.TotalAlloc; used > uint64(64*limit+256*len(data)+each*rows) {
			t.Errorf("%d bytes of memory for %d bytes and %d rows", used, len(data), rows)
		}
	})
}
