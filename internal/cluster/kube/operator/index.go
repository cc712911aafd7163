package operator

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"aiperf/internal/result/summary"
)

// indexSchema is the version of the index file.
const indexSchema = 1

// maxSummary bounds the summary of a run that is read for the index, in bytes.
const maxSummary = 64 << 20

// Entry is what the index has of a run.
type Entry struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Epoch     string `json:"epoch"`
	Sweep     bool   `json:"sweep,omitempty"`
	Phase     string `json:"phase,omitempty"`
	Model     string `json:"model,omitempty"`
	Endpoint  string `json:"endpoint,omitempty"`
	// Started is when the run was created, Completed when its results were stored.
	Started   time.Time  `json:"started"`
	Completed *time.Time `json:"completed,omitempty"`
	// ResultsTTLDays is how many days the results stay; 0 leaves it to the operator.
	ResultsTTLDays int `json:"results_ttl_days,omitempty"`
	// Metrics are the statistics of the summary, by tag and name.
	Metrics map[string]Metric `json:"metrics,omitempty"`
}

// Metric has the statistics of one metric.
type Metric struct {
	Unit  string             `json:"unit"`
	Stats map[string]float64 `json:"stats"`
}

// Run returns the run of an entry.
func (e Entry) Run() ArchivedRun {
	return ArchivedRun{Namespace: e.Namespace, Name: e.Name, Epoch: e.Epoch, Sweep: e.Sweep}
}

// record is the entry as it is kept beside the files of a run, so that the index can be made again.
const recordFile = ".run.json"

type document struct {
	Schema int     `json:"indexSchema"`
	Runs   []Entry `json:"runs"`
}

func (s *Store) loadIndex() error {
	data, err := s.root.ReadFile(IndexFile)
	if err != nil {
		return err
	}
	var d document
	if err := json.Unmarshal(data, &d); err != nil {
		return err
	}
	if d.Schema != indexSchema {
		return fmt.Errorf("the index has indexSchema %d, not %d", d.Schema, indexSchema)
	}
	for _, e := range d.Runs {
		s.index[e.Run()] = e
	}
	return nil
}

// saveIndex writes the index. The caller holds mu.
func (s *Store) saveIndex() error {
	d := document{Schema: indexSchema, Runs: []Entry{}}
	for _, e := range s.index {
		d.Runs = append(d.Runs, e)
	}
	sortEntries(d.Runs)
	data, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return s.replace(IndexFile, data)
}

func sortEntries(list []Entry) {
	slices.SortFunc(list, func(a, b Entry) int {
		return cmp.Or(b.Run().Time().Compare(a.Run().Time()), cmp.Compare(a.Namespace, b.Namespace),
			cmp.Compare(a.Name, b.Name))
	})
}

// Note records a run in the index, with the statistics of its summary where it is there.
func (s *Store) Note(e Entry) error {
	r := e.Run()
	if err := r.check(); err != nil {
		return err
	}
	if metrics := s.metrics(r); metrics != nil {
		e.Metrics = metrics
	}
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if err := s.replace(r.Dir()+"/"+recordFile, data); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.index[r] = e
	return s.saveIndex()
}

// metrics reads the statistics of a run's summary; nil where there is none.
func (s *Store) metrics(r ArchivedRun) map[string]Metric {
	data, err := s.ReadFile(r, "profile_export_aiperf.json", maxSummary)
	if err != nil {
		return nil
	}
	figures, err := summary.ParseFigures(data)
	if err != nil {
		return nil
	}
	metrics := map[string]Metric{}
	for _, b := range figures.Blocks {
		metrics[b.Tag] = Metric{Unit: b.Unit, Stats: b.Stats}
	}
	return metrics
}

// Index returns all entries, the newest first.
func (s *Store) Index() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Entry, 0, len(s.index))
	for _, e := range s.index {
		list = append(list, e)
	}
	sortEntries(list)
	return list
}

// Entry returns the entry of a run.
func (s *Store) Entry(r ArchivedRun) (Entry, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.index[r]
	return e, ok
}

// Rebuild makes the index again from the directories.
func (s *Store) Rebuild() error {
	all, err := s.All()
	if err != nil {
		return err
	}
	index := map[ArchivedRun]Entry{}
	for _, r := range all {
		e := Entry{Namespace: r.Namespace, Name: r.Name, Epoch: r.Epoch, Sweep: r.Sweep, Started: r.Time().UTC()}
		if data, err := s.root.ReadFile(r.Dir() + "/" + recordFile); err == nil {
			_ = json.Unmarshal(data, &e) // without its record a run is known by its files alone
		}
		e.Namespace, e.Name, e.Epoch, e.Sweep = r.Namespace, r.Name, r.Epoch, r.Sweep
		e.Metrics = s.metrics(r)
		index[r] = e
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.index = index
	return s.saveIndex()
}
