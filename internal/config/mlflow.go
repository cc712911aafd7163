package config

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"aiperf/internal/base/artifact"
)

// MLflow says where the run is tracked on an MLflow server.
type MLflow struct {
	// URI is nil when it is not. Its scheme is http or https; it may hold user information.
	URI *url.URL
	// Experiment is never empty, RunName is empty where the user gave none.
	Experiment, RunName, ParentRunID string
	Tags                             []Attribute
	// Globs are nil where the user gave none.
	Globs []string
}

// maxTagKey is the longest name of a tag that servers take, in characters.
const maxTagKey = 250

// parseMLflowURI reads the address of a server.
func parseMLflowURI(text string) (*url.URL, error) {
	if !schemed.MatchString(text) {
		return nil, errors.New("write the address of an MLflow server as http://host:port; for a database or a " +
			"folder start one: mlflow server --backend-store-uri …")
	}
	u, err := url.Parse(text)
	if err != nil { // the parser's own error would repeat the URL, secrets included
		return nil, errors.New("this is not a URL; write http://host:port")
	}
	u.Scheme = strings.ToLower(u.Scheme)
	port, err := strconv.Atoi(u.Port())
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("the scheme must be http or https; for a database or a folder start a server: mlflow " +
			"server --backend-store-uri …")
	case u.Hostname() == "":
		return nil, errors.New("there is no host; write http://host:port")
	case u.Port() != "" && (err != nil || port < 1 || port > 65535):
		return nil, errors.New("the port must be a number from 1 to 65535")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("a query or fragment cannot be used")
	}
	return u, nil
}

// checkTagName reports whether a server takes a tag's name.
func checkTagName(name string) error {
	if name == "" || utf8.RuneCountInString(name) > maxTagKey {
		return errors.New("the name of a tag has 1 to 250 characters")
	}
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-. /:", r) {
			return errors.New("the name of a tag holds letters, digits, blanks and _ - . / : only")
		}
	}
	return nil
}

// checkMLflow checks the options of the upload to MLflow.
func (d *draft) checkMLflow() {
	if d.given("mlflow-tracking-uri") {
		text := d.p.Text("mlflow-tracking-uri")
		if _, err := parseMLflowURI(text); err != nil {
			d.fault("", "%s %s: %v", d.flag("mlflow-tracking-uri"), shorten(artifact.RedactAddress(text)), err)
		}
	}
	for _, name := range []string{"mlflow-experiment", "mlflow-run-name", "mlflow-parent-run-id"} {
		if d.given(name) && strings.TrimSpace(d.p.Text(name)) == "" {
			d.fault("", "%s is empty", d.flag(name))
		}
	}
	for _, m := range d.p.Pairs("mlflow-tag") {
		if err := checkTagName(m.Key); err != nil {
			d.fault("", "%s %s: %v", d.flag("mlflow-tag"), shorten(m.Key), err)
		}
	}
	for _, pattern := range globs(d.p.Texts("mlflow-artifact-glob")) {
		if err := checkGlob(pattern); err != nil {
			d.fault("", "%s: %v", d.flag("mlflow-artifact-glob"), err)
		}
	}
}

// checkGlob reports whether a pattern can be meant: relative, below the run's folder, well-formed.
func checkGlob(pattern string) error {
	switch {
	case pattern == "":
		return errors.New("a pattern is empty")
	case path.IsAbs(pattern) || filepath.IsAbs(pattern) || filepath.VolumeName(pattern) != "":
		return fmt.Errorf("%s: patterns are relative to the folder of the run", shorten(pattern))
	}
	for part := range strings.SplitSeq(pattern, "/") {
		if part == ".." {
			return fmt.Errorf("%s: files outside the folder of the run are not uploaded", shorten(pattern))
		}
		if _, err := path.Match(part, ""); err != nil {
			return fmt.Errorf("%s: this is no pattern; *, ? and [a-z] stand for characters of a name, ** for any folders", shorten(pattern))
		}
	}
	return nil
}

// globs are the patterns of a list whose items may hold several, separated by commas.
func globs(items []string) []string {
	var list []string
	for _, item := range items {
		for pattern := range strings.SplitSeq(item, ",") {
			list = append(list, strings.TrimSpace(pattern))
		}
	}
	return list
}

func (d *draft) mlflow() MLflow {
	if !d.given("mlflow-tracking-uri") {
		return MLflow{}
	}
	m := MLflow{
		Experiment:  strings.TrimSpace(d.p.Text("mlflow-experiment")),
		RunName:     strings.TrimSpace(d.p.Text("mlflow-run-name")),
		ParentRunID: strings.TrimSpace(d.p.Text("mlflow-parent-run-id")),
		Globs:       globs(d.p.Texts("mlflow-artifact-glob")),
	}
	m.URI, _ = parseMLflowURI(d.p.Text("mlflow-tracking-uri")) // checked before
	for _, pair := range d.p.Pairs("mlflow-tag") {
		m.Tags = append(m.Tags, Attribute{pair.Key, tagText(pair.Value)})
	}
	return m
}

// tagText is a tag's value as the original writes it: the way Python prints it.
func tagText(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case string:
		return v
	case bool:
		if v {
			return "True"
		}
		return "False"
	}
	text, err := artifact.AppendJSON(nil, v)
	if err != nil {
		return ""
	}
	return string(text)
}

// mlflowConfig is the part of the configuration that exports carry.
func mlflowConfig(r *Run) Object {
	m := r.MLflow
	if m.URI == nil {
		return nil
	}
	out := Object{{Key: "tracking_uri", Value: artifact.RedactURLs(m.URI.String())},
		{Key: "experiment", Value: m.Experiment}}
	out = addGiven(out, r.parsed, "mlflow-run-name", "run_name", m.RunName)
	if len(m.Tags) > 0 {
		tags := Object{}
		for _, t := range m.Tags {
			tags = append(tags, Member{Key: t.Name, Value: t.Value})
		}
		out = append(out, Member{Key: "tags", Value: artifact.HideSensitive(tags)})
	}
	out = addGiven(out, r.parsed, "mlflow-parent-run-id", "parent_run_id", m.ParentRunID)
	return addGiven(out, r.parsed, "mlflow-artifact-glob", "artifact_globs", texts(m.Globs))
}
