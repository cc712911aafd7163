package wine

import "golang.org/x/sys/windows"

// Here reports whether this program runs under Wine, whose own library says so.
func Here() bool {
	return windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil
}
