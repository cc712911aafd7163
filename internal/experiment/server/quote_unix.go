//go:build !windows

package server

import "strings"

// quote returns a text as one word of the shell; an empty text is no word.
func quote(s string) (string, error) {
	if s == "" || plain.MatchString(s) {
		return s, nil
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'", nil
}
