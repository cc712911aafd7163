package resolve

import (
	"fmt"
	"math"
	"net"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
	"aiperf/internal/config/parse"
)

// telemetry decides what is collected alongside the load and who else gets figures.
type telemetry struct {
	*asked
	endpoint      *endpoint
	metricsListen string
	web           config.Web
}

func (te *telemetry) serverMetrics() config.ServerMetrics {
	p := te.p
	return config.ServerMetrics{
		// SageMaker passes nothing on but invocations.
		Enabled: !p.NoServerMetrics.Get() && (p.ServerMetrics.Given() || !p.SageMakerEndpointName.Given()),
		Given:   p.ServerMetrics.Given(),
		URLs:    p.ServerMetrics.Get(), Formats: p.ServerMetricsFormats.Get(),
	}
}

func (te *telemetry) gpu() config.GPU {
	items, _ := parse.GPU(te.p.GPUTelemetry.Get()) // checked before
	return config.GPU{
		Enabled: !te.p.NoGPUTelemetry.Get(), Given: te.p.GPUTelemetry.Given(),
		Dashboard: items.Dashboard, Exporters: items.Exporters, Collector: items.Collector, MetricsFile: items.MetricsFile,
		PricePerHour: te.p.PricePerGPUHour.Get(), Count: int(te.p.NumGPUs.Get()),
	}
}

func (te *telemetry) network() config.Network {
	n := config.Network{Automatic: te.p.NetworkLatencyAutomatic.Get(),
		Interval: option.Seconds(te.p.NetworkLatencyPingInterval.Get())}
	if mean := te.p.NetworkLatencyMean.Pointer(); mean != nil {
		rtt := time.Duration(min(math.Round(*mean*1e6), math.MaxInt64/2))
		n.Mean = &rtt
	}
	return n
}

func (te *telemetry) otel() config.OTel {
	if !te.p.OTelURL.Given() {
		return config.OTel{}
	}
	o := config.OTel{Provider: strings.TrimSpace(te.p.GenAIProvider.Get())}
	o.URL, _ = parse.OTelURL(te.p.OTelURL.Get())                          // checked before
	o.Attributes, _ = parse.Attributes(te.p.OTelResourceAttributes.Get()) // checked before
	streams := te.p.Stream.Get()
	everything := len(streams) == 0 || slices.Contains(streams, "default")
	o.Metrics = everything || slices.Contains(streams, "metrics")
	o.Timing = everything || slices.Contains(streams, "timing")
	return o
}

func (te *telemetry) mlflow() config.MLflow {
	if !te.p.MLflowTrackingURI.Given() {
		return config.MLflow{}
	}
	m := config.MLflow{
		Experiment:  strings.TrimSpace(te.p.MLflowExperiment.Get()),
		RunName:     strings.TrimSpace(te.p.MLflowRunName.Get()),
		ParentRunID: strings.TrimSpace(te.p.MLflowParentRunID.Get()),
		Globs:       parse.Globs(te.p.MLflowArtifactGlob.Get()),
	}
	m.URI, _ = parse.MLflowURI(te.p.MLflowTrackingURI.Get()) // checked before
	for _, pair := range te.p.MLflowTag.Get() {
		m.Tags = append(m.Tags, config.Attribute{Name: pair.Key, Value: parse.TagText(pair.Value)})
	}
	return m
}

func (te *telemetry) wandb() config.WandB {
	if !te.p.WandBProject.Given() {
		return config.WandB{}
	}
	w := config.WandB{
		Project: strings.TrimSpace(te.p.WandBProject.Get()),
		Entity:  strings.TrimSpace(te.p.WandBEntity.Get()),
		RunName: strings.TrimSpace(te.p.WandBRunName.Get()),
	}
	for _, tag := range te.p.WandBTag.Get() {
		if tag = strings.TrimSpace(tag); tag != "" {
			w.Tags = append(w.Tags, tag)
		}
	}
	return w
}

// checkListen reads the addresses to listen on.
func (te *telemetry) checkListen() {
	te.metricsListen, te.web.Page = te.listen(&te.p.MetricsListen), te.listen(&te.p.Web)
	if te.p.APIPort.IsSet() {
		te.web.API = net.JoinHostPort(te.p.APIHost.Get(), fmt.Sprint(te.p.APIPort.Get()))
		te.web.APIOptional = te.p.APIPort.Origin().Source == option.FromEnvironment
	}
}

// listen returns the address of an option, "" where it is not given.
func (te *telemetry) listen(o *option.Opt[string]) string {
	if !o.Given() {
		return ""
	}
	address, err := parse.Listen(o.Get())
	if err != nil {
		te.fault("", "%s %q is not an address to listen on: %v", o.Flag(), fault.Shorten(o.Get()), err)
	}
	return address
}

