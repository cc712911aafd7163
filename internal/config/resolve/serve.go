package resolve

import (
	"aiperf/internal/config"
	"aiperf/internal/config/option"
	"aiperf/internal/config/parse"
)

// serve decides how the server under test is started.
type serve struct{ *asked }

// serving are the options of a server that is started for the run.
var serving = []string{"serve-cmd", "reset-cmd"}

func (sv *serve) check() {
	if sv.p.IsSet("serve-cmd") && !sv.p.IsSet("model-names") {
		sv.fault("", "%s needs --model: the server cannot be asked for its models before it is started",
			sv.flag("serve-cmd"))
	}
	if sv.given("serve-timeout") && len(sv.givenOf(serving...)) == 0 {
		sv.warn("%s has no effect without --serve-cmd", sv.flag("serve-timeout"))
	}
	if _, err := parse.ServeParams(sv.p.Texts("serve-params")); err != nil {
		sv.fault("", "%v", err)
	}
}

// build returns nil where nothing is started. Of several parameter sets the run gets none: they are a sweep, which gives
// each of its runs one.
func (sv *serve) build() *config.Serve {
	p := sv.p
	if len(sv.givenOf(serving...)) == 0 {
		return nil
	}
	s := &config.Serve{Command: p.Text("serve-cmd"), Reset: p.Text("reset-cmd"),
		Timeout: option.Seconds(*p.Float("serve-timeout"))}
	if sets, err := parse.ServeParams(p.Texts("serve-params")); err == nil && len(sets) == 1 {
		s.Params = sets[0]
	}
	return s
}
