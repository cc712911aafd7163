//go:build unix

package collect

import (
	"os/exec"
	"syscall"
)

// apart keeps Ctrl-C from a program: the run decides when it ends.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
