//go:build unix

package webserver

import (
	"errors"
	"syscall"
)

// notADirectory reports whether a path goes through a file, or has an element that is too long for any file.
func notADirectory(err error) bool {
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}
