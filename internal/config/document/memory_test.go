package document_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"aiperf/internal/config/document"
)

// maxAllocated bounds what reading a file of 1 MiB allocates in all; less than 64 MiB are in use at a time.
const maxAllocated = 96 << 20

func TestHostileFilesNeedLittleMemory(t *testing.T) {
	const size = 1 << 20
	fill := func(text string) string { return strings.Repeat(text, size/len(text)) }
	keys := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"long text":        "a: " + fill("x"),
		"long quoted text": `a: "` + fill(`\n`) + `"`, "long block": "a: |\n" + fill("  x y z and more\n"),
		"blanks": "a: 1" + fill(" "), "empty lines": "a: 1" + fill("\n"),
		"comments": "a: 1\n" + fill("# abcdefghijk\n"),
		"list":     "a: [" + strings.Repeat("1,", 90_000) + "]", "entries": "a:\n" + strings.Repeat("- 1\n", 45_000),
		"keys": keys("key%d: 1\n", 45_000), "keys in braces": "a: {" + keys("key%d: 1,", 45_000) + "}",
		"brackets": "a: " + fill("["), "anchors": "a: [" + strings.Repeat("&a 1,", 40_000) + "]", "aliases": bomb(30),
		"long keys": fill("x") + ": 1\n" + fill("x") + ": 2\n", "faults": keys("%d: 1\n", 45_000),
		"JSON list": `{"a": [` + fill("1,") + `1]}`, "JSON text": `{"a": "` + fill(`\u00e4`) + `"}`,
		"JSON maps": `{"a": [` + fill(`{"a":1},`) + `1]}`, "JSON depth": `{"a": ` + fill("[") + `}`,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := document.Read("f.yaml", []byte(text))
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > maxAllocated {
			t.Errorf("%s: %d MB allocated", name, n>>20)
		} else {
			t.Logf("%s: %d MB, %.60v", name, n>>20, err)
		}
	}
}
