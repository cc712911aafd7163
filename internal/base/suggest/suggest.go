// Package suggest finds what was probably meant by a word that is not known.
package suggest

import "strings"

// longest is the length of the longest word that may be a slip, in bytes: the time grows with the length.
const longest = 100

// Nearest returns the candidate closest to word by edit distance, empty when none is close enough to be meant.
func Nearest(word string, candidates []string) string {
	if len(word) > longest {
		return ""
	}
	best, bestDistance := "", max(2, len(word)/3)+1
	for _, c := range candidates {
		if d := distance(word, c, bestDistance); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	if best == "" && len(word) >= 3 { // an abbreviation
		for _, c := range candidates {
			if strings.HasPrefix(c, word) && (best == "" || len(c) < len(best)) {
				best = c
			}
		}
	}
	return best
}

// OneOf says what a word must be, and which of the choices was probably meant.
func OneOf(word string, choices []string) string {
	text := "must be one of " + strings.Join(choices, ", ")
	if near := Nearest(strings.ToLower(word), choices); near != "" && len(word) > 2 {
		text += "; did you mean " + near + "?"
	}
	return text
}

// distance returns the number of insertions, deletions, replacements and swaps of neighbours that turn a
// into b; it stops at limit.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		lowest := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
			lowest = min(lowest, next[j])
		}
		if lowest >= limit {
			return limit
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}
