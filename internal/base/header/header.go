// Package header knows what users may ask of the headers of a request: which names and values a header can have, and
// which headers belong to the connection or to the body, and so to the client alone.
package header

import (
	"errors"
	"fmt"
	"strings"
)

// IsToken reports whether a text is a token of HTTP, as names of headers and methods are.
func IsToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		digit := '0' <= c && c <= '9'
		if !letter && !digit && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}

// owned are the headers that describe the connection or the body, in lower case: hop-by-hop ones (RFC 9110, 7.6.1) and
// those that say how long the body is and what it holds.
var owned = map[string]bool{
	"connection": true, "keep-alive": true, "proxy-authenticate": true, "proxy-authorization": true,
	"proxy-connection": true, "te": true, "trailer": true, "transfer-encoding": true, "upgrade": true,
	"content-length": true, "content-type": true,
}

// errName is the fault of a name.
var errName = errors.New("the name of a header is letters, digits and dashes")

// CheckName returns why a header cannot be given for some of the requests of a run; nil if it can.
func CheckName(name string) error {
	switch {
	case !IsToken(name):
		return errName
	case owned[strings.ToLower(name)]:
		return fmt.Errorf("the header %s describes the connection or the body, and is written by the client alone",
			name)
	}
	return nil
}

// Check returns why a header cannot be given for some of the requests of a run; nil if it can. The error does not
// repeat the value, which may be a secret.
func Check(name, value string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	for i := range len(value) {
		switch c := value[i]; {
		case c == '\r', c == '\n':
			return fmt.Errorf("the value of header %s contains a line break", name)
		case c < ' ' && c != '\t', c == 0x7f:
			return fmt.Errorf("the value of header %s contains a control character", name)
		}
	}
	return nil
}
