package resolve

import (
	"slices"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/config/option"
	"aiperf/internal/config/settings"
	"aiperf/internal/wire/api"
	"aiperf/internal/workload/recording"
)

// recorded is what the recording of aiperf record has that is played; nil where the data is another one.
func (a *asked) recorded() *recording.About {
	if !a.looked {
		a.recording, a.looked = recordingOf(a.p), true
	}
	return a.recording
}

func recordingOf(p *settings.Settings) *recording.About {
	path, format := p.InputFile.Get(), p.CustomDatasetType.Get()
	if path == "" || len(p.Dataset.Records) > 0 || format != "" && format != option.Recording || p.Map.Given() {
		return nil
	}
	about, ok := recording.Look(path)
	if !ok {
		return nil
	}
	return &about
}

// RecordedModels are the models of a recording that is played without a model being named, the most frequent first.
func RecordedModels(p *settings.Settings) []string {
	if about := recordingOf(p); about != nil && LacksModel(p) {
		return recording.Most(about.Models)
	}
	return nil
}

// asRecorded takes from a recording what the user leaves open: the endpoint type and whether replies are streams.
func (ep *endpoint) asRecorded() (endpointType string, streaming bool) {
	endpointType, streaming = ep.p.EndpointType.Get(), ep.p.Streaming.Get()
	about := ep.recorded()
	if about == nil || about.Rows == 0 {
		return endpointType, streaming
	}
	types := recording.Most(about.Endpoints)
	types = slices.DeleteFunc(types, func(name string) bool {
		_, known := api.Lookup(name)
		return !known
	})
	if !ep.p.EndpointType.Given() && !ep.p.EndpointPlugin.Given() && len(types) > 0 {
		endpointType = types[0]
		if endpointType != ep.p.EndpointType.Get() {
			ep.info("the recording has requests of the endpoint type %s: they are sent as such", endpointType)
		}
		if len(types) > 1 {
			ep.info("the recording has requests of the endpoint types %s: those of %s are played; --endpoint-type plays "+
				"others", strings.Join(types, ", "), endpointType)
		}
	}
	if !ep.p.Streaming.Given() && about.Streams > 0 {
		streaming = 2*about.Streams >= about.Rows
		switch {
		case streaming && about.Streams == about.Rows:
			ep.info("the replies of the recording were streams: requests ask for streams; --streaming=false prevents this")
		case streaming:
			ep.info("most replies of the recording were streams: all requests ask for streams; --streaming=false prevents this")
		default:
			ep.info("most replies of the recording were no streams: no request asks for one; --streaming changes that")
		}
	}
	return endpointType, streaming
}

// forcesLength reports whether requests of a recording ask for replies of the recorded length.
func (ds *dataset) forcesLength() bool {
	about := ds.recorded()
	return about != nil && about.Keep != recording.KeepText && ds.p.ForceMinTokens.Get() &&
		slices.Contains([]string{"chat", "completions"}, ds.endpoint.endpointType)
}

// played says how a recording is played.
func (ds *dataset) played() config.Played {
	if ds.recorded() == nil {
		return config.Played{}
	}
	p := config.Played{Is: true, ForceLength: ds.forcesLength()}
	if names := ds.p.ModelNames.Get(); len(names) == 1 {
		p.Model = names[0]
	}
	return p
}

// tellReplies says whether replies of recorded lengths can be relied on.
func (ds *dataset) tellReplies() {
	about, format := ds.recorded(), ""
	if path := ds.p.InputFile.Get(); path != "" {
		format = ds.file.format(path)
	}
	switch {
	case about != nil && about.Keep == recording.KeepText:
		ds.info("requests are sent with their recorded bodies: replies have the lengths that the server gives them")
	case ds.forcesLength():
		ds.info("requests ask for replies of the recorded lengths with ignore_eos and min_tokens: others come from a " +
			"server that does not honour them; --no-force-min-tokens leaves them out")
	case about != nil && ds.endpoint.facts.ProducesTokens:
		ds.info("recorded reply lengths are only limits here: a model may stop earlier")
	case format == "mooncake_trace" && !ds.asksForLength():
		ds.info("recorded reply lengths are only limits: a model may stop earlier; --extra-inputs ignore_eos:true asks a " +
			"server that honours it for the whole length")
	}
}
