package server

import (
	"fmt"
	"strings"
)

// quote returns a text as one word of cmd.exe; an empty text is no word.
func quote(s string) (string, error) {
	switch {
	case s == "" || plain.MatchString(s):
		return s, nil
	case strings.ContainsAny(s, "\"%\r\n"):
		return "", fmt.Errorf("the value %q cannot be quoted for cmd.exe: it has a quote, a percent sign or a line break", s)
	}
	return `"` + s + `"`, nil
}
