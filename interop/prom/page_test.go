package prom

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// vllmPage returns the vLLM page of our parser's tests with the samples of so many engines.
func vllmPage(tb testing.TB, engines int) []byte {
	tb.Helper()
	data, err := os.ReadFile("../../internal/watch/prom/testdata/vllm.txt")
	if err != nil {
		tb.Fatal(err)
	}
	var b strings.Builder
	var block []string
	flush := func() {
		for e := range engines {
			for _, l := range block {
				b.WriteString(strings.Replace(l, `engine="0"`, fmt.Sprintf(`engine="%d"`, e), 1))
			}
		}
		block = nil
	}
	for l := range strings.Lines(string(data)) {
		if strings.Contains(l, `engine="0"`) {
			block = append(block, l)
			continue
		}
		flush()
		b.WriteString(l)
	}
	flush()
	return []byte(b.String())
}

// writer writes a random well-formed page.
type writer struct {
	*rand.Rand
	strings.Builder
	open bool // OpenMetrics
}

var words = []string{"a", "x y", `say "hi"`, `C:\dir`, "two\nlines", "} # {", "é ☃", "", "a,b=c", "0.5", `\n`, `end\`}

func (w *writer) labelSets() []string {
	var sets []string
	for i := range 1 + w.IntN(4) {
		var pairs []string
		if i > 0 || w.IntN(2) == 0 {
			pairs = append(pairs, fmt.Sprintf(`i="%d"`, i))
		}
		for _, name := range []string{"engine", "_x", "Model9"} {
			if w.IntN(3) == 0 {
				value := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(words[1+w.IntN(len(words)-2)])
				pairs = append(pairs, name+`="`+value+`"`)
			}
		}
		w.Shuffle(len(pairs), func(a, b int) { pairs[a], pairs[b] = pairs[b], pairs[a] })
		sets = append(sets, strings.Join(pairs, ","))
	}
	return sets
}

func (w *writer) value() string {
	v := w.NormFloat64() * []float64{1, 1e-9, 1e9, 1e-300, 1e300}[w.IntN(5)]
	switch w.IntN(8) {
	case 0:
		return strconv.Itoa(w.IntN(1e6))
	case 1:
		return fmt.Sprintf("%d.0", w.Int64N(1e15))
	case 2:
		return strconv.FormatFloat(v, 'e', w.IntN(20), 64)
	case 3:
		return strconv.FormatFloat(w.Float64(), 'f', w.IntN(22), 64)
	case 4:
		return strconv.FormatInt(w.Int64(), 10)
	case 5:
		return []string{"NaN", "+Inf", "-Inf"}[w.IntN(3)]
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func (w *writer) sample(name, labels, value string) {
	w.WriteString(name)
	if labels != "" || w.IntN(2) == 0 {
		w.WriteString("{" + labels + "}")
	}
	w.WriteString(" " + value)
	if w.IntN(4) == 0 {
		if w.open {
			fmt.Fprintf(w, " %d.5", 1700000000+w.IntN(1e6))
		} else {
			fmt.Fprintf(w, " %d", 1700000000000+w.Int64N(1e9))
		}
	}
	if w.open && (strings.HasSuffix(name, "_total") || strings.HasSuffix(name, "_bucket")) && w.IntN(2) == 0 {
		w.WriteString(` # {trace_id="} x # \" y"} 0.25 1700000000.1`)
	}
	w.WriteByte('\n')
}

func (w *writer) histogram(name, set string) {
	comma := ""
	if set != "" {
		comma = ","
	}
	count := 0
	for _, le := range []string{"1e-05", "0.5", "1.0", "2", "10", "1e+06", "+Inf"} {
		count += w.IntN(1000)
		w.sample(name+"_bucket", fmt.Sprintf(`%s%sle="%s"`, set, comma, le), strconv.Itoa(count))
	}
	w.sample(name+"_sum", set, strconv.FormatFloat(w.ExpFloat64(), 'g', -1, 64))
	w.sample(name+"_count", set, strconv.Itoa(count))
}

func (w *writer) family(i int) {
	kinds := []string{"gauge", "counter", "histogram", "summary", "untyped", ""}
	if w.open {
		kinds = []string{"gauge", "counter", "histogram", "summary", "unknown", "info", "stateset", ""}
	}
	kind := kinds[w.IntN(len(kinds))]
	name := fmt.Sprintf("%s:f%d_seconds", []string{"vllm", "sglang", "x"}[w.IntN(3)], i)
	declared := name
	if kind == "counter" && !w.open {
		declared = name + "_total"
	}
	if kind == "info" {
		name, declared = name+"_x", name+"_x"
	}
	if kind != "" {
		fmt.Fprintf(w, "# HELP %s Help with a \\\\ and a \\n in it.\n# TYPE %s %s\n", declared, declared, kind)
	}
	for n, set := range w.labelSets() {
		switch kind {
		case "counter":
			w.sample(name+"_total", set, strings.TrimPrefix(w.value(), "-"))
			if w.open {
				w.sample(name+"_created", set, "1.7e9")
			}
		case "histogram":
			w.histogram(name, set)
		case "summary":
			w.sample(name+"_sum", set, "4.5")
			w.sample(name+"_count", set, "3")
		case "info":
			w.sample(name+"_info", set, "1")
		case "stateset":
			w.sample(name, fmt.Sprintf(`%s="s%d"`, strings.ReplaceAll(name, ":", "_"), n), "1")
		default:
			w.sample(name, set, w.value())
		}
	}
	if !w.open && w.IntN(4) == 0 {
		w.WriteString("\n# a remark\n")
	}
}

func randomPage(seed uint64, open bool) []byte {
	w := &writer{Rand: rand.New(rand.NewPCG(seed, 1)), open: open}
	for i := range 1 + w.IntN(12) {
		w.family(i)
	}
	if open {
		w.WriteString("# EOF\n")
	}
	return []byte(w.String())
}
