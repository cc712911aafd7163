package artifact

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// renamePatience bounds how long a file waits for those who read the one in its place: a page that shows it, a scanner.
const renamePatience = 3 * time.Second

// rename puts a file in the place of another one. As long as somebody has that one open, the system refuses.
func rename(from, to string) error {
	for end := time.Now().Add(renamePatience); ; time.Sleep(10 * time.Millisecond) {
		err := os.Rename(from, to)
		inUse := errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_SHARING_VIOLATION)
		if !inUse || time.Now().After(end) {
			return err
		}
	}
}
