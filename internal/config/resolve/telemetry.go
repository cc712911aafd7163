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
	"aiperf/internal/config/settings"
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
		Enabled: !p.Bool("no-server-metrics") && (p.Given("server-metrics") || !p.Given("sagemaker-endpoint-name")),
		Given:   p.Given("server-metrics"),
		URLs:    p.Texts("server-metrics"), Formats: p.Texts("server-metrics-formats"),
	}
}

func (te *telemetry) gpu() config.GPU {
	items, _ := parse.GPU(te.p.Texts("gpu-telemetry")) // checked before
	g := config.GPU{
		Enabled: !te.p.Bool("no-gpu-telemetry"), Given: te.p.Given("gpu-telemetry"),
		Dashboard: items.Dashboard, Exporters: items.Exporters, Collector: items.Collector, MetricsFile: items.MetricsFile,
	}
	if price := te.p.Float("price-per-gpu-hour"); price != nil {
		g.PricePerHour = *price
	}
	if n := te.p.Int("num-gpus"); n != nil {
		g.Count = int(*n)
	}
	return g
}

func (te *telemetry) network() config.Network {
	n := config.Network{Automatic: te.p.Bool("network-latency-automatic"),
		Interval: option.Seconds(*te.p.Float("network-latency-ping-interval"))}
	if mean := te.p.Float("network-latency-mean"); mean != nil {
		rtt := time.Duration(min(math.Round(*mean*1e6), math.MaxInt64/2))
		n.Mean = &rtt
	}
	return n
}

func (te *telemetry) otel() config.OTel {
	if !te.given("otel-url") {
		return config.OTel{}
	}
	o := config.OTel{Provider: strings.TrimSpace(te.p.Text("gen-ai-provider"))}
	o.URL, _ = parse.OTelURL(te.p.Text("otel-url"))                            // checked before
	o.Attributes, _ = parse.Attributes(te.p.Texts("otel-resource-attributes")) // checked before
	streams := te.p.Texts("stream")
	everything := len(streams) == 0 || slices.Contains(streams, "default")
	o.Metrics = everything || slices.Contains(streams, "metrics")
	o.Timing = everything || slices.Contains(streams, "timing")
	return o
}

func (te *telemetry) mlflow() config.MLflow {
	if !te.given("mlflow-tracking-uri") {
		return config.MLflow{}
	}
	m := config.MLflow{
		Experiment:  strings.TrimSpace(te.p.Text("mlflow-experiment")),
		RunName:     strings.TrimSpace(te.p.Text("mlflow-run-name")),
		ParentRunID: strings.TrimSpace(te.p.Text("mlflow-parent-run-id")),
		Globs:       parse.Globs(te.p.Texts("mlflow-artifact-glob")),
	}
	m.URI, _ = parse.MLflowURI(te.p.Text("mlflow-tracking-uri")) // checked before
	for _, pair := range te.p.Pairs("mlflow-tag") {
		m.Tags = append(m.Tags, config.Attribute{Name: pair.Key, Value: parse.TagText(pair.Value)})
	}
	return m
}

func (te *telemetry) wandb() config.WandB {
	if !te.given("wandb-project") {
		return config.WandB{}
	}
	w := config.WandB{
		Project: strings.TrimSpace(te.p.Text("wandb-project")),
		Entity:  strings.TrimSpace(te.p.Text("wandb-entity")),
		RunName: strings.TrimSpace(te.p.Text("wandb-run-name")),
	}
	for _, tag := range te.p.Texts("wandb-tag") {
		if tag = strings.TrimSpace(tag); tag != "" {
			w.Tags = append(w.Tags, tag)
		}
	}
	return w
}

// checkListen reads the addresses to listen on.
func (te *telemetry) checkListen() {
	te.metricsListen, te.web.Page = te.listen("metrics-listen"), te.listen("web")
	if te.p.IsSet("api-port") {
		te.web.API = net.JoinHostPort(te.p.Text("api-host"), fmt.Sprint(*te.p.Int("api-port")))
		te.web.APIOptional = te.p.Origin("api-port").Source == settings.FromEnvironment
	}
}

// listen returns the address of an option, "" where it is not given.
func (te *telemetry) listen(name string) string {
	if !te.given(name) {
		return ""
	}
	address, err := parse.Listen(te.p.Text(name))
	if err != nil {
		te.fault("", "%s %q is not an address to listen on: %v", te.flag(name), fault.Shorten(te.p.Text(name)), err)
	}
	return address
}

