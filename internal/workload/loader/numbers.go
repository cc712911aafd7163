package loader

import (
	"bytes"
	"encoding/json"
	"slices"

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

// integers returns a list of whole numbers; nil if it is absent or empty.
func (o *object) integers(key string) ([]int64, error) {
	if !o.has(key) {
		return nil, nil
	}
	var list []int64
	// The decoder takes a null among them for a 0.
	if json.Unmarshal(o.members[key], &list) != nil || bytes.Contains(o.members[key], []byte("null")) {
		return nil, o.wrong(key, "a list of whole numbers")
	}
	if len(list) == 0 {
		return nil, nil
	}
	return slices.Clip(list), nil
}

func textMedia(text string) []dataset.Media { return []dataset.Media{{Contents: []string{text}}} }
