package server

import (
	"os/exec"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// shell returns a command line as a command. The line is handed over as it is: cmd.exe has its own rules of quoting.
func shell(line string) *exec.Cmd {
	cmd := exec.Command("cmd.exe")
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd.exe /d /s /c "` + line + `"`}
	return cmd
}

// group is a server with what it has started: all processes of this one's job.
type group struct{}

// newGroup makes this process the first of a job that is killed with it.
func newGroup(cmd *exec.Cmd) (*group, error) {
	cmd.SysProcAttr.CreationFlags = windows.CREATE_NEW_PROCESS_GROUP
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		return nil, err
	}
	// The handle is kept until this process ends, which closes it.
	return &group{}, windows.AssignProcessToJobObject(job, windows.CurrentProcess())
}

// end asks the server to end. What is left of it dies with this process.
func (g *group) end(cmd *exec.Cmd, ended <-chan struct{}, grace time.Duration) bool {
	if isClosed(ended) {
		return true
	}
	_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(cmd.Process.Pid))
	within(grace, func() bool { return isClosed(ended) })
	return true
}

// kill does nothing: the server died with its guard.
func kill(int) {}
