package benchmark

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"aiperf/internal/base/scalar"
	safe "aiperf/internal/base/terminal"
	"aiperf/internal/cli/command"
	"aiperf/internal/cli/show"
	"aiperf/internal/config"
	"aiperf/internal/config/flags"
	"aiperf/internal/config/resolve"
	"aiperf/internal/config/settings"
	"aiperf/internal/publish/progress"
	"aiperf/internal/run"
	"aiperf/internal/run/plan"
	"aiperf/internal/view/dashboard"
	"aiperf/internal/view/runlog"
	"aiperf/internal/watch/collect"
	"aiperf/internal/watch/gpu"
)

const topHelp = `Usage: aiperf top [URL …] [flags]

Watches servers and GPUs without a load: requests running and waiting, KV cache, prefix cache hits,
tokens per second, latencies as the servers measure them, and the GPUs of this machine. A URL is that
of a server or of its metrics page; without one, servers are looked for on the usual ports of this
machine. vLLM, SGLang, TensorRT-LLM, Dynamo, Triton and llama.cpp are read.

On a terminal it fills the screen until q or Ctrl-C; elsewhere, and with --once, it prints a line for
each server and each GPU.

Exit codes: 0 ended by the user, or printed; 1 an error, or with --once no server was reached.

`

type topOptions struct {
	interval time.Duration
	once     bool
	ports    []int
	gpus     []string
	noGPUs   bool
}

// The bounds of the time between two looks.
const (
	leastTopInterval = 100 * time.Millisecond
	mostTopInterval  = time.Hour
)

func (o *topOptions) table() *flags.Table {
	gpus := flags.Value("gpu-telemetry", "SOURCE",
		"URL of a DCGM or AMD exporter, pynvml or amdsmi; may be repeated\n[default: what answers on this machine]",
		func(v string) error {
			o.gpus = append(o.gpus, v)
			return nil
		})
	return &flags.Table{Command: "top", Page: "live", Examples: []flags.Example{
		{For: "watch the server of this machine", Command: "aiperf top"},
		{For: "two servers, printed once", Command: "aiperf top localhost:8000 localhost:8001 --once"},
	},
		About: topHelp, Flags: []flags.Flag{
			flags.Value("interval -i", "SECONDS", "time between two looks, as 0.5, 2 or 500ms [default: 1]",
				func(v string) error {
					s, err := scalar.In(time.Second, v)
					if err != nil || !(s >= leastTopInterval.Seconds() && s <= mostTopInterval.Seconds()) {
						return fmt.Errorf("%q is not a time from 0.1 to 3600 seconds", v)
					}
					o.interval = time.Duration(s * float64(time.Second))
					return nil
				}),
			flags.Switch("once", "print what there is after one interval, and end", &o.once),
			portsFlag(&o.ports),
			gpus,
			flags.Switch("no-gpu-telemetry", "do not look for GPUs", &o.noGPUs),
		}}
}

// runTop watches servers and GPUs until the user ends it.
func runTop(e *command.Env, args []string) error {
	o := topOptions{interval: time.Second}
	e.HideSecrets(args)
	urls, err := e.Parse(o.table(), args)
	if err != nil {
		return err
	}
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer release()
	if len(urls) == 0 {
		found, err := pagesOfThisMachine(ctx, e, &o)
		if err != nil {
			return err
		}
		urls = found
	}
	cfg, err := topConfig(e, &o, urls)
	if err != nil {
		return err
	}
	t := e.Terminal
	if !o.once && len(cfg.Endpoint.URLs) > 0 {
		log := quietLog(t, cfg)
		err := run.NothingListens(ctx, cfg, run.Options{Version: command.Version, Log: log})
		log.Close()
		if err != nil {
			return errors.New(command.FirstLine(err.Error())) // the rest is advice for runs
		}
	}
	if note := show.Lacks(t); note == "" && !o.once {
		return topScreen(ctx, e, release, &o, cfg)
	}
	m, err := collect.NewMonitor(watching(&o, cfg, slog.New(slog.DiscardHandler)))
	if err != nil {
		return err
	}
	defer m.Close()
	return topLines(ctx, e, &o, m)
}

