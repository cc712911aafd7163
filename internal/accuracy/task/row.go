package task

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/workload/rows"
)

// record is a row of a benchmark's data.
type record struct {
	row rows.Row
	// number counts the rows of its file from 1 on.
	number int
}

// lacks returns the first column that the row does not have, "" if it has all.
func (r record) lacks(columns []string) string {
	for _, c := range columns {
		if _, ok := r.row[c]; !ok {
			return c
		}
	}
	return ""
}

func (r record) columns() []string { return slices.Sorted(maps.Keys(r.row)) }

// text returns a value as text; lists and objects as JSON.
func (r record) text(column string) string {
	switch v := r.row[column].(type) {
	case nil:
		return ""
	case string:
		return v
	case []byte:
		return string(v)
	case []any, map[string]any:
		text, _ := json.Marshal(v) // of JSON or a table
		return string(text)
	default:
		return fmt.Sprint(v)
	}
}

// list returns a value that is a list of texts. Files of CSV have it as JSON.
func (r record) list(column string) ([]string, error) {
	values, ok := r.row[column].([]any)
	if text, isText := r.row[column].(string); isText {
		ok = json.Unmarshal([]byte(text), &values) == nil
	}
	if !ok {
		return nil, fmt.Errorf("the column %q is not a list", column)
	}
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = record{row: rows.Row{column: v}}.text(column)
	}
	return list, nil
}

// letter returns the letter of choice i.
func letter(i int) string { return string(rune('A' + i)) }

// chosen returns the index that a column names, as a number or as a letter.
func (r record) chosen(column string, of int) (int, error) {
	text := strings.TrimSpace(r.text(column))
	i, err := strconv.Atoi(text)
	if err != nil && len(text) == 1 {
		i, err = int(strings.ToUpper(text)[0])-'A', nil
	}
	if err != nil || i < 0 || i >= of {
		return 0, fmt.Errorf("the column %q is %q and names none of the %d choices", column, text, of)
	}
	return i, nil
}

// balanced draws worked examples so that their right answers differ, as the published procedure of MMLU does: rows are
// grouped by the text of the right choice, larger groups come first, those of equal size in a drawn order, and each group
// gives a drawn row in turn.
func balanced(list []record, n int) []record {
	groups := map[string][]record{}
	for _, r := range list {
		choices, err := r.list("choices")
		if err != nil {
			continue
		}
		if i, err := r.chosen("answer", len(choices)); err == nil {
			groups[choices[i]] = append(groups[choices[i]], r)
		}
	}
	bySize := map[int][]string{}
	for text, g := range groups {
		bySize[len(g)] = append(bySize[len(g)], text)
	}
	random := NewMersenneTwister(0)
	var order []string
	for _, size := range slices.Backward(slices.Sorted(maps.Keys(bySize))) {
		texts := bySize[size]
		slices.Sort(texts)
		random.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
		order = append(order, texts...)
	}
	var drawn []record
	for i := 0; len(order) > 0 && len(drawn) <= n && len(drawn) < len(list); i++ {
		text := order[i%len(order)]
		rest := groups[text]
		if len(rest) == 0 {
			if i > len(list)*len(order) {
				break
			}
			continue
		}
		k := random.IntN(len(rest))
		drawn = append(drawn, rest[k])
		groups[text] = slices.Delete(slices.Clone(rest), k, k+1)
	}
	return drawn[:min(n, len(drawn))]
}

// distinct returns the first rows of which each has another value in a column.
func distinct(list []record, column string, n int) (first []record) {
	seen := map[string]bool{}
	for _, r := range list {
		if v := r.text(column); len(first) < n && v != "" && !seen[v] {
			seen[v] = true
			first = append(first, r)
		}
	}
	return first
}
