package sse_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aiperf/internal/wire/client/sse"
)

// seen is an event as a test compares it; read is the number of the read that completed it.
type seen struct {
	Name, Data, Comment, Text string
	Read                      int
}

func show(b []byte) string {
	if b == nil {
		return "∅"
	}
	return string(b)
}

// scanAll feeds reads one by one; the leftover at the end counts as completed by the read after the last.
func scanAll(s *sse.Scanner, reads ...string) []seen {
	var out []seen
	add := func(ev sse.Event, read int) {
		out = append(out, seen{show(ev.Name), show(ev.Data), show(ev.Comment), show(ev.Text), read})
	}
	for i, r := range reads {
		n := copy(s.Space(len(r)), r)
		s.Filled(n)
		for ev := s.Next(); ev != nil; ev = s.Next() {
			add(*ev, i+1)
		}
	}
	if ev := s.End(); ev != nil {
		add(*ev, len(reads)+1)
	}
	return out
}

// data is the data of the events, each with its read.
func data(events []seen) string {
	var parts []string
	for _, e := range events {
		parts = append(parts, fmt.Sprintf("%s@%d", e.Data, e.Read))
	}
	return strings.Join(parts, " | ")
}

func TestEvents(t *testing.T) {
	tests := []struct {
		name  string
		reads []string
		want  string
	}{
		{"one event", []string{"data: a\n\n"}, "a@1"},
		{"space around data is trimmed", []string{"data:   a b \t\n\n"}, "a b@1"},
		{"no space after the colon", []string{"data:a\n\n"}, "a@1"},
		{"two in one read share it", []string{"data: a\n\ndata: b\n\n"}, "a@1 | b@1"},
		{"several data fields are joined", []string{"data: a\ndata:\ndata: b\n\n"}, "a\n\nb@1"},
		{"a value that is empty is a value", []string{"data:\n\n"}, "@1"},
		{"a name without value is none", []string{"data\n\n"}, "∅@1"},
		{"blank lines make no events", []string{"\n\n \n\n\r\n\r\ndata: a\n\n\n\n"}, "a@1"},
		{"comment only", []string{": ping\n\n"}, "∅@1"},
		{"leftover at the end", []string{"data: a\n\ndata: b"}, "a@1 | b@2"},
		{"leftover with one line end", []string{"data: a\n"}, "a@2"},
		{"CRLF", []string{"data: a\r\n\r\ndata: b\r\n\r\n"}, "a@1 | b@1"},
		{"lone CR", []string{"data: a\r\rdata: b\r\r"}, "a@1 | b@1"},
		{"lone CR completes at once", []string{"data: a\r\r", "data: b\r\r"}, "a@1 | b@2"},
		{"LF after a lone CR is its line end's", []string{"data: a\n\r", "\ndata: b\n\n"}, "a@1 | b@2"},
		{"CRLF stream waits for the LF", []string{"data: a\r\n\r", "\ndata: b\r\n\r\n"}, "a@2 | b@2"},
		{"mixed ends", []string{"data: a\r\n\ndata: b\n\r\ndata: c\r\n\rdata: d\r\r\n"}, "a@1 | b@1 | c@1 | d@1"},
		{"byte order mark", []string{"\xEF\xBB\xBFdata: a\n\n"}, "a@1"},
		{"byte order mark in pieces", []string{"\xEF", "\xBB", "\xBFdata: a\n\n"}, "a@3"},
		{"no mark but its first byte", []string{"\xEF\xBF\xBDx\n\n"}, "∅@1"},
		{"one byte at a time", strings.Split("data: a\n\ndata: b\r\n\r\n", ""), "a@9 | b@20"},
		{"no blank lines", []string{"data: {\"a\":1}\n", "data: {\"b\":2}\n", "data: [DONE]\n"},
			`{"a":1}@2 | {"b":2}@2 | [DONE]@3`},
		{"no blank lines, but names", []string{"event: x\ndata: {}\nevent: y\ndata: {\"b\":2}\n"}, `{}@1 | {"b":2}@1`},
		{"no blank lines, CRLF", []string{"data: {}\r\ndata: {\"}\\\"{\":2}\r\n\r\ndata: {}\r\n"}, `{}@1 | {"}\"{":2}@1 | {}@1`},
		{"an object over lines of data", []string{"data: {\"a\":\ndata: {}}\ndata: \n\n"}, "{\"a\":\n{}}\n@1"},
		{"an object and a text", []string{"data: {}\ndata: x\n\n"}, "{}\nx@1"},
		{"a name behind the data", []string{"data: {}\nevent: x\n\n"}, "{}@1"},
		{"CR inside a line of data splits it", []string{"data: a\rdata: b\n\n"}, "a\nb@1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := data(scanAll(new(sse.Scanner), tt.reads...)); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestFieldsOfAnEvent(t *testing.T) {
	got := scanAll(new(sse.Scanner), "event: message_start\nid: 7\n: first\n:second\ndata: {}\nretry\n\n")
	whole := []seen{{"message_start", "{}", "first", "event: message_start\nid: 7\n: first\n:second\ndata: {}\nretry",
		1}}
	if d := cmp.Diff(whole, got); d != "" {
		t.Error(d)
	}
	var lines []string
	for _, line := range []string{"event: x", ": hello", "novalue", "data: a:b", "data:", "data", "event", "x: {}"} {
		// The field of another name before it has the line taken apart as one of several.
		for _, e := range scanAll(new(sse.Scanner), "id: 7\n"+line+"\n\n") {
			lines = append(lines, line+" → "+e.Name+" "+e.Data+" "+e.Comment)
		}
	}
	want := []string{"event: x → x ∅ ∅", ": hello → ∅ ∅ hello", "novalue → ∅ ∅ ∅", "data: a:b → ∅ a:b ∅",
		"data: → ∅  ∅", "data → ∅ ∅ ∅", "event → ∅ ∅ ∅", "x: {} → ∅ ∅ ∅"}
	if d := cmp.Diff(want, lines); d != "" {
		t.Error(d)
	}
}

// An event of lines without end is given up once it has too many, with every kind of line end, however
// it comes in; the events before it are handed out, none after it.
// The first event of a stream without blank lines is known by the second one; when its last line came can be noted
// before.
func TestLinesOfAnOpenEventAreCounted(t *testing.T) {
	s := new(sse.Scanner)
	feed := func(text string) *sse.Event {
		s.Filled(copy(s.Space(len(text)), text))
		return s.Next()
	}
	if ev := feed("data: {}\n"); ev != nil || s.Lines() != 1 || s.Cut() || s.First() != 'd' || string(s.Unread()) != "data: {}\n" {
		t.Fatalf("%v, %d lines, cut %v", ev, s.Lines(), s.Cut())
	}
	if ev := feed("data: {"); ev != nil || s.Lines() != 1 {
		t.Fatalf("%v, %d lines and part of one", ev, s.Lines())
	}
	if ev := feed("}\n"); ev == nil || !s.Cut() {
		t.Fatalf("%v, cut %v", ev, s.Cut())
	}
}

func TestLinesOfAnEventAreBounded(t *testing.T) {
	const maxLines = 65536 // the limit of the package
	const first = "data: first\n\n"
	for _, line := range []string{"a:\n", "a\n", "a\r", "a\r\n", ":\n", "data:\n", "x: {\n"} {
		for _, size := range []int{100, 1 << 20} {
			var s sse.Scanner
			stream := first + strings.Repeat(line, maxLines+2) + "\n\ndata: never\n\n"
			events, most := 0, 0
			for stream != "" && s.Err() == nil {
				n := copy(s.Space(size), stream[:min(size, len(stream))])
				s.Filled(n)
				stream = stream[n:]
				for ev := s.Next(); ev != nil; ev = s.Next() {
					events++
				}
				// The memory is that of what came before the event, of the event, and what is free.
				most = max(most, len(first)+s.Pending()+len(s.Space(0)))
			}
			if err := s.Err(); err == nil || err.Error() != "an event of more than 65536 lines" || events != 1 ||
				s.Next() != nil {
				t.Errorf("%q in reads of %d: %d events, error %v", line, size, events, s.Err())
			}
			if most > 4*maxLines*len(line)+4*size {
				t.Errorf("%q in reads of %d: a buffer of %d bytes", line, size, most)
			}
			if rest := s.Rest(); len(rest) < maxLines {
				t.Errorf("%q in reads of %d: %d bytes are left", line, size, len(rest))
			}
			s.Reset(1 << 16)
			if got := data(scanAll(&s, "data: b\n\n")); got != "b@1" {
				t.Errorf("got %q after Reset", got)
			}
		}
	}
	var s sse.Scanner
	if got := scanAll(&s, strings.Repeat("data:\n", maxLines)+"\n"); len(got) != 1 || len(got[0].Data) != maxLines-1 {
		t.Errorf("an event of as many lines as may be: %d events", len(got))
	}
}

// Many lines of one event need no memory of their own.
func TestFieldsDoNotAllocate(t *testing.T) {
	var s sse.Scanner
	stream := strings.Repeat("a: b\ndata: c\n", 1000) + "\n"
	scan := func() {
		s.Filled(copy(s.Space(len(stream)), stream))
		for s.Next() != nil {
		}
	}
	scan()
	if n := testing.AllocsPerRun(100, scan); n != 0 {
		t.Errorf("%v allocations for an event of 2000 lines", n)
	}
}

func TestTrapEventsAreStampedWithTheReadThatCompletedThem(t *testing.T) {
	got := data(scanAll(new(sse.Scanner), "data: {\"a\":1}\n", "\ndata: {\"b\":2}\n\ndata: [DO", "NE]"))
	if want := `{"a":1}@2 | {"b":2}@2 | [DONE]@4`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTrapRepairOfBrokenJSON(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"two data lines are joined, not repaired", "data: {\"a\":\ndata: 1}\n\n", "{\"a\":\n1}@1"},
		{"a line without field name goes on", "data: {\"c\":\"x\ny\"}\n\n", `{"c":"x\ny"}@1`},
		{"several lines go on", "data: {\"c\":\"x\n y\nz\"}\n\n", `{"c":"x\ny\nz"}@1`},
		{"a closed object is not repaired", "data: {\"c\":1}\ny\n\n", `{"c":1}@1`},
		{"plain text is not repaired", "data: x\ny\n\n", `x@1`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := data(scanAll(new(sse.Scanner), tt.in)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestTrapCharactersSplitOverReads(t *testing.T) {
	got := data(scanAll(new(sse.Scanner), "data: \xE2\x82", "\xAC\n\ndata: {\"t\":\"a\u2028b\u0085c\"}\n\n"))
	if want := "€@2 | {\"t\":\"a\u2028b\u0085c\"}@2"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestIllFormedUTF8IsReplaced(t *testing.T) {
	tests := []struct{ in, want string }{
		{"a\xFFb", "a\uFFFDb"},
		{"a\xE2\x82b", "a\uFFFDb"},
		{"\xF0\x9F\x98x", "\uFFFDx"},
		{"\xC0\xAFx", "\uFFFD\uFFFDx"},
		{"\xED\xA0\x80x", "\uFFFD\uFFFD\uFFFDx"},
		{"\xF4\x90\x80\x80x", "\uFFFD\uFFFD\uFFFD\uFFFDx"},
		{"ok €", "ok €"},
	}
	for _, tt := range tests {
		got := scanAll(new(sse.Scanner), "data: "+tt.in+"\n\n")
		if len(got) != 1 || got[0].Data != tt.want {
			t.Errorf("%q: got %+v, want %+q", tt.in, got, tt.want)
		}
		if got := string(sse.ToValid([]byte(tt.in))); got != tt.want {
			t.Errorf("ToValid(%q) = %+q, want %+q", tt.in, got, tt.want)
		}
	}
}

func TestScannerIsReusable(t *testing.T) {
	var s sse.Scanner
	scanAll(&s, "\xEF\xBB\xBFdata: a\n\ndata: left over\r")
	s.Reset(1 << 16)
	if got := data(scanAll(&s, "\xEF\xBB\xBFdata: b\n\n")); got != "b@1" {
		t.Errorf("got %q after Reset", got)
	}
}

func TestPendingCountsTheOpenEvent(t *testing.T) {
	var s sse.Scanner
	s.Filled(copy(s.Space(20), "data: a\n\ndata: 12345"))
	if s.Next() == nil {
		t.Fatal("no event")
	}
	if s.Next() != nil || s.Pending() != len("data: 12345") {
		t.Errorf("pending %d", s.Pending())
	}
}

func TestCommonEventsDoNotAllocate(t *testing.T) {
	var s sse.Scanner
	stream := strings.Repeat("data: {\"choices\":[{\"delta\":{\"content\":\" word\"}}]}\n\n", 20) +
		strings.Repeat("event: delta\ndata: {}\n\n", 20)
	scan := func() {
		s.Filled(copy(s.Space(len(stream)), stream))
		for s.Next() != nil {
		}
	}
	scan()
	if n := testing.AllocsPerRun(100, scan); n != 0 {
		t.Errorf("%v allocations for 40 events", n)
	}
}

func FuzzSplitsDoNotChangeEvents(f *testing.F) {
	for _, s := range []string{
		"data: {\"a\":1}\n\ndata: [DONE]", "data: a\r\n\r\ndata: b\r\r\ndata: c\r\r",
		"\xEF\xBB\xBFevent: error\n: x\n\n",
		"\r\n\r\r\n\n\r", "data: €\xE2\x82\n\n", "data: {\"c\":\"x\ny\"}\n\n", "\n\r\n\r\r\ndata: x\r\n\r",
	} {
		f.Add([]byte(s), uint64(0x5555))
		f.Add([]byte(s), ^uint64(0))
	}
	f.Fuzz(func(t *testing.T, stream []byte, cuts uint64) {
		text := func(events []seen) (out []string) {
			for _, e := range events {
				out = append(out, fmt.Sprintf("%q %q %q %q", e.Name, e.Data, e.Comment, e.Text))
			}
			return out
		}
		whole := text(scanAll(new(sse.Scanner), string(stream)))
		var reads []string
		rest := string(stream)
		for i := 0; rest != ""; i++ {
			n := 1
			for n < len(rest) && cuts>>(uint(i+n)%64)&1 == 0 {
				n++
			}
			reads = append(reads, rest[:n])
			rest = rest[n:]
		}
		if d := cmp.Diff(whole, text(scanAll(new(sse.Scanner), reads...))); d != "" {
			t.Errorf("split %q:\n%s", reads, d)
		}
	})
}

func BenchmarkEvents(b *testing.B) {
	event := "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"m\"," +
		"\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"},\"finish_reason\":null}]}\n\n"
	benchmarkScan(b, event)
}

func BenchmarkEventOfSeveralFields(b *testing.B) {
	event := "event: content_block_delta\nid: 17\ndata: {\"type\":\"content_block_delta\",\"index\":0," +
		"\"delta\":{\"type\":\"text_delta\",\"text\":\" word\"}}\n\n"
	benchmarkScan(b, event)
}

// benchmarkScan scans a stream of one event over and over; an operation is an event.
func benchmarkScan(b *testing.B, event string) {
	stream := strings.Repeat(event, 16)
	var s sse.Scanner
	b.SetBytes(int64(len(event)))
	for i := 0; i < b.N; {
		s.Filled(copy(s.Space(len(stream)), stream))
		for s.Next() != nil {
			i++
		}
	}
}