// topConfig resolves the URLs and the environment.
func topConfig(e *command.Env, o *topOptions, urls []string) (*config.Run, error) {
	args := []string{"--model", "unnamed", "--endpoint-type", "chat", "--tokenizer", "builtin", "--ui", "none"}
	for _, u := range urls {
		args = append(args, "--url", u)
	}
	if o.noGPUs {
		args = append(args, "--no-gpu-telemetry")
	}
	if len(o.gpus) > 0 {
		args = append(append(args, "--gpu-telemetry"), o.gpus...)
	}
	parsed, err := settings.Parse(args, e.LookupEnv)
	if err != nil {
		return nil, err
	}
	cfg, _, err := resolve.Resolve(parsed, run.Catalog{})
	if err == nil {
		e.Redactor = cfg.Redactor()
	}
	return cfg, err
}

// watching are the options of a monitor.
func watching(o *topOptions, cfg *config.Run, log *slog.Logger) collect.MonitorOptions {
	fetch, g, env := plan.Fetch(cfg, command.Version), &cfg.GPU, &cfg.Env.GPU
	fetch.Redactor = cfg.Redactor()
	m := collect.MonitorOptions{URLs: cfg.Endpoint.URLs, Interval: o.interval, Fetch: fetch, Log: log,
		Catalog: gpu.NewCatalog(nil, env.VendorScoped)}
	if !g.Enabled {
		return m
	}
	local := func(vendor string) func(collect.GPUSink) (collect.GPUCollector, error) {
		return func(sink collect.GPUSink) (collect.GPUCollector, error) {
			return collect.NewLocalGPUs(collect.LocalGPUOptions{Vendor: vendor, Interval: o.interval,
				OpenTimeout: env.ReachabilityTimeout, CloseTimeout: env.ShutdownTimeout, Catalog: m.Catalog, Sink: sink,
				WallNS: time.Time.UnixNano, Log: log}), nil
		}
	}
	if g.Collector != "" {
		m.GPUs = append(m.GPUs, local(g.Collector))
		return m
	}
	m.GPUs = append(m.GPUs, func(sink collect.GPUSink) (collect.GPUCollector, error) {
		fetch := fetch
		fetch.ReachabilityTimeout = env.ReachabilityTimeout
		dialects := map[string]gpu.Dialect{"dcgm": gpu.DCGM, "amd_dme": gpu.DeviceMetricsExporter}
		var given []collect.GPUExporter
		for _, x := range g.Exporters {
			given = append(given, collect.GPUExporter{URL: x.URL, Dialect: dialects[x.Collector]})
		}
		return collect.NewGPUExporters(collect.GPUExporterOptions{Defaults: env.Endpoints, Given: given,
			Interval: o.interval, Fetch: fetch, Catalog: m.Catalog, Sink: sink, Log: log})
	})
	if len(g.Exporters) == 0 {
		m.GPUs = append(m.GPUs, local("pynvml"), local("amdsmi"))
	}
	return m
}

// pagesOfThisMachine returns the servers on the usual ports that have a metrics page.
func pagesOfThisMachine(ctx context.Context, e *command.Env, o *topOptions) ([]string, error) {
	ports := usualPorts(o.ports)
	listening := listeners(ctx, ports)
	if ctx.Err() != nil {
		return nil, errors.New("cancelled")
	}
	if len(listening) == 0 {
		return nil, noServer("top", ports, nil)
	}
	cfg, err := topConfig(e, &topOptions{noGPUs: true}, listening)
	if err != nil {
		return nil, err
	}
	m, err := collect.NewMonitor(watching(&topOptions{interval: time.Second}, cfg, nil))
	if err != nil {
		return nil, err
	}
	defer m.Close()
	var urls, others []string
	for i, s := range settled(ctx, m, 0) {
		if s.Error == "" {
			urls = append(urls, listening[i])
			continue
		}
		others = append(others, "  "+listening[i]+" answers, but has no metrics page: "+command.FirstLine(s.Error))
	}
	if len(urls) == 0 {
		return nil, noServer("top", ports, others)
	}
	return urls, nil
}

