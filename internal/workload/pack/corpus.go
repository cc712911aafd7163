package main

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"

	"aiperf/internal/workload/tokenizer"
)

// A chunk is closed when its lines reach this many characters.
const chunkLength = 10_000

// packCorpus turns plays in Markdown into the corpus that the synthetic package embeds: the text without its mark-up,
// in chunks, as token ids of the built-in vocabulary.
//
// The form, all numbers as unsigned varints: the number of distinct ids and these ids, the most frequent first; the
// number of chunks, the number of tokens of each and the number of bytes of each; then the tokens, each as its place in
// the list of ids. Places below a limit take one byte, the others two, the limit being as high as the number of
// distinct ids allows (see openCorpus).
func packCorpus(to string, plays []string) error {
	var lines []string
	for _, path := range plays {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(data)) {
			if line = plain(line); line != "" {
				lines = append(lines, line)
			}
		}
	}
	packed, err := encode(chunks(lines))
	if err != nil {
		return err
	}
	return os.WriteFile(to, packed, 0o644)
}

// plain returns a line without its Markdown.
func plain(line string) string {
	line = strings.TrimLeft(strings.TrimSpace(line), "#")
	return strings.TrimSpace(strings.NewReplacer("*", "", "_", "", `\`, "").Replace(line))
}

// chunks joins lines by one space. The borders depend on the characters alone.
func chunks(lines []string) []string {
	var all []string
	start, length := 0, 0
	for i, line := range lines {
		if length += len([]rune(line)); length >= chunkLength || i == len(lines)-1 {
			all = append(all, strings.Join(lines[start:i+1], " "))
			start, length = i+1, 0
		}
	}
	return all
}

// encode packs the tokens of chunks: the distinct tokens by frequency, then each token as its place there, in one byte
// for the most frequent and in two for the others. The limit is as high as two bytes for the rest allow: below it stand
// single bytes, and each value from it on begins 256 pairs. The synthetic corpus reads this, see openCorpus there.
func encode(chunks []string) ([]byte, error) {
	tok := tokenizer.Builtin()
	var ids, lengths []int
	for _, chunk := range chunks {
		before := len(ids)
		ids = tok.Encode(ids, chunk)
		lengths = append(lengths, len(ids)-before)
	}
	distinct := byFrequency(ids)
	limit := 256
	for len(distinct) > limit+(256-limit)*256 {
		limit--
	}
	if limit < 0 {
		return nil, fmt.Errorf("%d distinct tokens do not fit two bytes", len(distinct))
	}
	var out []byte
	for _, list := range [][]int{distinct, lengths} {
		out = binary.AppendUvarint(out, uint64(len(list)))
		for _, n := range list {
			out = binary.AppendUvarint(out, uint64(n))
		}
	}
	place := map[int]int{}
	for i, id := range distinct {
		place[id] = i
	}
	var places []byte
	from := 0
	for _, n := range lengths {
		start := len(places)
		for _, id := range ids[from : from+n] {
			if p := place[id]; p < limit {
				places = append(places, byte(p))
			} else {
				p -= limit
				places = append(places, byte(limit+p>>8), byte(p))
			}
		}
		from += n
		out = binary.AppendUvarint(out, uint64(len(places)-start))
	}
	out = append(out, places...)
	fmt.Printf("%d chunks, %d tokens, %d distinct, %d bytes\n", len(chunks), len(ids), len(distinct), len(out))
	return out, nil
}

// byFrequency returns the distinct ids, the most frequent first, the smaller of equals first.
func byFrequency(ids []int) []int {
	count := map[int]int{}
	var distinct []int
	for _, id := range ids {
		if count[id]++; count[id] == 1 {
			distinct = append(distinct, id)
		}
	}
	slices.SortFunc(distinct, func(a, b int) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	return distinct
}
