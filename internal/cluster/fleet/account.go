package fleet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"aiperf/internal/load"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/recordfile"
	"aiperf/internal/run/remote"
)

// Where the number of requests that an agent has sent comes from.
const (
	// FromReports: it reported the end of its share.
	FromReports = "reports"
	// FromJournal: it was lost, and its journal was read.
	FromJournal = "journal"
	// FromLastReport: it was lost and did not come back, so that the number is a lower bound.
	FromLastReport = "last report"
)

// Account is what became of a share of a run.
type Account struct {
	Share  int
	Name   string
	Cores  int
	Offset Offset
	// Sent requests are recorded, cut off at the end, or gone: without a record, because the agent was lost.
	Sent, Recorded, CutOff, Gone int64
	// Source is where Sent comes from.
	Source string
	// Silence is for how long the agent may have gone on after its last report, and Beyond how many requests it may
	// have sent in that time at its rate, where Sent is a lower bound.
	Silence          time.Duration
	UnreportedAtMost int64
	// Journal is what the agent's own journal says; nil if it is not known.
	Journal *JournalCount
	// Differences are where the journal says something else than Sent and Recorded.
	Differences []string
	// Lost is why the agent was lost; empty if it was not.
	Lost string
	// Notes are what went wrong without ending the share.
	Notes []string
	// Dir is the agent's folder with files that stay; empty for none.
	Dir string
}

// JournalCount is what the journal of an agent counts: requests that it sent, and records, those of requests that were
// cut off included where there are any.
type JournalCount struct {
	Sent    int64 `json:"requests_sent"`
	Records int64 `json:"records"`
}

// ReadJournal returns what a journal counts. The error says, among others, that the journal was not written to its end.
func ReadJournal(path string) (JournalCount, error) {
	l, err := readJournal(path, func(*batch) error { return nil })
	if err == nil && l.Torn {
		err = fmt.Errorf("%s says too little: %w", path, errTorn)
	}
	return JournalCount{l.allSent(), l.Records}, err
}

var errTorn = errors.New("it could not be written at some time")

// returnTimeout is how long lost agents are waited for at the end of a run: a few attempts to connect again.
const returnTimeout = 10 * time.Second

// known reports whether all that a member of the run has sent is known, and has come; the fleet is locked.
func (r *fleetRun) known(m *member) bool {
	return m.journal != nil || m.report.Run == r.id && m.report.Ended != nil && m.lastBatch >= m.report.Batches
}

// readJournal takes what a member of this machine, which is lost, has not handed over, out of its journal.
func (r *fleetRun) readJournal(m *member) {
	f := r.fleet
	if !m.Local {
		return
	}
	f.endLocal(m.Name) // one that only stood still must not go on
	m.batchMu.Lock()
	defer m.batchMu.Unlock()
	f.mu.Lock()
	known, came := r.known(m), m.lastBatch
	f.mu.Unlock()
	if known {
		return
	}
	completed := make([]int64, len(r.plan.Phases))
	failed := slices.Clone(completed)
	path := journalPath(f.localDir, r.id, m.share)
	l, err := readJournal(path, func(b *batch) error {
		err := recordfile.ReadBatch(b.data, func(x *record.Record) {
			if x.PhaseIndex < len(completed) && (x.Raw == nil || !x.Raw.CutOff) {
				completed[x.PhaseIndex]++
				if x.Err != nil {
					failed[x.PhaseIndex]++
				}
			}
		})
		if err == nil && b.number == came+1 {
			came++
			err = r.recordBatch(m, b)
		}
		return err
	})
	switch {
	case errors.Is(err, os.ErrNotExist): // it was lost before it had begun
		return
	case err == nil && l.Torn:
		err = errTorn
	}
	if err != nil {
		f.options.Log.Warn(fmt.Sprintf("The journal of the agent %s says too little: %v", m.Name, err))
		return
	}
	f.mu.Lock()
	m.journal = &l
	if m.report.Run != r.id {
		m.report = report{Number: m.report.Number, Run: r.id}
	}
	m.report.Phases = r.corrected(m.report.Phases, l.Sent, completed, failed)
	phases := r.phasesOf(m)
	f.mu.Unlock()
	r.forward(m.share, phases)
	f.options.Log.Warn(fmt.Sprintf("The journal of the agent %s was read: %d requests sent, %d recorded", m.Name,
		l.allSent(), l.Records))
	if r.work.RawStays { // beside the files that stay
		os.Remove(path)
		return
	}
	os.RemoveAll(shareDir(f.localDir, r.id, m.share))
}

