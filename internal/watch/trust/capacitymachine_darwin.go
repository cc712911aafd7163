package trust

import "golang.org/x/sys/unix"

func systemFacts() (model, kernel string) {
	model, _ = unix.Sysctl("machdep.cpu.brand_string")
	kernel, _ = unix.Sysctl("kern.osrelease")
	return model, kernel
}