// The pause between two questions whether all servers were reached, and the longest wait for that.
const (
	topPoll     = 20 * time.Millisecond
	topPatience = 10 * time.Second
)

// settled waits until each server was reached or was not, and its rates are over so many nanoseconds; 0 is for no rates.
func settled(ctx context.Context, m *collect.Monitor, rates int64) []collect.MonitoredServer {
	ctx, cancel := context.WithTimeout(ctx, topPatience+2*time.Duration(rates))
	defer cancel()
	ticker := time.NewTicker(topPoll)
	defer ticker.Stop()
	for {
		list := m.Servers()
		waiting := false
		for i := range list {
			s := &list[i]
			waiting = waiting || s.Error == "" && (s.AtNS == 0 || s.Now.Kind != "" && s.Now.ToNS-s.Now.FromNS < rates)
		}
		if rates > 0 && !waiting {
			_, searched := m.GPUs()
			waiting = !searched
		}
		if !waiting {
			return list
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return m.Servers()
		}
	}
}

// observed is what a monitor says as views see it.
func observed(m *collect.Monitor) *progress.Observed {
	o := &progress.Observed{At: time.Now()}
	for _, s := range m.Servers() {
		o.Servers = append(o.Servers, progress.Server{URL: s.URL, Kind: s.Now.Kind, Error: s.Error,
			Remark: s.Now.Remark, Figures: run.FiguresNow(&s.Now)})
	}
	gpus, searched := m.GPUs()
	o.Searched = searched
	for i := range gpus {
		o.GPUs = append(o.GPUs, run.GPUOf(&gpus[i]))
	}
	return o
}

// topScreen shows servers and GPUs on the whole terminal. What was seen last stays on it.
func topScreen(ctx context.Context, e *command.Env, stop func(), o *topOptions, cfg *config.Run) error {
	t := e.Terminal
	options := dashboard.Options{Out: t.OutFile, Colour: t.Colour, Title: "aiperf top · every " + o.interval.String(),
		Watch: true, GPUs: cfg.GPU.Enabled && len(o.gpus) > 0, Notice: cfg.Env.UI.Notice, Interrupt: stop, Dir: "."}
	if term.IsTerminal(int(os.Stdin.Fd())) {
		options.In = os.Stdin
	}
	screen := dashboard.New(options)
	out := t.Out
	show.Hold(t, screen)
	log := runlog.New(runlog.Options{Level: slog.LevelInfo, Console: screen.LogWriter(t.StyledErr, !t.ErrTTY),
		Redactor: cfg.Redactor()})
	defer log.Close()
	m, err := collect.NewMonitor(watching(o, cfg, log.Logger("top")))
	if err != nil {
		return err
	}
	defer m.Close()
	defer screen.Leave()
	screen.Start(log.Logger("dashboard"))
	ticker := time.NewTicker(o.interval)
	defer ticker.Stop()
	for {
		now := observed(m)
		screen.Observe(now)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			screen.Leave()
			_ = writeTop(out, now, t.Width())
			return nil
		}
	}
}

// topLines prints a line for each server and GPU at each interval.
func topLines(ctx context.Context, e *command.Env, o *topOptions, m *collect.Monitor) error {
	settled(ctx, m, int64(o.interval)/2)
	ticker := time.NewTicker(o.interval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		now := observed(m)
		if err := writeTop(e.Terminal.Out, now, e.Terminal.Width()); err != nil {
			return command.Exit(command.ExitFailure) // nobody reads any more
		}
		if o.once {
			for _, s := range now.Servers {
				if s.Error == "" {
					return nil
				}
			}
			return command.Exit(command.ExitFailure)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
	return nil
}

// topIndent is before the further rows of a line.
const topIndent = "          "

// writeTop writes a line for each server and each GPU, on a terminal in rows that fit its width.
func writeTop(out io.Writer, o *progress.Observed, width int) error {
	var b strings.Builder
	for _, line := range dashboard.Lines(o) {
		rows := []string{line}
		if room := width - len(topIndent); room > len(topIndent) && len(line) > width {
			rows = safe.Wrap(line, room)
		}
		for i, row := range rows {
			if i > 0 {
				row = topIndent + row
			}
			b.WriteString(row + "\n")
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}
