package sandbox

import "golang.org/x/sys/unix"

// forks are the older calls that make processes.
var forks = []uintptr{unix.SYS_FORK, unix.SYS_VFORK, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_IOPL, unix.SYS_IOPERM}
