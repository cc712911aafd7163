package cli

import (
	"fmt"
	"log/slog"

	"aiperf/internal/config"
	"aiperf/internal/view/runlog"
	"aiperf/internal/view/web"
)

// openWeb opens the live page and the HTTP API; nil where neither is asked for. It listens before anything is sent, so
// that an address that cannot be had shows at once.
func (a *app) openWeb(cfg *config.Run, log *runlog.Log) (*web.View, error) {
	asked := &cfg.Web
	o := web.Options{Version: Version, Origins: cfg.Env.API.Origins, Sockets: cfg.Env.API.Sockets,
		ShutdownDelay: cfg.Env.API.ShutdownDelay}
	page := web.Address{Flag: "--web", Address: asked.Page}
	api := web.Address{Flag: cfg.Asked.Origin("api-port").Name, Address: asked.API, Open: true, Numbered: true}
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
	a.announceWeb(v, o.Addresses, logger)
	log.Follow(func(l runlog.Line) {
		v.Log(web.LogLine{At: l.At, Level: l.Level, Component: l.Component, Message: l.Message})
	})
	return v, nil
}

// announceWeb prints where the view is. The address of the page has the key, which does not belong into a log.
func (a *app) announceWeb(v *web.View, addresses []web.Address, logger *slog.Logger) {
	for i, at := range addresses {
		if !at.Open {
			fmt.Fprintln(a.terminal.err, "Live page: "+v.URL(i))
			continue
		}
		logger.Info("HTTP API: " + v.URL(i))
		if v.Everywhere(i) {
			logger.Warn("Everybody who can reach this machine can read the HTTP API; --api-host 127.0.0.1 is for this " +
				"machine only")
		}
	}
}

// closeWeb keeps the view for a while after the last run, unless nobody looks at it or the user wants the program to
// end, and closes it. The clients of an API are to see how the run ended, so that a cancelled one stays too, unless it is
// a pod that is being deleted: nobody reaches it any more.
func closeWeb(v *web.View, cfg *config.Run, i *interrupts, log *slog.Logger) {
	v.Finish()
	wait, deleted := cfg.Env.API.Grace, cfg.Env.Cluster.Controller && i.stopped()
	if wait > 0 && !deleted && (cfg.Web.API != "" || v.Watched() && !i.stopped()) {
		stop, end := i.nextSignal()
		log.Info(fmt.Sprintf("The live page and the HTTP API stay for %g s; Ctrl-C skips this", wait.Seconds()))
		v.Linger(wait, stop)
		end()
	}
	v.Close(cfg.Env.API.Shutdown)
}
