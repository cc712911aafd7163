package benchmark

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"aiperf/internal/cli/command"
	"aiperf/internal/config/flags"
	"aiperf/internal/experiment/capacity"
	"aiperf/internal/run"
	"aiperf/internal/wire/control"
)

// portsFlag is the flag of the ports on which servers are looked for.
func portsFlag(to *[]int) flags.Flag {
	return flags.Value("ports", "PORT,…", "ports to look at instead of the usual ones", func(v string) error {
		for text := range strings.SplitSeq(v, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(text))
			if err != nil || n < 1 || n > 65535 {
				return fmt.Errorf("%q is not a port", text)
			}
			*to = append(*to, n)
		}
		return nil
	})
}

// foundServer is a server that answered.
type foundServer struct {
	run.Server
	url, model string
}

// String says which server it is, and which model is measured.
func (f foundServer) String() string {
	text := f.name() + " at " + f.url
	if f.model != "" {
		text += ", model " + f.model
	}
	return text
}

// name returns what the server is.
func (f foundServer) name() string { return cmp.Or(f.Name, "a server") }

// Bounds of the look at a port, and of the questions to a server.
const (
	quickDial = 500 * time.Millisecond
	quickAsk  = 5 * time.Second
)

// findServer finds the server to measure and its model.
func findServer(ctx context.Context, e *command.Env, o *quickOptions) (found foundServer, err error) {
	if o.url != "" {
		server, err := askServer(ctx, e, o, o.url)
		if err != nil {
			return found, err
		}
		return o.withModel(foundServer{Server: server, url: o.url})
	}
	ports := usualPorts(o.ports)
	listening := listeners(ctx, ports)
	var servers []foundServer
	var others []string
	for _, url := range listening {
		server, err := askServer(ctx, e, o, url)
		switch {
		case ctx.Err() != nil:
			return found, errors.New("cancelled")
		case err != nil:
			others = append(others, "  "+url+" answers, but "+command.FirstLine(err.Error()))
		default:
			servers = append(servers, foundServer{Server: server, url: url})
		}
	}
	switch len(servers) {
	case 0:
		return found, noServer("quick", ports, others)
	case 1:
		return o.withModel(servers[0])
	}
	var lines []string
	for _, s := range servers {
		lines = append(lines, fmt.Sprintf("  aiperf quick %s    # %s, %s", s.url, s.name(), control.Listed(s.Models)))
	}
	return found, fmt.Errorf("%d servers found; name the one to measure:%s", len(servers), below(lines))
}

// usualPorts are the ports that were given, or the usual ones.
func usualPorts(given []int) []capacity.Port {
	if len(given) == 0 {
		return capacity.Ports
	}
	var ports []capacity.Port
	for _, n := range given {
		ports = append(ports, capacity.Port{Number: n})
	}
	return ports
}

// noServer is the error that a command found no server on ports; others says who answers there.
func noServer(command string, ports []capacity.Port, others []string) error {
	var names []string
	for _, p := range ports {
		name := strconv.Itoa(p.Number)
		if p.Names != "" {
			name += " (" + p.Names + ")"
		}
		names = append(names, name)
	}
	return fmt.Errorf("no server found on this machine's ports %s; start one, or name it: aiperf %s http://HOST:PORT%s",
		strings.Join(names, ", "), command, below(others))
}

func below(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return "\n" + strings.Join(lines, "\n")
}

// listeners returns the addresses of this machine's ports on which somebody listens, in their order.
func listeners(ctx context.Context, ports []capacity.Port) (urls []string) {
	open := make([]string, len(ports))
	var all sync.WaitGroup
	for i, p := range ports {
		all.Go(func() {
			for _, host := range []string{"127.0.0.1", "::1"} {
				address := net.JoinHostPort(host, strconv.Itoa(p.Number))
				d := net.Dialer{Timeout: quickDial}
				if c, err := d.DialContext(ctx, "tcp", address); err == nil {
					c.Close()
					open[i] = "http://" + address
					return
				}
			}
		})
	}
	all.Wait()
	return slices.DeleteFunc(open, func(url string) bool { return url == "" })
}

// askServer asks a server what it is.
func askServer(ctx context.Context, e *command.Env, o *quickOptions, url string) (run.Server, error) {
	cfg, err := quickConfig(e, o, []string{"--model", "unnamed", "--url", url})
	if err != nil {
		return run.Server{}, err
	}
	log := quietLog(e.Terminal, cfg)
	defer log.Close()
	ctx, cancel := context.WithTimeout(ctx, quickAsk)
	defer cancel()
	return run.AskServer(ctx, cfg, run.Options{Version: command.Version, Log: log})
}

// withModel chooses the model: the one that was named, is loaded, or is the only one.
func (o *quickOptions) withModel(f foundServer) (foundServer, error) {
	switch {
	case o.model != "":
		f.model = o.model
	case len(f.Loaded) == 1:
		f.model = f.Loaded[0]
	case len(f.Models) == 1 && f.Models[0] != "":
		f.model = f.Models[0]
	case len(f.Models) == 0 && f.Name == "Triton":
		return f, fmt.Errorf("%s speaks KServe, not the OpenAI API: measure it with aiperf profile --url %s "+
			"--endpoint-type kserve_v2_infer --model NAME", f, f.url)
	default:
		list := f.Models
		if len(f.Loaded) > 1 {
			list = f.Loaded
		}
		return f, fmt.Errorf("%s offers %s; name the one to measure with --model", f, control.Listed(list))
	}
	return f, nil
}
