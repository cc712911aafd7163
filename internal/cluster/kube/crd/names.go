package crd

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// ValidJobName returns an error unless a name is a DNS label of at most 40 characters.
func ValidJobName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("is empty; give a name of lower-case letters, digits and hyphens")
	case len(name) > MaxJobName:
		return fmt.Errorf("%q has %d characters; at most %d are allowed", name, len(name), MaxJobName)
	case !dnsLabel.MatchString(name):
		return fmt.Errorf("%q is not a DNS label: use lower-case letters, digits and hyphens, "+
			"with a letter or digit at both ends", name)
	}
	return nil
}

// ValidSweepName returns an error unless the names of all children of a sweep are valid. trialSuffix reports that
// children carry the number of their trial.
func ValidSweepName(name string, trialSuffix bool) error {
	if err := ValidJobName(name); err != nil {
		return err
	}
	longest := len(ChildName(name, MaxVariations-1, MaxTrials-1, trialSuffix))
	if longest > MaxChildName {
		return fmt.Errorf("%q has %d characters; the names of its jobs would have up to %d, and at most %d are allowed: "+
			"shorten it to %d", name, len(name), longest, MaxChildName, len(name)-(longest-MaxChildName))
	}
	return nil
}

// CheckSweepSize returns an error where a sweep has more variations or trials than are allowed.
func CheckSweepSize(name string, variations, trials int, trialSuffix bool) error {
	switch {
	case variations > MaxVariations:
		return fmt.Errorf("the sweep has %d variations; at most %d are allowed: split it", variations, MaxVariations)
	case trials > MaxTrials:
		return fmt.Errorf("multiRun.numRuns is %d; at most %d trials are allowed", trials, MaxTrials)
	}
	longest := len(ChildName(name, max(variations-1, 0), max(trials-1, 0), trialSuffix))
	if longest > MaxChildName {
		return fmt.Errorf("the name %q has %d characters; the names of its jobs would have %d, and at most %d are "+
			"allowed: shorten it to %d", name, len(name), longest, MaxChildName, len(name)-(longest-MaxChildName))
	}
	return nil
}

// ChildName is the name of the job of a variation and a trial, both from 0.
func ChildName(sweep string, variation, trial int, trialSuffix bool) string {
	name := fmt.Sprintf("%s-v%02d", sweep, variation)
	if trialSuffix {
		name += "-t" + strconv.Itoa(trial)
	}
	return name
}

// TrialSuffix reports whether the children of a sweep carry the number of their trial: with more than one trial, and
// with convergence however many trials are asked for.
func (s *Spec) TrialSuffix() bool {
	trials, converges := s.Trials()
	return trials > 1 || converges
}

// Trials returns the number of runs of each variation at most, and whether convergence may end them earlier.
func (s *Spec) Trials() (trials int, converges bool) {
	trials = 1
	if n, ok := asNumber(s.MultiRun["numRuns"]); ok && n > 1 {
		trials = int(n)
	}
	c, _ := s.MultiRun["convergence"].(Object)
	return trials, len(c) > 0
}

// Identity is the SHA-256 of a specification with sorted keys. Two children with the same one are the same run.
func Identity(spec Object) (string, error) {
	data, err := json.Marshal(spec) // keys of maps are sorted
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// ValuesAnnotation is the text of the annotation with the values of a variation: JSON, or a mark where that is longer
// than 2048 bytes.
func ValuesAnnotation(values any) (string, error) {
	data, err := json.Marshal(values)
	if err != nil {
		return "", err
	}
	if len(data) > maxVariationValues {
		data, err = json.Marshal(Object{"truncated": true, "bytes": len(data)})
	}
	return string(data), err
}

// Epoch names a run: seconds of its start, with six digits of microseconds.
func Epoch(t time.Time) string { return fmt.Sprintf("%d%06d", t.Unix(), t.Nanosecond()/1000) }