func (te *telemetry) checkTelemetry() {
	if te.given("price-per-gpu-hour") && !te.given("num-gpus") && te.p.Bool("no-gpu-telemetry") {
		te.fault("", "%s needs the number of GPUs, which is not known with %s: add --num-gpus",
			te.flag("price-per-gpu-hour"), te.flag("no-gpu-telemetry"))
	}
	if te.given("gpu-telemetry") {
		items, err := parse.GPU(te.p.Texts("gpu-telemetry"))
		if err != nil {
			te.fault("V35", "%s: %v", te.flag("gpu-telemetry"), err)
		}
		if items.Collector != "" && !te.endpoint.allLocal() {
			te.warn("%s %s reads only the GPUs of this machine, but the server is elsewhere: %s",
				te.flag("gpu-telemetry"), items.Collector, strings.Join(te.endpoint.remoteURLs(), ", "))
		}
	}
	if te.given("server-metrics") {
		if _, err := parse.ServerMetricsURLs(te.p.Texts("server-metrics")); err != nil {
			te.fault("", "%s: %v", te.flag("server-metrics"), err)
		}
	}
}

// checkOTel checks the options of the stream of OpenTelemetry metrics.
func (te *telemetry) checkOTel() {
	if te.given("otel-url") {
		text := te.p.Text("otel-url")
		if _, err := parse.OTelURL(text); err != nil {
			te.fault("", "%s %s: %v", te.flag("otel-url"), fault.Shorten(artifact.RedactAddress(text)), err)
		}
	}
	if te.given("otel-resource-attributes") {
		if _, err := parse.Attributes(te.p.Texts("otel-resource-attributes")); err != nil {
			te.fault("", "%s: %v", te.flag("otel-resource-attributes"), err)
		}
	}
	if te.given("gen-ai-provider") && strings.TrimSpace(te.p.Text("gen-ai-provider")) == "" {
		te.fault("", "%s is empty; omit it to derive the provider from the host", te.flag("gen-ai-provider"))
	}
}

// checkMLflow checks the options of the upload to MLflow.
func (te *telemetry) checkMLflow() {
	if te.given("mlflow-tracking-uri") {
		text := te.p.Text("mlflow-tracking-uri")
		if _, err := parse.MLflowURI(text); err != nil {
			te.fault("", "%s %s: %v", te.flag("mlflow-tracking-uri"), fault.Shorten(artifact.RedactAddress(text)), err)
		}
	}
	te.checkNotEmpty("mlflow-experiment", "mlflow-run-name", "mlflow-parent-run-id")
	for _, m := range te.p.Pairs("mlflow-tag") {
		if err := parse.CheckTagName(m.Key); err != nil {
			te.fault("", "%s %s: %v", te.flag("mlflow-tag"), fault.Shorten(m.Key), err)
		}
	}
	for _, pattern := range parse.Globs(te.p.Texts("mlflow-artifact-glob")) {
		if err := parse.CheckGlob(pattern); err != nil {
			te.fault("", "%s: %v", te.flag("mlflow-artifact-glob"), err)
		}
	}
}

// checkNotEmpty checks that options that are given have a value.
func (te *telemetry) checkNotEmpty(names ...string) {
	for _, name := range names {
		if te.given(name) && strings.TrimSpace(te.p.Text(name)) == "" {
			te.fault("", "%s is empty", te.flag(name))
		}
	}
}

// checkWandB checks the options of the upload to Weights & Biases.
func (te *telemetry) checkWandB() {
	te.checkNotEmpty("wandb-project", "wandb-entity", "wandb-run-name")
	w := te.wandb()
	if strings.ContainsAny(w.Project, projectExcludes) || utf8.RuneCountInString(w.Project) > maxProject {
		te.fault("", "%s %s: a project name has at most %d characters and none of %s", te.flag("wandb-project"),
			fault.Shorten(w.Project), maxProject, projectExcludes)
	}
	if strings.Contains(w.Entity, "/") {
		te.fault("", "%s %s: an entity is one name without /", te.flag("wandb-entity"), fault.Shorten(w.Entity))
	}
	for _, tag := range w.Tags {
		if utf8.RuneCountInString(tag) > maxWandBTag {
			te.fault("", "%s %s: a tag has at most %d characters", te.flag("wandb-tag"), fault.Shorten(tag), maxWandBTag)
		}
	}
}

// The limits that Weights & Biases sets.
const (
	projectExcludes = `/\#?%:`
	maxProject      = 128
	maxWandBTag     = 64
)
