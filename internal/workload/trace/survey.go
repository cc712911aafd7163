package trace

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"aiperf/internal/workload/dataset"
)

// Survey is what a data set holds, before anything is sent.
type Survey struct {
	Format        string   `json:"format"`
	Conversations int      `json:"conversations"`
	Requests      int      `json:"requests"`
	Turns         *Lengths `json:"turns_per_conversation"`
	// Input counts the tokens that each request adds, Output those that it asks for.
	Input  *Lengths `json:"input_tokens"`
	Output *Lengths `json:"output_tokens"`
	// Counted is the number of requests whose texts were counted.
	Counted   int    `json:"requests_counted"`
	Tokenizer string `json:"tokenizer"`
	Times     *Times `json:"times"`
	// Notes and Warnings say how the data was read.
	Notes    []string        `json:"notes"`
	Warnings []string        `json:"warnings"`
	First    json.RawMessage `json:"first_request"`
	Command  string          `json:"command"`
}

// Lengths are quantiles of a number that some have.
type Lengths struct {
	Count  int    `json:"count"`
	Mean   number `json:"mean"`
	Min    number `json:"min"`
	Median number `json:"p50"`
	P90    number `json:"p90"`
	P99    number `json:"p99"`
	Max    number `json:"max"`
}

// Times are those of the first requests of conversations.
type Times struct {
	Timed       int     `json:"conversations_with_a_time"`
	StartMS     number  `json:"first_ms"`
	SpanSeconds number  `json:"span_seconds"`
	Rate        *number `json:"conversations_per_second"`
	// Rates are those of ten equal parts of the span.
	Rates []number `json:"rates"`
}

const (
	// mostCounted bounds the texts that are counted: their quantiles do not change much with more.
	mostCounted = 5000
	rateParts   = 10
	// clockMS is the time from which one is that of a clock.
	clockMS = 1e11
)

