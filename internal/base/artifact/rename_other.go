//go:build !windows

package artifact

import "os"

// rename puts a file in the place of another one, which may be open.
func rename(from, to string) error { return os.Rename(from, to) }
