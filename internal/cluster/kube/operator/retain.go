package operator

import "time"

const day = 24 * time.Hour

// Expendable returns the runs of a list, the newest first, that retention removes: those outside the newest that stay
// and older than the age that stays. The protected run is never among them.
func (o ArchiveOptions) Expendable(runs []ArchivedRun, protected ArchivedRun, now time.Time) (list []ArchivedRun) {
	for i, r := range runs {
		old := o.RetainDays <= 0 || now.Sub(r.Time()) > time.Duration(o.RetainDays*float64(day))
		if i >= o.RetainRuns && old && r != protected {
			list = append(list, r)
		}
	}
	return list
}

// Retain removes the runs of a job that need not stay, never the current one, and returns them.
func (s *Store) Retain(current ArchivedRun) ([]ArchivedRun, error) {
	runs, err := s.Runs(current.Namespace, current.Name, current.Sweep)
	if err != nil {
		return nil, err
	}
	removed := s.o.Expendable(runs, current, s.o.Now())
	for _, r := range removed {
		if err := s.Remove(r); err != nil {
			return nil, err
		}
	}
	return removed, nil
}

// Expire removes all runs that are older than their number of days, which days returns, except protected ones.
func (s *Store) Expire(days func(ArchivedRun) int, protected func(ArchivedRun) bool) (removed []ArchivedRun, err error) {
	all, err := s.All()
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		if protected(r) || s.o.Now().Sub(r.Time()) <= time.Duration(days(r))*day {
			continue
		}
		if err := s.Remove(r); err != nil {
			return removed, err
		}
		removed = append(removed, r)
	}
	return removed, nil
}

// Retention returns the limits of retention.
func (s *Store) Retention() (runs int, days float64) { return s.o.RetainRuns, s.o.RetainDays }
