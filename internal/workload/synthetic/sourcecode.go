package synthetic

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"aiperf/internal/base/random"
)

// Documents returns generated files until their characters reach the given number.
func Documents(r *random.Rand, characters int) []string {
	w := &writer{r: r}
	var all []string
	for n := 0; n < characters; {
		// Each kind comes once before any comes again.
		order := make([]int, len(kinds))
		for i := range order {
			j := r.IntN(i + 1)
			order[i], order[j] = order[j], i
		}
		for _, kind := range order {
			all = append(all, w.document(kinds[kind]))
			n += len(all[len(all)-1])
		}
	}
	return all
}

// writer plays the grammar out.
type writer struct {
	r    *random.Rand
	kept map[string]string // fillings that a document uses again
	out  strings.Builder
}

func (w *writer) document(rule string) string {
	w.kept = map[string]string{}
	w.out.Reset()
	w.expand(rule, 0)
	return w.out.String()
}

// part is a stretch of a template: text, or a slot.
type part struct {
	text, rule string
	key        string // the slot's name among those that are kept, empty for a new filling each time
	from, to   int    // repetitions
}

// compiled is the grammar made ready, when the first document needs it.
var compiled = sync.OnceValue(compile)

func compile() map[string][][]part {
	all := map[string][][]part{}
	for rule, alternatives := range grammar() {
		for _, text := range alternatives {
			all[rule] = append(all[rule], parse(text))
		}
	}
	return all
}

// parse cuts a template at its slots: «rule», «rule#1» for a filling that is the same in the whole
// document, «rule*2-5» for so many of them.
func parse(text string) []part {
	var parts []part
	for {
		before, rest, found := strings.Cut(text, "«")
		if before != "" {
			parts = append(parts, part{text: before})
		}
		if !found {
			return parts
		}
		slot, after, _ := strings.Cut(rest, "»")
		p := part{rule: slot, from: 1, to: 1}
		if rule, times, ok := strings.Cut(slot, "*"); ok {
			from, to, _ := strings.Cut(times, "-")
			p.rule = rule
			p.from, _ = strconv.Atoi(from)
			p.to, _ = strconv.Atoi(to)
		}
		if rule, _, ok := strings.Cut(slot, "#"); ok {
			p.rule, p.key = rule, slot
		}
		parts = append(parts, p)
		text = after
	}
}

// maxDepth bounds statements inside statements.
const maxDepth = 12

// expand writes a random text of a rule of the grammar. A part with a key is drawn once and repeated, as a name that is
// used again; the depth is bounded, as rules refer to themselves.
func (w *writer) expand(rule string, depth int) {
	if w.terminal(rule) || depth > maxDepth {
		return
	}
	alternatives := compiled()[rule]
	if len(alternatives) == 0 {
		panic("no rule " + rule) // the grammar is ours, and a test plays all of it
	}
	for _, p := range alternatives[w.r.IntN(len(alternatives))] {
		switch {
		case p.rule == "":
			w.out.WriteString(p.text)
		case p.key != "":
			text, ok := w.kept[p.key]
			if !ok {
				from := w.out.Len()
				w.expand(p.rule, depth+1)
				text = w.out.String()[from:]
				w.kept[p.key] = text
			} else {
				w.out.WriteString(text)
			}
		default:
			for range p.from + w.r.IntN(p.to-p.from+1) {
				w.expand(p.rule, depth+1)
			}
		}
	}
}

// terminal writes what is a number rather than a choice.
func (w *writer) terminal(rule string) bool {
	switch rule {
	case "digit":
		w.out.WriteByte(byte('0' + w.r.IntN(10)))
	case "small":
		fmt.Fprint(&w.out, 1+w.r.IntN(20))
	case "number":
		fmt.Fprint(&w.out, w.r.IntN(100_000))
	case "line":
		fmt.Fprint(&w.out, 1+w.r.IntN(900))
	case "ms":
		fmt.Fprintf(&w.out, "%d.%02d", w.r.IntN(900), w.r.IntN(100))
	case "hex":
		fmt.Fprintf(&w.out, "%07x", w.r.IntN(1<<28))
	case "time":
		fmt.Fprintf(&w.out, "%02d:%02d:%02d.%03d", w.r.IntN(24), w.r.IntN(60), w.r.IntN(60), w.r.IntN(1000))
	case "date":
		fmt.Fprintf(&w.out, "20%02d-%02d-%02d", 10+w.r.IntN(20), 1+w.r.IntN(12), 1+w.r.IntN(28))
	default:
		return false
	}
	return true
}
