package configure

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"aiperf/internal/accuracy/grade"
	"aiperf/internal/accuracy/task"
	"aiperf/internal/config"
	"aiperf/internal/config/option"
	"aiperf/internal/config/parse"
	"aiperf/internal/config/pluginfile"
	"aiperf/internal/load"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/plot"
	"aiperf/internal/result/report/console"
	"aiperf/internal/view/web"
	"aiperf/internal/wire/api"
	"aiperf/internal/workload/loader"
	"aiperf/internal/workload/public"
)

// capability is one thing that the program can do.
type capability struct {
	Name, About string
	// from is the plug-in that provides it, nil for what is built in.
	from *pluginfile.Program
	// facts are shown when it is asked for alone.
	facts []fact
}

type fact struct{ name, value string }

// Category is a kind of capability. Names are those of the original, but for metric, which it lacks.
type Category struct {
	Name, About string
	// List makes what is built in, from the tables of the rooms; nil where there is nothing.
	List func() []capability
	// Lacks says why there is nothing.
	Lacks string
}

// Categories are all categories, by name.
func Categories() []Category {
	const (
		oneProcess = "a run is one process, which needs none"
		inProcess  = "the dataset is kept in the process that sends it"
	)
	return []Category{
		{Name: "accumulator", About: "Figures that grow during a run.", Lacks: "figures are the category metric"},
		{Name: "accuracy_benchmark", About: "Benchmarks whose answers are graded.", List: benchmarks},
		{Name: "accuracy_grader", About: "How answers are graded.", List: graders},
		{Name: "analyzer", About: "What is computed when a run has ended.", Lacks: "figures are the category metric"},
		{Name: "api_router", About: "Routes of the HTTP API of a run.", List: routes},
		fromOption("arrival_pattern", "How requests are spaced in time.", "arrival-pattern"),
		{Name: "communication", About: "Message buses between processes.", Lacks: oneProcess},
		{Name: "communication_client", About: "Ends of message buses.", Lacks: oneProcess},
		{Name: "console_exporter", About: "Tables of the report on the console.", List: consoleTables},
		fromOption("convergence_criterion", "When a series of runs has enough of them.", "convergence-mode"),
		{Name: pluginfile.Loader, About: "Formats of dataset files.", List: formats},
		{Name: pluginfile.Exporter, About: "Files of results.", List: func() []capability { return artifacts(false) }},
		{Name: "dataset_backing_store", About: "Where processes keep datasets.", Lacks: inProcess},
		{Name: "dataset_client_store", About: "How processes read datasets.", Lacks: inProcess},
		{Name: "dataset_composer", About: "Where conversations come from.", List: composers},
		fromOption("dataset_sampler", "Order in which conversations are used.", "dataset-sampling-strategy"),
		{Name: pluginfile.Endpoint, About: "APIs of servers.", List: endpoints},
		{Name: "gpu_telemetry_collector", About: "Where GPU telemetry comes from.", List: gpuCollectors},
		{Name: pluginfile.Metric, About: "Figures of requests and of runs.", List: allMetrics},
		{Name: "plot", About: "Pictures of finished runs.", List: plots},
		{Name: "public_dataset_loader", About: "Published data sets.", List: publicSets},
		{Name: "ramp", About: "How a limit or a rate grows.", List: ramps},
		{Name: "record_observer", About: "What follows records during a run.",
			Lacks: "a metric of a plug-in gets the records after the run"},
		{Name: "record_processor", About: "What processes records during a run.",
			Lacks: "a metric of a plug-in gets the records after the run"},
		fromOption("search_planner", "Methods of adaptive search.", "search-planner"),
		fromOption("search_recipe", "Named searches.", "search-recipe"),
		fromOption("search_recipe_post_process", "What named searches compute at the end.", "search-recipe"),
		{Name: "service", About: "Processes of a run.", Lacks: "see aiperf service --help"},
		{Name: "service_manager", About: "What starts the processes of a run.", Lacks: oneProcess},
		{Name: "spec_decode_adapter", About: "How servers report speculative decoding.",
			Lacks: "replies and server metrics of all servers have one reader"},
		{Name: "stream_exporter", About: "Files and services that get data during a run.", List: streams},
		{Name: "timing_strategy", About: "What decides when a request is sent.", List: timings},
		fromOption("transport", "How requests are carried.", "transport"),
		fromOption("ui", "How progress is shown.", "ui-type"),
		fromOption("url_selection_strategy", "How sessions are distributed over URLs.", "url-strategy"),
		{Name: "zmq_proxy", About: "Hubs of message buses.", Lacks: oneProcess},
	}
}

