package data

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/term"

	safe "aiperf/internal/base/terminal"
	"aiperf/internal/cli/command"
	"aiperf/internal/cli/show"
	"aiperf/internal/publish/progress"
	"aiperf/internal/traffic/recorder"
	"aiperf/internal/view/dashboard"
	"aiperf/internal/view/runlog"
)

// recordViews are the values of --ui.
var recordViews = []string{"dashboard", "simple", "none"}

// recordView shows a recording while it goes on.
type recordView struct {
	o      *recordOptions
	t      *command.Terminal
	screen *dashboard.Dashboard // nil = there is none
	// log is where lines go that a person must read.
	log io.Writer
	// interrupt ends the recording; it is there once the recording has begun.
	interrupt func()
}

// view is the view that was asked for, else the one that fits.
func (o *recordOptions) view(e *command.Env) *recordView {
	t := e.Terminal
	v := &recordView{o: o, t: t}
	why := show.Lacks(t)
	if o.ui == "dashboard" && why != "" {
		t.Say("WARNING: " + why)
	}
	if o.ui == "" || o.ui == "dashboard" && why != "" {
		o.ui = map[bool]string{true: "dashboard", false: "simple"}[why == ""]
	}
	if o.ui == "dashboard" {
		options := dashboard.Options{Out: t.OutFile, Colour: t.Colour, Title: "aiperf record", Traffic: true, Dir: ".",
			Interrupt: func() { v.interrupt() }}
		if term.IsTerminal(int(os.Stdin.Fd())) {
			options.In = os.Stdin
		}
		v.screen = dashboard.New(options)
		v.log = v.screen.LogWriter(t.StyledErr, !t.ErrTTY)
	}
	return v
}

// warn says what a person must know.
func (v *recordView) warn(text string) {
	if v.screen == nil {
		v.t.Say("WARNING: " + text)
		return
	}
	v.say("WARNING", text)
}

// say adds a line to the log on the screen.
func (v *recordView) say(level, text string) {
	fmt.Fprintf(v.log, "%s %s %s\n", time.Now().Format("15:04:05"), level, safe.Text(text))
}

// lineEvery is the time between two lines of the simple view where they are not written over one another.
const lineEvery = time.Minute

// show follows the recorder until ctx ends; the channel is closed when the terminal is as it was.
func (v *recordView) show(ctx context.Context, interrupt func(), r *recorder.Recorder, clients string) <-chan struct{} {
	done := make(chan struct{})
	v.interrupt = interrupt
	switch {
	case v.screen != nil:
		show.Hold(v.t, v.screen)
		log := runlog.New(runlog.Options{Console: v.log})
		v.screen.Start(log.Logger("dashboard"))
		v.say("INFO", fmt.Sprintf("Clients use %s instead of %s; q or Ctrl-C ends the recording", clients, v.o.Upstream))
		go func() {
			defer close(done)
			defer log.Close()
			defer v.screen.Leave()
			v.follow(ctx, time.Second, func() { v.screen.Recorded(v.traffic(r, clients)) })
		}()
	case v.o.ui == "simple":
		go func() {
			defer close(done)
			v.lines(ctx, r)
		}()
	default:
		close(done)
	}
	return done
}

// follow calls a function at once, and each time so much has passed.
func (v *recordView) follow(ctx context.Context, every time.Duration, f func()) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		f()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// lines prints how far it is: on a terminal each second in one line, else each minute a line.
func (v *recordView) lines(ctx context.Context, r *recorder.Recorder) {
	every, end := lineEvery, "\n"
	if v.t.ErrTTY && !v.t.Dumb {
		every, end = time.Second, "\x1b[K\r"
		defer fmt.Fprintln(v.t.StyledErr)
	}
	var before recorder.Snapshot
	begun := r.Since()
	v.follow(ctx, every, func() {
		s, now := r.Snapshot(), r.Since()
		if passed := now - begun; passed >= every/2 { // not at once
			text := fmt.Sprintf("%s · %.1f requests/s · %s", now.Round(time.Second),
				float64(s.Requests-before.Requests)/passed.Seconds(), counted(s))
			if end != "\n" && v.t.ErrWidth() > 1 {
				text = safe.Cut(text, v.t.ErrWidth()-1, "…")
			}
			fmt.Fprint(v.t.StyledErr, text+end)
		}
		before, begun = s, now
	})
}

// traffic is what the recorder has seen, as views want it.
func (v *recordView) traffic(r *recorder.Recorder, clients string) *progress.Traffic {
	s := r.Snapshot()
	t := &progress.Traffic{Clients: clients, Upstream: v.o.Upstream.String(), Folder: v.o.Folder, For: r.Since(),
		Requests: s.Requests, InFlight: s.InFlight, Rows: s.Rows, Lost: s.Lost, Failed: s.Failed,
		InputTokens: s.InputTokens, OutputTokens: s.OutputTokens, SharedTokens: s.SharedTokens,
		Sessions: s.Sessions, Turns: s.Turns, Prompts: progress.Lengths(s.Prompts), Replies: progress.Lengths(s.Replies),
		Endpoints: named(s.Endpoints), Models: named(s.Models), Full: s.Full}
	files, _ := filepath.Glob(filepath.Join(v.o.Folder, "*.jsonl"))
	for _, name := range files {
		if info, err := os.Stat(name); err == nil {
			t.Bytes += info.Size()
		}
	}
	return t
}

// named sorts names by how often they were seen.
func named(counts map[string]int64) []progress.Named {
	var list []progress.Named
	for name, n := range counts {
		list = append(list, progress.Named{Name: name, Count: n})
	}
	slices.SortFunc(list, func(a, b progress.Named) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
	})
	return list
}
