package parse

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/fault"
)

// maxTagKey is the longest name of a tag that servers take, in characters.
const maxTagKey = 250

// MLflowURI reads the address of a server.
func MLflowURI(text string) (*url.URL, error) {
	if !Schemed.MatchString(text) {
		return nil, errors.New("write the address of an MLflow server as http://host:port; for a database or a " +
			"folder start one: mlflow server --backend-store-uri …")
	}
	u, err := url.Parse(text)
	if err != nil { // the parser's own error would repeat the URL, secrets included
		return nil, errors.New("this is not a URL; write http://host:port")
	}
	u.Scheme = strings.ToLower(u.Scheme)
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("the scheme must be http or https; for a database or a folder start a server: mlflow " +
			"server --backend-store-uri …")
	case u.Hostname() == "":
		return nil, errors.New("there is no host; write http://host:port")
	case !inPortRange(u.Port()):
		return nil, errors.New("the port must be a number from 1 to 65535")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("a query or fragment cannot be used")
	}
	return u, nil
}

// CheckTagName reports whether a server takes a tag's name.
func CheckTagName(name string) error {
	if name == "" || utf8.RuneCountInString(name) > maxTagKey {
		return errors.New("the name of a tag has 1 to 250 characters")
	}
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-. /:", r) {
			return errors.New("the name of a tag may contain only letters, digits, blanks and _ - . / :")
		}
	}
	return nil
}

// CheckGlob reports whether a pattern can be meant: relative, below the run's folder, well-formed.
func CheckGlob(pattern string) error {
	switch {
	case pattern == "":
		return errors.New("a pattern is empty")
	case path.IsAbs(pattern) || filepath.IsAbs(pattern) || filepath.VolumeName(pattern) != "":
		return fmt.Errorf("%s: patterns are relative to the folder of the run", fault.Shorten(pattern))
	}
	for part := range strings.SplitSeq(pattern, "/") {
		if part == ".." {
			return fmt.Errorf("%s: files outside the folder of the run are not uploaded", fault.Shorten(pattern))
		}
		if _, err := path.Match(part, ""); err != nil {
			return fmt.Errorf("%s: this is not a pattern; *, ? and [a-z] match characters of a name, ** matches any "+
				"folders", fault.Shorten(pattern))
		}
	}
	return nil
}

// Globs are the patterns of a list whose items may hold several, separated by commas.
func Globs(items []string) []string {
	var list []string
	for _, item := range items {
		for pattern := range strings.SplitSeq(item, ",") {
			list = append(list, strings.TrimSpace(pattern))
		}
	}
	return list
}

// TagText is a tag's value as the original writes it: the way Python prints it.
func TagText(v any) string {
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
