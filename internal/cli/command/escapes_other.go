//go:build !windows

package command

import "os"

// understandsEscapes: terminals do, unless TERM says otherwise.
func understandsEscapes(*os.File) bool { return true }