// corrected returns the numbers of the phases of a share with what its journal says.
func (r *fleetRun) corrected(reported []load.Stats, sent, completed, failed []int64) []load.Stats {
	list := slices.Clone(reported)
	for i := range min(len(sent), len(r.plan.Phases)) {
		if i == len(list) {
			p := &r.plan.Phases[i]
			list = append(list, load.Stats{Index: i, Name: p.Name, Kind: p.Kind})
		}
		s := &list[i]
		if sent[i] > 0 && s.State == load.Created {
			s.State = load.Started
		}
		s.RequestsSent = max(s.RequestsSent, sent[i])
		s.RequestsCompleted = max(s.RequestsCompleted, completed[i])
		s.RequestErrors = max(s.RequestErrors, failed[i])
	}
	return list
}

// Close implements [remote.Shares].
func (r *fleetRun) Close(ctx context.Context) (parts []remote.Part) {
	f := r.fleet
	f.compareClocks(ctx, r.liveShares())
	_ = f.await(ctx, func() bool {
		return !slices.ContainsFunc(r.shares, func(m *member) bool {
			e := m.report.Ended // one that ended its share early is waited for until it counts as lost
			return m.lost == nil &&
				(m.report.Run != r.id || e == nil || e.Error != "" || m.lastBatch < m.report.Batches)
		})
	})
	r.losses.Wait()
	r.awaitReturn(ctx)
	r.end()
	r.gate.Lock()
	r.closed = true
	r.gate.Unlock()
	f.mu.Lock()
	f.running = nil
	for _, m := range r.shares {
		a := r.accountOf(m)
		if e := m.report.Ended; m.lost == nil && e != nil && m.report.Run == r.id {
			a.Dir = e.Dir
			parts = append(parts, remote.Part{Name: m.Name, Verdict: e.Verdict, Reasons: e.reasons()})
		}
		r.account = append(r.account, a)
	}
	f.mu.Unlock()
	// The agents hear that they are done however long the lost ones were waited for.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), commandDeadline)
	defer cancel()
	f.sendCommands(last, r.liveShares(), func(*member) *command { return &command{Kind: finishShare, Run: r.id} })
	if r.stored {
		deleteObjectStore(last, f.link, r.work.Bucket)
	}
	return parts
}

// awaitReturn waits for lost agents to come back and say what they sent.
func (r *fleetRun) awaitReturn(ctx context.Context) {
	f := r.fleet
	missing := func() (names []string) {
		for _, m := range r.shares {
			if m.lost != nil && !m.Local && !r.known(m) {
				names = append(names, m.Name)
			}
		}
		return names
	}
	f.mu.Lock()
	names := missing()
	f.mu.Unlock()
	if names == nil {
		return
	}
	f.options.Log.Info(fmt.Sprintf("Waiting up to %s for lost agents to come back and report what they sent: %q",
		f.options.Return, names))
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.options.Return)
	defer cancel()
	_ = f.await(wait, func() bool { return missing() == nil })
}

