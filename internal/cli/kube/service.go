package kube

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"aiperf/internal/base/suggest"
	"aiperf/internal/cli/command"
	"aiperf/internal/config/env"
	"aiperf/internal/config/flags"
)

// originalServices are the parts of the original that have a process of their own there; here they are parts of the coordinator
// or of an agent.
var originalServices = []string{"api", "dataset-manager", "gpu-telemetry-manager", "network-latency-manager", "record-processor",
	"records-manager", "server-metrics-manager", "system-controller", "timing-manager", "worker", "worker-manager",
	"worker-group-manager"}

// The services: what runs beside a coordinator, and what makes the runs of a sweep.
const (
	resultsSidecar  = "results-sidecar"
	sweepController = "sweep-controller"
)

const serviceHelp = `Usage: aiperf service results-sidecar|sweep-controller [options]

What runs in the pods of a benchmark beside "aiperf profile" and "aiperf agent". The operator and
"aiperf kube generate" write these commands into the pods; nobody needs to type them.
"aiperf service results-sidecar --help" shows the options.

The services of the original are parts of a coordinator or of an agent here. Its options --type,
--benchmark-run, --service-id, --api-port, --health-host and --health-port are refused.
`

type sidecarOptions struct {
	dir, marker string
	port, stay  int
}

func (o *sidecarOptions) table() *flags.Table {
	o.dir, o.port, o.stay = "/results", 9091, 300
	return &flags.Table{Command: "service " + resultsSidecar,
		About: `Usage: aiperf service results-sidecar [options]

Serves the results of the run in the same pod: /healthz, /api/results/list, /api/results/files/PATH. It ends some time
after the run, or by a POST to /api/shutdown.

Options:
`, Flags: []flags.Flag{
			flags.Value("results-dir", "DIR", "the folder [default: /results]", command.NonEmpty(&o.dir)),
			flags.Value("port", "PORT", "where it listens [default: 9091]", within(&o.port, 1, 65535)),
			flags.Value("stay", "SECONDS", "how long results are served after the run [default: 300]",
				within(&o.stay, 0, 1<<31-1)),
			flags.Value("marker", "FILE", "file that says that the results are complete [default: the state of the run]",
				command.NonEmpty(&o.marker)),
		}}
}

// runService runs a part of a benchmark in a pod.
func runService(e *command.Env, args []string) error {
	kind := ""
	if len(args) > 0 {
		kind, args = strings.ReplaceAll(args[0], "_", "-"), args[1:]
	}
	switch {
	case kind == resultsSidecar, kind == sweepController:
		var o sidecarOptions
		if err := e.ParseOnly(o.table(), args); err != nil {
			return err
		}
		values, _, err := env.Read(e.LookupEnv)
		if err != nil {
			return err
		}
		ctx, stop := untilInterrupted()
		defer stop()
		log := slog.New(slog.NewTextHandler(e.Terminal.Err, nil))
		run := runSidecar
		if kind == sweepController {
			run = runSweepController
		}
		return run(ctx, e, &o, &values.Operator, log)
	case kind == "--help" || kind == "-h":
		e.HelpText(serviceHelp)
		return nil
	case kind == "" || strings.HasPrefix(kind, "-"):
		return errors.New("aiperf service needs a type: " + resultsSidecar + " or " + sweepController)
	}
	for _, known := range originalServices {
		if kind == known {
			return fmt.Errorf("the service %q is a part of the coordinator or of an agent here: start aiperf profile "+
				"--wait-for-agents N and aiperf agent --join URL", kind)
		}
	}
	message := fmt.Sprintf("there is no service %q", kind)
	if near := suggest.Nearest(kind, append([]string{resultsSidecar, sweepController}, originalServices...)); near != "" {
		message += fmt.Sprintf("; did you mean %q?", near)
	}
	return errors.New(message)
}
