package command

import (
	"os"

	"golang.org/x/sys/windows"
)

// understandsEscapes has a console carry out the sequences that move its cursor and colour its text, and reports whether it
// does. Consoles do so only when they are asked; those before Windows 10 cannot.
func understandsEscapes(f *os.File) bool {
	console := windows.Handle(f.Fd())
	var mode uint32
	if windows.GetConsoleMode(console, &mode) != nil {
		return true // it is no console, and whoever reads the output decides
	}
	return mode&windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING != 0 ||
		windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