// accountOf is what became of the share of a member; the fleet is locked.
func (r *fleetRun) accountOf(m *member) Account {
	c := r.fleet.options.Clock
	a := Account{Share: m.share, Name: m.Name, Cores: m.Cores, Recorded: m.records, Notes: m.report.Notes,
		Offset: m.clock.report(c.WallNS(c.NowNS())), Source: FromReports}
	if m.report.Run == r.id {
		for i := range m.report.Phases {
			p := &m.report.Phases[i]
			a.Sent, a.CutOff = a.Sent+p.RequestsSent, a.CutOff+p.RequestsCancelled
		}
	}
	a.Sent = max(a.Sent, m.records+a.CutOff) // records may be newer than the last report
	a.Gone = a.Sent - m.records - a.CutOff
	l := m.journal
	if l == nil && m.report.Run == r.id && m.report.Ended != nil {
		l = m.report.Ended.Journal
	}
	if l != nil && l.Problem == "" && !l.Torn {
		a.Journal = &JournalCount{l.allSent(), l.Records}
		a.Differences = differences(a.Journal, a.Sent, m.rows)
	}
	if m.lost == nil {
		return a
	}
	a.Lost = m.lost.Error()
	if m.Local && r.work.RawStays {
		a.Dir = shareDir(r.fleet.localDir, r.id, m.share)
	}
	switch {
	case m.journal != nil:
		a.Source = FromJournal
	case m.report.Run != r.id || m.report.Ended == nil:
		a.Source = FromLastReport
		a.Silence, a.UnreportedAtMost = r.unreported(m)
	}
	return a
}

// differences says where a journal and what was reported do not agree.
func differences(j *JournalCount, sent, came int64) (list []string) {
	if j.Sent != sent {
		list = append(list, fmt.Sprintf("its journal counts %d requests sent, its reports %d", j.Sent, sent))
	}
	if j.Records != came {
		list = append(list, fmt.Sprintf("its journal has %d records, of which %d have come", j.Records, came))
	}
	return list
}

// unreported returns for how long a member that did not come back may have gone on without a report, and how many
// requests it may have sent meanwhile: at its rate, until the end of the run, or as long as an agent goes on without
// its coordinator. Draws of random arrivals may exceed the mean by a few standard deviations. The fleet is locked.
func (r *fleetRun) unreported(m *member) (silence time.Duration, most int64) {
	if m.report.Run != r.id {
		return 0, 0
	}
	silence = min(time.Since(m.lastReport), coordinatorTimeout+maxCheckInterval)
	c := r.fleet.options.Clock
	nowNS := m.clock.theirs(c.WallNS(c.NowNS()))
	for i := range m.report.Phases {
		p := &m.report.Phases[i]
		if p.State != load.Started || p.StartNS == 0 {
			continue
		}
		passed := time.Duration(nowNS-p.StartNS) - time.Since(m.lastReport)
		rate := p.TargetRate
		if rate == 0 {
			rate = float64(p.RequestsSent) / max(passed, time.Millisecond).Seconds()
		}
		left := silence
		if p.ExpectedDuration > 0 {
			left = min(left, max(0, p.ExpectedDuration-passed))
		}
		mean := rate * left.Seconds()
		n := int64(math.Ceil(mean + arrivalDeviations*math.Sqrt(mean)))
		if p.ExpectedRequests > 0 {
			n = min(n, p.ExpectedRequests-p.RequestsSent)
		}
		most += max(0, n)
	}
	return silence, most
}

// arrivalDeviations is by how many standard deviations of a Poisson process, √mean, the upper bound exceeds the mean: a
// normal variable is above four with a probability of 3 in 100,000.
const arrivalDeviations = 4

// maxCheckInterval is the longest time between two checks of an agent for its coordinator.
const maxCheckInterval = time.Second

// account is the line on a share that is over; kept: its journal has what the coordinator may lack.
func (s *share) account(kept bool) string {
	s.mu.Lock()
	sent := int64(0)
	for i := range s.phases {
		sent += s.phases[i].RequestsSent
	}
	s.mu.Unlock()
	_, records, unconfirmed := s.courier.counts()
	line := fmt.Sprintf("Share %d of %d: %d requests sent, %d recorded, %d confirmed", s.work.Share.Index+1,
		s.work.Share.Of, sent, records, records-unconfirmed)
	if kept {
		line += "; its journal is " + s.courier.journal.path
	}
	return line
}
