package benchmark

import (
	"fmt"
	"log/slog"

	"aiperf/internal/cli/command"
	"aiperf/internal/config"
	"aiperf/internal/publish/progress"
	"aiperf/internal/view/runlog"
	"aiperf/internal/view/web"
)

// openWeb opens the live page and the HTTP API; nil where neither is asked for. It listens before anything is sent, so
// that an address that cannot be had shows at once.
func openWeb(e *command.Env, cfg *config.Run, log *runlog.Log) (progress.Observer, error) {
	asked := &cfg.Web
	o := web.Options{Version: command.Version, Origins: cfg.Env.API.Origins, Sockets: cfg.Env.API.Sockets,
		ShutdownDelay: cfg.Env.API.ShutdownDelay}
	page := web.Address{Flag: "--web", Address: asked.Page}
	api := web.Address{Flag: cfg.Asked.APIPort.Origin().Name, Address: asked.API, Open: true, Numbered: true}
	if asked.Page != "" {
		o.Addresses = append(o.Addresses, page)
	}
	if asked.API != "" {
		o.Addresses = append(o.Addresses, api)
	}
	if len(o.Addresses) == 0 {
		return nil, nil
	}
	logger := log.Logger("web")
	v, err := web.Listen(o)
	if err != nil && asked.APIOptional {
		if o.Addresses = o.Addresses[:len(o.Addresses)-1]; len(o.Addresses) == 0 {
			logger.Warn("The HTTP API is off: " + err.Error())
			return nil, nil
		}
		var own error
		if v, own = web.Listen(o); own == nil {
			logger.Warn("The HTTP API is off: " + err.Error())
		}
		err = own
	}
	if err != nil {
		return nil, err
	}
	announceWeb(e, v, o.Addresses, log)
	log.Follow(func(l runlog.Line) {
		v.Log(web.LogLine{At: l.At, Level: l.Level, Component: l.Component, Message: l.Message})
	})
	return &livePages{v, cfg, logger}, nil
}

// announceWeb prints where the view is, among the lines of the log where a dashboard has these. The address of the page has
// the key, which does not belong into a file.
func announceWeb(e *command.Env, v *web.View, addresses []web.Address, log *runlog.Log) {
	logger := log.Logger("web")
	for i, at := range addresses {
		if !at.Open {
			if page := "Live page: " + v.URL(i); !log.Show(page) {
				fmt.Fprintln(e.Terminal.Err, page)
			}
			continue
		}
		logger.Info("HTTP API: " + v.URL(i))
		if v.Everywhere(i) {
			logger.Warn("Everybody who can reach this machine can read the HTTP API; --api-host 127.0.0.1 is for this " +
				"machine only")
		}
	}
}

// livePages are the live page and the HTTP API.
type livePages struct {
	*web.View
	cfg *config.Run
	log *slog.Logger
}

// end keeps the view for a while after the last run, unless nobody looks at it or the user wants the program to end,
// and closes it. The clients of an API are to see how the run ended, so that a cancelled one stays too, unless it is a
// pod that is being deleted: nobody reaches it any more.
func (p *livePages) end(i *interrupts) {
	p.Finish()
	wait, deleted := p.cfg.Env.API.Grace, p.cfg.Env.Cluster.Controller && i.stopped()
	if wait > 0 && !deleted && (p.cfg.Web.API != "" || p.Watched() && !i.stopped()) {
		stop, end := i.nextSignal()
		p.log.Info(fmt.Sprintf("The live page and the HTTP API stay for %g s; Ctrl-C skips this", wait.Seconds()))
		p.Linger(wait, stop)
		end()
	}
	p.Close(p.cfg.Env.API.Shutdown)
}
