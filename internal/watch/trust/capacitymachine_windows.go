package trust

import (
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

func systemFacts() (model, kernel string) {
	v := windows.RtlGetVersion()
	return os.Getenv("PROCESSOR_IDENTIFIER"), fmt.Sprintf("%d.%d.%d", v.MajorVersion, v.MinorVersion, v.BuildNumber)
}
