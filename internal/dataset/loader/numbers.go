package loader

import (
	"encoding/json"

	"aiperf/internal/dataset"
)

// integer is a whole number; absent if there is none.
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

// integers is a list of whole numbers; nil if it is absent or empty.
func (o *object) integers(key string) ([]int64, error) {
	if !o.has(key) {
		return nil, nil
	}
	var list []*int64 // a null among them is not a 0
	err := json.Unmarshal(o.members[key], &list)
	numbers := make([]int64, 0, len(list))
	for _, n := range list {
		if n == nil || err != nil {
			return nil, o.wrong(key, "a list of whole numbers")
		}
		numbers = append(numbers, *n)
	}
	if err != nil {
		return nil, o.wrong(key, "a list of whole numbers")
	}
	if len(numbers) == 0 {
		return nil, nil
	}
	return numbers, nil
}

func textMedia(text string) []dataset.Media { return []dataset.Media{{Contents: []string{text}}} }