func (te *telemetry) checkTelemetry() {
	if te.p.PricePerGPUHour.Given() && !te.p.NumGPUs.Given() && te.p.NoGPUTelemetry.Get() {
		te.fault("", "%s needs the number of GPUs, which is not known with %s: add --num-gpus",
			te.p.PricePerGPUHour.Flag(), te.p.NoGPUTelemetry.Flag())
	}
	if te.p.GPUTelemetry.Given() {
		items, err := parse.GPU(te.p.GPUTelemetry.Get())
		if err != nil {
			te.fault("V35", "%s: %v", te.p.GPUTelemetry.Flag(), err)
		}
		if items.Collector != "" && !te.endpoint.allLocal() {
			te.warn("%s %s reads only the GPUs of this machine, but the server is elsewhere: %s",
				te.p.GPUTelemetry.Flag(), items.Collector, strings.Join(te.endpoint.remoteURLs(), ", "))
		}
	}
	if te.p.ServerMetrics.Given() {
		if _, err := parse.ServerMetricsURLs(te.p.ServerMetrics.Get()); err != nil {
			te.fault("", "%s: %v", te.p.ServerMetrics.Flag(), err)
		}
	}
}

// checkOTel checks the options of the stream of OpenTelemetry metrics.
func (te *telemetry) checkOTel() {
	if te.p.OTelURL.Given() {
		text := te.p.OTelURL.Get()
		if _, err := parse.OTelURL(text); err != nil {
			te.fault("", "%s %s: %v", te.p.OTelURL.Flag(), fault.Shorten(artifact.RedactAddress(text)), err)
		}
	}
	if te.p.OTelResourceAttributes.Given() {
		if _, err := parse.Attributes(te.p.OTelResourceAttributes.Get()); err != nil {
			te.fault("", "%s: %v", te.p.OTelResourceAttributes.Flag(), err)
		}
	}
	if te.p.GenAIProvider.Given() && strings.TrimSpace(te.p.GenAIProvider.Get()) == "" {
		te.fault("", "%s is empty; omit it to derive the provider from the host", te.p.GenAIProvider.Flag())
	}
}

// checkMLflow checks the options of the upload to MLflow.
func (te *telemetry) checkMLflow() {
	if te.p.MLflowTrackingURI.Given() {
		text := te.p.MLflowTrackingURI.Get()
		if _, err := parse.MLflowURI(text); err != nil {
			te.fault("", "%s %s: %v", te.p.MLflowTrackingURI.Flag(), fault.Shorten(artifact.RedactAddress(text)), err)
		}
	}
	te.checkNotEmpty(&te.p.MLflowExperiment, &te.p.MLflowRunName, &te.p.MLflowParentRunID)
	for _, m := range te.p.MLflowTag.Get() {
		if err := parse.CheckTagName(m.Key); err != nil {
			te.fault("", "%s %s: %v", te.p.MLflowTag.Flag(), fault.Shorten(m.Key), err)
		}
	}
	for _, pattern := range parse.Globs(te.p.MLflowArtifactGlob.Get()) {
		if err := parse.CheckGlob(pattern); err != nil {
			te.fault("", "%s: %v", te.p.MLflowArtifactGlob.Flag(), err)
		}
	}
}

// checkNotEmpty checks that options that are given have a value.
func (te *telemetry) checkNotEmpty(options ...*option.Opt[string]) {
	for _, o := range options {
		if o.Given() && strings.TrimSpace(o.Get()) == "" {
			te.fault("", "%s is empty", o.Flag())
		}
	}
}

// checkWandB checks the options of the upload to Weights & Biases.
func (te *telemetry) checkWandB() {
	te.checkNotEmpty(&te.p.WandBProject, &te.p.WandBEntity, &te.p.WandBRunName)
	w := te.wandb()
	if strings.ContainsAny(w.Project, projectExcludes) || utf8.RuneCountInString(w.Project) > maxProject {
		te.fault("", "%s %s: a project name has at most %d characters and none of %s", te.p.WandBProject.Flag(),
			fault.Shorten(w.Project), maxProject, projectExcludes)
	}
	if strings.Contains(w.Entity, "/") {
		te.fault("", "%s %s: an entity is one name without /", te.p.WandBEntity.Flag(), fault.Shorten(w.Entity))
	}
	for _, tag := range w.Tags {
		if utf8.RuneCountInString(tag) > maxWandBTag {
			te.fault("", "%s %s: a tag has at most %d characters", te.p.WandBTag.Flag(), fault.Shorten(tag),
				maxWandBTag)
		}
	}
}

// The limits that Weights & Biases sets.
const (
	projectExcludes = `/\#?%:`
	maxProject      = 128
	maxWandBTag     = 64
)
