package fleet

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/self"
)

// locals are the agents that the coordinator started.
type locals struct {
	list []*self.Process
	all  sync.WaitGroup
	// folder is that of the agents, nil where it was given.
	folder *artifact.Temporary
}

// localName is the name of a local agent.
func localName(i int) string { return fmt.Sprintf("agent-%d", i+1) }

// endLocal kills a local agent that is lost.
func (f *Fleet) endLocal(name string) {
	for i, p := range f.locals.list {
		if localName(i) == name {
			_ = p.Stop(0)
		}
	}
}

// startLocals starts the agents that run on this machine.
func (f *Fleet) startLocals() error {
	if f.localDir = f.options.LocalDir; f.localDir == "" {
		temporary, err := artifact.NewTemporary("agents")
		if err != nil {
			return err
		}
		f.localDir, f.locals.folder = temporary.Dir, temporary
	}
	env := append(os.Environ(), TokenVariable+"="+f.options.Security.Token,
		"GOMAXPROCS="+strconv.Itoa(cores(f.options.Agents)))
	for i := range f.options.Agents {
		name := localName(i)
		args := []string{"agent", "--join", f.Address(), "--name", name, "--fleet-name", f.options.Name, "--local",
			"--dir", f.localDir}
		p, err := self.Start(self.Options{Args: args, Detached: true, Stderr: os.Stderr, Env: env})
		if err != nil {
			return fmt.Errorf("the agent %s cannot be started: %w", name, err)
		}
		f.locals.list = append(f.locals.list, p)
		f.locals.all.Go(func() { f.follow(name, p) })
	}
	return nil
}

// cores is how many of the cores of this process each of the agents on this machine uses: all together as many as one
// process would. With more of them, each process has threads that look for work which the others do.
func cores(agents int) int {
	all := runtime.GOMAXPROCS(0)
	return max(1, (all+agents-1)/agents)
}

// follow logs what a local agent says, and counts it as lost when its process ends before the fleet does.
func (f *Fleet) follow(name string, p *self.Process) {
	lines := bufio.NewScanner(p.Out)
	for lines.Scan() {
		f.options.Log.Debug(name + ": " + lines.Text())
	}
	if f.alongside.ctx.Err() != nil {
		return
	}
	f.mu.Lock()
	var ours *member
	for _, m := range f.members {
		if m.Local && m.Name == name {
			ours = m
		}
	}
	f.mu.Unlock()
	if ours != nil {
		f.markLost(ours, errEnded)
	}
}

var errEnded = fmt.Errorf("its process has ended")

// localStopTimeout is the wait for the end of a local agent after which it is killed.
const localStopTimeout = 3 * time.Second

// end ends the agents, and removes their folder if it is empty.
func (l *locals) end(dir string) {
	var all sync.WaitGroup
	for _, p := range l.list {
		all.Go(func() { _ = p.Stop(localStopTimeout) })
	}
	all.Wait()
	l.all.Wait()
	l.folder.Leave() // journals that are needed stay
	if dir != "" {
		os.Remove(dir)
	}
}
