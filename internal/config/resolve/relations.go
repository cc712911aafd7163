package resolve

import (
	"slices"

	"aiperf/internal/config/option"
)

// requirement is a rule about an option that does nothing without another one.
type requirement struct {
	rule        string
	flag, needs option.Field
}

// requirements: the first option is allowed only together with the second.
func requirements(p *option.Tree) []requirement {
	return []requirement{
		{"V15", &p.UserCentricRate, &p.NumUsers},
		{"V18", &p.NumUsers, &p.UserCentricRate},
		{"V22", &p.BenchmarkGracePeriod, &p.BenchmarkDuration},
		{"V23", &p.WarmupGracePeriod, &p.WarmupDuration},
		{"V24", &p.RequestCancellationDelay, &p.RequestCancellationRate},
		{"V25", &p.RequestRateRampDuration, &p.RequestRate},
		{"", &p.TLSClientCert, &p.TLSClientKey},
		{"", &p.TLSClientKey, &p.TLSClientCert},
		{"", &p.SageMakerTargetModel, &p.SageMakerEndpointName},
		{"", &p.SageMakerInferenceComponentName, &p.SageMakerEndpointName},
		{"", &p.SageMakerTargetVariant, &p.SageMakerEndpointName},
		{"", &p.ServeParams, &p.ServeCmd},
		{"", &p.PerChunkUsage, &p.Streaming},
		{"", &p.Stream, &p.OTelURL},
		{"", &p.OTelResourceAttributes, &p.OTelURL},
		{"", &p.GenAIProvider, &p.OTelURL},
		{"", &p.MLflowExperiment, &p.MLflowTrackingURI},
		{"", &p.MLflowRunName, &p.MLflowTrackingURI},
		{"", &p.MLflowTag, &p.MLflowTrackingURI},
		{"", &p.MLflowParentRunID, &p.MLflowTrackingURI},
		{"", &p.MLflowArtifactGlob, &p.MLflowTrackingURI},
		{"", &p.WandBEntity, &p.WandBProject},
		{"", &p.WandBRunName, &p.WandBProject},
		{"", &p.WandBTag, &p.WandBProject},
	}
}

func (r *resolution) checkRequirements() {
	p := &r.p.Tree
	publishing := []option.Field{&p.OTelURL, &p.MLflowTrackingURI, &p.WandBProject}
	for _, q := range requirements(p) {
		if !active(q.flag) || active(q.needs) {
			continue
		}
		if fromFile(q.flag) && slices.Contains(publishing, q.needs) {
			// A file may leave the address out.
			r.warn("%s has no effect without --%s", q.flag.Flag(), q.needs.Row().Name)
			continue
		}
		r.fault(q.rule, "%s can only be used together with --%s", q.flag.Flag(), q.needs.Row().Name)
	}
	if p.APIHost.Given() && !p.APIPort.IsSet() {
		r.fault("V45", "%s requires a port: give --api-port or set AIPERF_API_SERVER_PORT", p.APIHost.Flag())
	}
}

// exclusion is a rule about two options that contradict each other; hint says what to do, if it is not plain.
type exclusion struct {
	rule string
	a, b option.Field
	hint string
}

func exclusions(p *option.Tree) []exclusion {
	return []exclusion{
		{"V6", &p.PublicDataset, &p.CustomDatasetType, ""},
		{"V11", &p.WarmupRequestCount, &p.NumWarmupSessions, "use either, not both"},
		{"V16", &p.UserCentricRate, &p.RequestRate, ""},
		{"V16", &p.UserCentricRate, &p.ArrivalPattern, ""},
		{"V34", &p.GPUTelemetry, &p.NoGPUTelemetry, "use only one"},
		{"V34", &p.ServerMetrics, &p.NoServerMetrics, "use only one"},
		{"", &p.EndpointPlugin, &p.EndpointType, "the program is the endpoint"},
		{"", &p.SageMakerEndpointName, &p.CustomEndpoint, "the endpoint's name makes the path"},
		{"", &p.SageMakerEndpointName, &p.UnixSocket, ""},
		{"", &p.UnixSocket, &p.NetworkLatencyAutomatic, "there is no network between the program and a socket"},
		{"", &p.UnixSocket, &p.SourceAddress, "a socket has no addresses"},
		{"", &p.SageMakerEndpointName, &p.HTTP2, "the service is called over HTTP/1.1"},
		{"V47", &p.IgnoreTraceDelays, &p.UseThinkTimeOnly, ""},
		{"V47", &p.NetworkLatencyAutomatic, &p.NetworkLatencyMean, ""},
		{"V47", &p.RequestRate, &p.RequestRateSeries, ""},
		{"V16", &p.UserCentricRate, &p.RequestRateSeries, ""},
		{"", &p.RequestRateSeries, &p.RequestRateRampDuration, "the series already defines the rate"},
		{"", &p.FixedSchedule, &p.IgnoreTraceDelays, "without recorded times there is no schedule"},
		{"V47", &p.RandomRangeRatio, &p.SeqDist, ""},
		{"", &p.FixedSchedule, &p.NoFixedSchedule, "use only one"},
		{"", &p.SystemPrompt, &p.SystemPromptFile, "use only one"},
		{"", &p.SystemPrompt, &p.SharedSystemPromptLength, "use only one"},
		{"", &p.SystemPromptFile, &p.SharedSystemPromptLength, "use only one"},
		{"", &p.PublicDataset, &p.InputFile, "use only one"},
		{"", &p.ZMQHost, &p.ZMQIPCPath, "use only one"},
		{"", &p.Agents, &p.WaitForAgents, "the first starts agents here, the second waits for those of other machines"},
		{"", &p.NATSURL, &p.NATSListen, "the first names a server, the second is for the one within this program"},
		{"", &p.NATSTokenFile, &p.NATSNKeyFile, "use only one"},
		{"", &p.NATSTokenFile, &p.NATSCredsFile, "use only one"},
		{"", &p.AgenticCacheWarmupDuration, &p.WarmupRequestsPerLane, "use only one"},
	}
}

func (r *resolution) checkExclusions() {
	for _, x := range exclusions(&r.p.Tree) {
		if !active(x.a) || !active(x.b) {
			continue
		}
		hint := x.hint
		if hint != "" {
			hint = "; " + hint
		}
		r.fault(x.rule, "%s and %s cannot be used together%s", x.a.Flag(), x.b.Flag(), hint)
	}
}

// checkBuilt refuses the values that this release lacks.
func (r *resolution) checkBuilt() {
	for f := range r.p.Fields() {
		text, isText := f.Value().(string)
		built := f.Row().BuiltValues
		if f.Given() && len(built) > 0 && isText && !slices.Contains(built, text) {
			r.unavailable(f.Flag()+" "+text, "use "+orList(built))
		}
	}
}
