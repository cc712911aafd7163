package resolve

import (
	"aiperf/internal/config"
	"aiperf/internal/config/option"
	"aiperf/internal/config/parse"
)

// serve decides how the server under test is started.
type serve struct{ *asked }

// given reports whether a server is started for the run, or one that runs is reset.
func (sv *serve) given() bool { return sv.p.ServeCmd.Given() || sv.p.ResetCmd.Given() }

func (sv *serve) check() {
	if sv.p.ServeCmd.IsSet() && !sv.p.ModelNames.IsSet() {
		sv.fault("", "%s needs --model: the server cannot be asked for its models before it is started",
			sv.p.ServeCmd.Flag())
	}
	if sv.p.ServeTimeout.Given() && !sv.given() {
		sv.warn("%s has no effect without --serve-cmd", sv.p.ServeTimeout.Flag())
	}
	if _, err := parse.ServeParams(sv.p.ServeParams.Get()); err != nil {
		sv.fault("", "%v", err)
	}
}

// build returns nil where nothing is started. Of several parameter sets the run gets none: they are a sweep, which gives
// each of its runs one.
func (sv *serve) build() *config.Serve {
	p := sv.p
	if !sv.given() {
		return nil
	}
	s := &config.Serve{Command: p.ServeCmd.Get(), Reset: p.ResetCmd.Get(),
		Timeout: option.Seconds(p.ServeTimeout.Get())}
	if sets, err := parse.ServeParams(p.ServeParams.Get()); err == nil && len(sets) == 1 {
		s.Params = sets[0]
	}
	return s
}
