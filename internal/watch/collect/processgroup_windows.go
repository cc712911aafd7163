package collect

import (
	"os/exec"
	"syscall"
)

// ownProcessGroup keeps Ctrl-C from a program: the run decides when it ends.
func ownProcessGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