func lengthsOf(values []float64) *Lengths {
	s := statsOf(values)
	if s == nil {
		return nil
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return &Lengths{len(values), s.Mean, s.Min, s.Median, percentile(sorted, 0.9), percentile(sorted, 0.99), s.Max}
}

// Look surveys a data set; count counts the tokens of a text, nil where there is no tokenizer.
func Look(d *dataset.Dataset, count func(string) int) *Survey {
	s := &Survey{Conversations: d.RootCount(), Notes: append([]string{}, d.Notes...), Warnings: []string{}}
	var turns, input, output, times []float64
	total := d.Turns()
	every := max(1, total/mostCounted)
	for i, c := range d.All() {
		requests := 0
		for k := range c.Turns {
			t := &c.Turns[k]
			if t.Silent {
				continue
			}
			requests++
			s.Requests++
			if t.MaxTokens != nil {
				output = append(output, float64(*t.MaxTokens))
			}
			switch {
			case t.Prompt != nil:
				input = append(input, float64(t.Prompt.Tokens))
			case count != nil && s.Requests%every == 0:
				s.Counted++
				input = append(input, float64(tokensOf(t, count)))
			}
		}
		turns = append(turns, float64(requests))
		if at, _ := d.Time(i, 0); at != nil {
			times = append(times, *at)
		}
	}
	s.Turns, s.Input, s.Output = lengthsOf(turns), lengthsOf(input), lengthsOf(output)
	s.Times = timesOf(times)
	return s
}

// tokensOf counts the texts that a turn adds.
func tokensOf(t *dataset.Turn, count func(string) int) (n int) {
	for _, m := range t.Texts {
		for _, text := range m.Contents {
			n += count(text)
		}
	}
	messages := t.RawMessages
	if t.RawPayload != nil {
		var body struct {
			Messages []json.RawMessage `json:"messages"`
			Prompt   any               `json:"prompt"`
			Input    any               `json:"input"`
		}
		if json.Unmarshal(t.RawPayload, &body) != nil {
			return n // sent as it is, whatever it holds
		}
		messages = body.Messages
		n += countTexts(body.Prompt, count) + countTexts(body.Input, count)
	}
	for _, message := range messages {
		var m struct {
			Content any `json:"content"`
		}
		if json.Unmarshal(message, &m) == nil {
			n += countTexts(m.Content, count)
		}
	}
	return n
}

// countTexts counts a text, or those in a list of parts.
func countTexts(v any, count func(string) int) (n int) {
	switch v := v.(type) {
	case string:
		return count(v)
	case []any:
		for _, item := range v {
			n += countTexts(item, count)
		}
	case map[string]any:
		return countTexts(v["text"], count) + countTexts(v["content"], count)
	}
	return n
}

func timesOf(times []float64) *Times {
	if len(times) == 0 {
		return nil
	}
	slices.Sort(times)
	first, span := times[0], (times[len(times)-1]-times[0])/1000
	t := &Times{Timed: len(times), StartMS: number(first), SpanSeconds: number(span)}
	if span <= 0 {
		return t
	}
	rate := number(float64(len(times)-1) / span)
	t.Rate, t.Rates = &rate, make([]number, rateParts)
	for _, at := range times {
		part := min(rateParts-1, int((at-first)/1000/span*rateParts))
		t.Rates[part] += number(rateParts / span)
	}
	return t
}

// Print writes the survey for people, in lines of tableWidth columns, but for the request and the command.
func (s *Survey) Print(w io.Writer) {
	line := func(name, text string) { fmt.Fprintf(w, "%-15s %s\n", name, text) }
	line("Format", s.Format)
	for _, note := range s.Notes {
		line("Read", note)
	}
	for _, warning := range s.Warnings {
		line("Warning", warning)
	}
	line("Conversations", fmt.Sprintf("%d, with %d requests", s.Conversations, s.Requests))
	line("Turns", s.Turns.text())
	input := s.Input.text()
	if s.Counted > 0 {
		input += fmt.Sprintf(" (counted with %s", s.Tokenizer)
		if s.Counted < s.Requests {
			input += fmt.Sprintf(", of %d requests", s.Counted)
		}
		input += ")"
	}
	line("Input tokens", input)
	output := s.Output.text()
	if s.Output == nil {
		output = "no limit: answers are as long as the model makes them"
	} else if s.Output.Count < s.Requests {
		output += fmt.Sprintf(" (%d of %d requests have none)", s.Requests-s.Output.Count, s.Requests)
	}
	line("Output limit", output)
	line("Times", s.Times.text())
	if t := s.Times; t != nil && t.Rates != nil {
		var rates []string
		for _, r := range t.Rates {
			rates = append(rates, fmt.Sprintf("%.3g", float64(r)))
		}
		line("Rate over time", strings.Join(rates, " ")+" per second")
	}
	fmt.Fprintf(w, "\nFirst request\n%s\n\nTo send it\n%s\n", beginning(string(s.First)), s.Command)
}

func (l *Lengths) text() string {
	if l == nil {
		return "not known"
	}
	return fmt.Sprintf("min %s   p50 %s   p90 %s   p99 %s   max %s   mean %s", short(l.Min), short(l.Median),
		short(l.P90), short(l.P99), short(l.Max), short(l.Mean))
}

// beginning returns what is shown of a request.
func beginning(body string) string {
	const most = 2000
	if len(body) <= most {
		return body
	}
	cut := most
	for !utf8.RuneStart(body[cut]) {
		cut--
	}
	return fmt.Sprintf("%s… (%d bytes)", body[:cut], len(body))
}

func short(n number) string {
	if float64(n) == math.Trunc(float64(n)) {
		return fmt.Sprintf("%.0f", float64(n))
	}
	return fmt.Sprintf("%.1f", float64(n))
}

func (t *Times) text() string {
	switch {
	case t == nil:
		return "none: requests follow the load that you ask for"
	case t.Rate == nil:
		return fmt.Sprintf("%d, all at the same time", t.Timed)
	}
	from := fmt.Sprintf("%.3f s", float64(t.StartMS)/1000)
	if float64(t.StartMS) >= clockMS {
		from = time.UnixMilli(int64(t.StartMS)).UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("%d, from %s over %s, %.3g per second", t.Timed, from,
		time.Duration(float64(t.SpanSeconds)*1e9).Round(time.Millisecond), float64(*t.Rate))
}
