package cli

import (
	"errors"
	"os"
	"runtime"
	"runtime/pprof"

	"aiperf/internal/cli/command"
	"aiperf/internal/config/env"
)

// profiled runs the program under its own profiler where the variable names a file: that gets the processor time, and
// files of its name with .heap and .allocs behind it the live memory and all allocations at the end. It is for those
// who work on the program itself.
func profiled(e *command.Env, program func() int) int {
	path, asked := e.LookupEnv(env.SelfProfile)
	if !asked || path == "" {
		return program()
	}
	end, err := startProfile(path)
	if err != nil {
		return e.Finish(err)
	}
	code := program()
	if err := end(); err != nil && code == command.ExitOK {
		return e.Finish(err)
	}
	return code
}

// startProfile begins to write the profile; end completes all files.
func startProfile(path string) (end func() error, err error) {
	cpu, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return nil, errors.Join(err, cpu.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		errs := []error{cpu.Close()}
		runtime.GC() // the heap profile is that of the last collection
		for _, name := range []string{"heap", "allocs"} {
			f, err := os.Create(path + "." + name)
			if err == nil {
				err = errors.Join(pprof.Lookup(name).WriteTo(f, 0), f.Close())
			}
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	}, nil
}
