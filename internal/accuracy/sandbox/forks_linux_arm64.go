package sandbox

import "golang.org/x/sys/unix"

// forks are the older calls that make processes: this architecture has none.
var forks = []uintptr{unix.SYS_KEXEC_FILE_LOAD}
