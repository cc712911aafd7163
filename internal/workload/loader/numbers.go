package loader

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"aiperf/internal/workload/dataset"
)

// integer returns a whole number; absent if there is none.
func (o *object) integer(key string, absent int64) (int64, error) {
	if !o.has(key) {
		return absent, nil
	}
	var n int64
	if json.Unmarshal(o.members[key], &n) != nil {
		return 0, o.wrong(key, "a whole number")
	}
	return n, nil
}

// blockIDs returns a list of ids of blocks; nil if it is absent or empty. Ids are names: one that only an unsigned
// number of 64 bits holds is the signed number of the same bits.
func (o *object) blockIDs(key string) ([]int64, error) {
	if !o.has(key) {
		return nil, nil
	}
	var list []int64
	// The decoder takes a null among them for a 0.
	if bytes.Contains(o.members[key], []byte("null")) || json.Unmarshal(o.members[key], &list) != nil {
		return o.largeIDs(key)
	}
	if len(list) == 0 {
		return nil, nil
	}
	return slices.Clip(list), nil
}

// largeIDs reads hashes. They may be unsigned: only which are equal counts, so that the bits are kept as they are.
func (o *object) largeIDs(key string) ([]int64, error) {
	var written []*json.Number
	wrong := o.wrong(key, "a list of whole numbers of up to 64 bits")
	if json.Unmarshal(o.members[key], &written) != nil {
		return nil, wrong
	}
	list := make([]int64, 0, len(written))
	for _, text := range written {
		if text == nil {
			return nil, wrong
		}
		n, err := text.Int64()
		if err != nil {
			var large uint64
			large, err = strconv.ParseUint(text.String(), 10, 64)
			n = int64(large)
		}
		if err != nil {
			return nil, wrong
		}
		list = append(list, n)
	}
	return list, nil
}

// outputLength returns the recorded length of an answer as the limit of a request; nil if it is absent. A recorded
// answer without a token was cut off: it is asked for one.
func (o *object) outputLength(key string) (*int, error) {
	if !o.has(key) {
		return nil, nil
	}
	x, ok := o.number(key)
	if !ok || x < 0 || x != math.Trunc(x) || x > math.MaxInt32 {
		return nil, o.wrong(key, "a whole number of at least 0")
	}
	n := max(1, int(x))
	return &n, nil
}

func textMedia(text string) []dataset.Media { return []dataset.Media{{Contents: []string{text}}} }
