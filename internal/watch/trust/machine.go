package trust

import "runtime"

// Machine are the facts on which a measurement depends. What the system does not tell is "".
type Machine struct {
	// CPUs are those that the process may use: the least of the affinity, the control group's quota and GOMAXPROCS.
	CPUs int `json:"cpus"`
	// Model is the processor's name, Kernel the release of the operating system.
	Model  string `json:"model"`
	System string `json:"system"` // as in linux/amd64
	Kernel string `json:"kernel"`
	// Version is the program's.
	Version string `json:"aiperf_version"`
}

// ThisMachine returns the facts of this machine.
func ThisMachine(version string) Machine {
	model, kernel := systemFacts()
	return Machine{CPUs: runtime.GOMAXPROCS(0), Model: model, System: runtime.GOOS + "/" + runtime.GOARCH,
		Kernel: kernel, Version: version}
}

// differs names the first fact that is another; "" = none.
func (m Machine) differs(o Machine) string {
	switch {
	case m.CPUs != o.CPUs:
		return "number of processors"
	case m.Model != o.Model || m.System != o.System:
		return "processor"
	case m.Kernel != o.Kernel:
		return "kernel"
	case m.Version != o.Version:
		return "version of aiperf"
	}
	return ""
}
