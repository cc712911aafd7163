//go:build unix

package collect

import (
	"os/exec"
	"syscall"
)

// ownProcessGroup keeps Ctrl-C from a program: the run decides when it ends.
func ownProcessGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
