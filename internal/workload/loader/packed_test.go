package loader

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// What a file begins with says whether it is compressed, not its name.
func TestCompressedFilesAreKnownByTheirFirstBytes(t *testing.T) {
	const line = `{"timestamp": 0, "input_length": 60, "output_length": 5, "hash_ids": [1]}` + "\n"
	text := strings.Repeat(line, 3)
	through := func(open func(io.Writer) (io.WriteCloser, error)) string {
		var out bytes.Buffer
		w, err := open(&out)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	// The three lines, written by bzip2 and by xz.
	xz, err := base64.StdEncoding.DecodeString("/Td6WFoAAATm1rRGAgAhARYAAAB0L+Wj4ADdAEBdAD2IiobUFfjk4OgbmsopT2S+UUC7QpkIo563cq4uKv2uFtaEJeO7vdEBR6kxRWt3e7T2whtuvcEELAsq7zmUmAAAsGY0QMU24CgAAVzeAQAAAAy6YDaxxGf7AgAAAAAEWVo=")
	if err != nil {
		t.Fatal(err)
	}
	bzip2, err := base64.StdEncoding.DecodeString("QlpoOTFBWSZTWYOs3tMAAG1bgAAQUARjEAAKpufOCiAAcFGhoAAABvVU0R6INAYTalmCTKRs9xuqks7OsXu7NSO8i5mycJLmraN36OUZsmi9RSKtW8UYMXNi3VVWjo4jJe0izhZ/F3JFOFCQg6ze0w==")
	if err != nil {
		t.Fatal(err)
	}
	for name, packed := range map[string]string{
		"plain.gz": text, "bzip2": string(bzip2),
		"gzip": through(func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }),
		"zstd": through(func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) }),
		"xz":   string(xz),
	} {
		for _, ending := range []string{"", ".jsonl", ".jsonl.gz"} {
			path := write(t, name+ending, packed)
			r, err := Load(context.Background(), path, "")
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			same(t, name+ending, r.Format+" "+shape(r.Dataset), "mooncake_trace (60[1]→5@0) (60[1]→5@0) (60[1]→5@0)")
		}
		if name == "plain.gz" {
			continue
		}
		if _, err := Load(context.Background(), write(t, name, packed[:len(packed)/2]), ""); err == nil {
			t.Errorf("half of a %s file is read without an error", name)
		}
	}
}
