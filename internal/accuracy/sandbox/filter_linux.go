//go:build linux && (amd64 || arm64)

package sandbox

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// refused are the system calls that programs do not need: networks, mounts, namespaces, other processes, the kernel.
var refused = []uintptr{
	unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_CONNECT, unix.SYS_ACCEPT4,
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_GETFD,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_UNSHARE, unix.SYS_SETNS,
	unix.SYS_FSOPEN, unix.SYS_FSMOUNT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_MOUNT_SETATTR,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN,
	unix.SYS_USERFAULTFD, unix.SYS_IO_URING_SETUP, unix.SYS_MEMFD_CREATE, unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_SETHOSTNAME,
	unix.SYS_SHMGET, unix.SYS_MSGGET, unix.SYS_SEMGET, unix.SYS_SETPRIORITY, unix.SYS_SCHED_SETSCHEDULER,
	unix.SYS_SCHED_SETATTR, unix.SYS_PERSONALITY, unix.SYS_SYSLOG, unix.SYS_FANOTIFY_INIT,
}

const (
	atNumber = 0  // of struct seccomp_data
	atArch   = 4  // of struct seccomp_data
	atArg0   = 16 // the lower half of the first argument, little-endian
)

// filter refuses system calls to this thread and to the program that it becomes. New processes are refused, threads are
// not.
func filter() error {
	arch := uint32(unix.AUDIT_ARCH_X86_64)
	if runtime.GOARCH == "arm64" {
		arch = unix.AUDIT_ARCH_AARCH64
	}
	stmt := func(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }
	jump := func(code uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: code, Jt: yes, Jf: no, K: k}
	}
	const (
		load   = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		above  = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		anyBit = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
		end    = unix.BPF_RET | unix.BPF_K
		x32    = 0x40000000
		refuse = seccompErrno | uint32(unix.EPERM)
	)
	program := []unix.SockFilter{
		stmt(load, atArch), jump(equal, arch, 1, 0), stmt(end, seccompKill),
		stmt(load, atNumber), jump(above, x32, 0, 1), stmt(end, seccompKill),
		// clone3 has its flags in memory, which a filter cannot read: libraries fall back to clone.
		jump(equal, uint32(unix.SYS_CLONE3), 0, 1), stmt(end, seccompErrno|uint32(unix.ENOSYS)),
		jump(equal, uint32(unix.SYS_CLONE), 0, 4),
		stmt(load, atArg0), jump(anyBit, unix.CLONE_THREAD, 1, 0), stmt(end, refuse), stmt(end, seccompAllow),
	}
	// The program ends with the run, and may not change that.
	program = append(program, jump(equal, uint32(unix.SYS_PRCTL), 0, 4), stmt(load, atArg0),
		jump(equal, unix.PR_SET_PDEATHSIG, 0, 1), stmt(end, refuse), stmt(end, seccompAllow))
	for _, number := range append(forks, refused...) {
		program = append(program, jump(equal, uint32(number), 0, 1), stmt(end, refuse))
	}
	program = append(program, stmt(end, seccompAllow))
	of := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&of)), 0, 0)
	runtime.KeepAlive(program)
	return err
}

const (
	seccompKill  = 0x80000000
	seccompErrno = 0x00050000
	seccompAllow = 0x7fff0000
)
