package webserver

import (
	"errors"

	"golang.org/x/sys/windows"
)

// notADirectory reports whether a path goes through a file, or has an element that no file can have: too long, or with
// characters that names have not.
func notADirectory(err error) bool {
	for _, none := range []error{windows.ERROR_DIRECTORY, windows.ERROR_INVALID_NAME, windows.ERROR_BAD_PATHNAME,
		windows.ERROR_FILENAME_EXCED_RANGE} {
		if errors.Is(err, none) {
			return true
		}
	}
	return false
}
