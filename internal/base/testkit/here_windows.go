package testkit

import "golang.org/x/sys/windows"

// UnderWine reports whether this program runs under Wine, whose own library says so.
func UnderWine() bool {
	return windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil
}