// fromOption is the category of the values of an option.
func fromOption(name, about, flag string) Category {
	return Category{Name: name, About: about, List: func() (list []capability) {
		o := option.Named(flag)
		for _, value := range o.Values {
			list = append(list, capability{Name: value, About: o.Meanings[value],
				facts: []fact{{"Flag", "--" + o.Name}}})
		}
		return list
	}}
}

func endpoints() (list []capability) {
	for _, d := range api.All() {
		var takes, gives, can []string
		for _, c := range []struct {
			has  bool
			to   *[]string
			what string
		}{
			{d.TakesText, &takes, "text"}, {d.SupportsImage, &takes, "images"}, {d.SupportsAudio, &takes, "audio"},
			{d.SupportsVideo, &takes, "video"},
			{d.ProducesTokens, &gives, "tokens"},
			{d.ProducesImages, &gives, "images"}, {d.ProducesVideo, &gives, "video"},
			{d.ProducesAudio, &gives, "audio"},
			{d.Streams, &can, "streaming"}, {d.GRPC, &can, "gRPC"}, {d.FormData, &can, "multipart bodies"},
			{d.Polls, &can, "polling"}, {d.SystemMessage, &can, "system messages"}, {d.Marks, &can, "cache-bust marks"},
		} {
			if c.has {
				*c.to = append(*c.to, c.what)
			}
		}
		about := "POST " + d.Path
		if d.Path == "" {
			about = "POST to the URL as it is"
		}
		about += "; takes " + strings.Join(takes, ", ")
		if len(gives) > 0 {
			about += "; produces " + strings.Join(gives, ", ")
		}
		if d.Streams {
			about += "; streams"
		}
		facts := []fact{{"Path", d.Path}, {"Streaming path", d.StreamingPath}, {"Takes", strings.Join(takes, ", ")},
			{"Produces", strings.Join(gives, ", ")}, {"Supports", strings.Join(can, ", ")},
			{"Streams", yesNo(d.Streams)}, {"Produces tokens", yesNo(d.ProducesTokens)},
			{"Tokenizes input", yesNo(d.TokenizesInput)}, {"History", yesNo(!d.SingleTurn)},
			{"Title of the report", d.MetricsTitle}, {"Flag", "--endpoint-type"}}
		list = append(list, capability{Name: d.Name, About: about + ".", facts: facts})
	}
	return list
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

func formats() (list []capability) {
	for _, f := range loader.Formats() {
		facts := []fact{{"Folders", yesNo(f.Folders)}, {"Trace", yesNo(f.Trace)}}
		if f.BlockSize > 0 {
			facts = append(facts, fact{"Tokens of a shared block", strconv.Itoa(f.BlockSize)})
		}
		list = append(list, capability{Name: f.Name, About: f.About, facts: append(facts,
			fact{"Flag", "--custom-dataset-type"})})
	}
	for _, name := range option.SpeedBenchNames() {
		list = append(list, capability{Name: name, About: "A part of SPEED-Bench; see public_dataset_loader.",
			facts: []fact{{"Flag", "--custom-dataset-type"}}})
	}
	return list
}

func publicSets() (list []capability) {
	for _, s := range public.Sets() {
		about := "The repository that --hf-weka-dataset names."
		switch {
		case s.URL != "":
			about = s.URL
		case s.Repo != "":
			about = strings.Join(strings.Fields(s.Repo+" "+s.Subset+" "+s.Split), ", ")
		}
		list = append(list, capability{Name: s.Name, About: about, facts: []fact{{"Repository", s.Repo},
			{"Subset", s.Subset}, {"Split", s.Split}, {"Flag", "--public-dataset"}}})
	}
	return list
}

func composers() (list []capability) {
	for _, k := range config.DatasetKinds() {
		list = append(list, capability{Name: string(k), About: k.About()})
	}
	return list
}

func timings() (list []capability) {
	for _, m := range config.Modes() {
		list = append(list, capability{Name: string(m), About: m.About()})
	}
	return list
}

func ramps() (list []capability) {
	for _, s := range load.Strategies() {
		list = append(list, capability{Name: s.String(), About: s.About()})
	}
	return list
}

func gpuCollectors() (list []capability) {
	for _, c := range parse.GPUCollectors() {
		list = append(list, capability{Name: c.Name, About: c.About, facts: []fact{{"Flag", "--gpu-telemetry"}}})
	}
	return list
}

func consoleTables() (list []capability) {
	for _, t := range console.Tables() {
		list = append(list, capability{Name: string(t.Group), About: t.Title + "."})
	}
	return list
}

// artifacts are the files of a run: those that are written line by line while it goes on, or all others.
func artifacts(during bool) (list []capability) {
	var names config.Artifacts
	for _, k := range config.ArtifactKinds() {
		file := names.Name(k)
		if about := k.About(); about != "" && during == (filepath.Ext(file) == ".jsonl") {
			name := strings.NewReplacer("/", "_", ".", "_").Replace(filepath.ToSlash(file))
			list = append(list, capability{Name: name, About: about, facts: []fact{{"File", file}}})
		}
	}
	return list
}

// streams are the files and services that get data while a run goes on.
func streams() []capability {
	list := artifacts(true)
	for _, name := range []string{"otel-url", "mlflow-tracking-uri", "wandb-project", "metrics-listen"} {
		o := option.Named(name)
		list = append(list, capability{Name: strings.ReplaceAll(o.Name, "-", "_"), About: o.Help,
			facts: []fact{{"Flag", "--" + o.Name}}})
	}
	return list
}

func allMetrics() (list []capability) {
	for _, d := range metrics.Table() {
		facts := []fact{{"Name in reports", d.Header}, {"Unit", string(d.Display)}, {"Formula", d.Formula},
			{"No value", d.Absent}, {"Table", string(d.Group)}, {"Larger is better", yesNo(d.LargerIsBetter())}}
		list = append(list, capability{Name: d.Tag, About: d.Doc, facts: facts})
	}
	return list
}

// withPlugins adds the programs of a category to what is built in.
func withPlugins(c *Category, found *pluginfile.Set) (list []capability) {
	if c.List != nil {
		list = c.List()
	}
	for _, p := range found.Of(c.Name) {
		about := p.Description
		if about == "" {
			about = "A program of the plug-in " + p.Plugin + "."
		}
		facts := []fact{{"Plug-in", strings.TrimSpace(p.Plugin + " " + p.Version)}, {"Declared in", p.Place},
			{"Program", p.Command}, {"Folder", p.Dir}, {"Priority", fmt.Sprint(p.Priority)},
			{"Lines of format", p.Format},
			{"Extensions", strings.Join(p.Extensions, " ")}, {"Name in reports", p.Header}, {"Unit", p.Unit}}
		list = append(list, capability{Name: p.Name, About: about, from: &p, facts: facts})
	}
	return list
}

func benchmarks() (list []capability) {
	for _, b := range task.Benchmarks() {
		list = append(list, capability{Name: b.Name, About: b.About, facts: []fact{{"Repository", b.Data.Repo},
			{"Subset", b.Data.Subset}, {"Split", b.Data.Split}, {"Columns", strings.Join(b.Columns, ", ")},
			{"Tasks", strings.Join(b.Tasks, ", ")}, {"Worked examples", strconv.Itoa(b.NShots)},
			{"Reasoning", yesNo(b.Reasons)}, {"Limit of tokens", strconv.Itoa(b.MaxTokens)}, {"Grader", b.Grader},
			{"Flag", "--accuracy-benchmark"}}})
	}
	return list
}

func graders() (list []capability) {
	for _, g := range grade.Graders() {
		list = append(list, capability{Name: g.Name, About: g.About, facts: []fact{{"Flag", "--accuracy-grader"}}})
	}
	return list
}

func routes() (list []capability) {
	for _, r := range web.Routes() {
		list = append(list, capability{Name: r.Method + " " + r.Path, About: r.Summary,
			facts: []fact{{"Type of the reply", r.Media}, {"Flag", "--api-port"}}})
	}
	return list
}

// plots are the kinds of plots.
func plots() (list []capability) {
	names, about := plot.Kinds()
	for i, name := range names {
		list = append(list, capability{Name: name, About: about[i], facts: []fact{{"Command", "aiperf plot"}}})
	}
	return list
}
