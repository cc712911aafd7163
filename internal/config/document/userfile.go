package document

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"aiperf/internal/base/artifact"
)

// UserFile is a file as it stands in the configuration.
type UserFile struct {
	// Path is where it goes, with slashes, relative to the folder of the run.
	Path string
	// Format is one of [Formats].
	Format  string
	Content *Node
}

// The formats.
const (
	UserJSON = "json"
	YAML     = "yaml"
	UserText = "text"
)

// UserFormats are the values of a format.
func UserFormats() []string { return []string{UserJSON, YAML, UserText} }

// CheckUserPath reports what is wrong with the path of a file. What would escape the folder on any system is refused on
// all.
func CheckUserPath(p string) error {
	parts := strings.Split(p, "/")
	switch {
	case strings.TrimSpace(p) == "":
		return errors.New("the path is empty: name a file below the folder of the run")
	case strings.ContainsFunc(p, unicode.IsControl):
		return fmt.Errorf("the path %q has control characters", p)
	case path.IsAbs(p):
		return fmt.Errorf("the path %s is absolute; paths are relative to the folder of the run", p)
	case slices.Contains(parts, ".."):
		return fmt.Errorf("the path %s has a part '..'; files stay in the folder of the run", p)
	case strings.ContainsAny(p, `\:<>"|?*`):
		return fmt.Errorf(`the path %s has one of the characters \ : < > " | ? *, which Windows keeps for itself; `+
			"folders are separated by /", p)
	case strings.HasSuffix(p, "/") || parts[len(parts)-1] == ".":
		return fmt.Errorf("the path %s is that of a folder, not of a file", p)
	}
	for _, part := range parts {
		if artifact.IsDeviceName(part) {
			return fmt.Errorf("the path %s has the name of a device on Windows, %s", p, part)
		}
		if part != "." && strings.TrimRight(part, ". ") != part {
			return fmt.Errorf("the path %s has a name that ends with a dot or a blank, which Windows cuts off", p)
		}
	}
	return nil
}

// UserFormatOf is the format of a content that names none.
func UserFormatOf(content *Node) string {
	if content.Kind == Text {
		return UserText
	}
	return UserJSON
}

// NewUserFile makes a file; an empty format is that of [FormatOf]. Its error is about the format.
func NewUserFile(p, format string, content *Node) (UserFile, error) {
	f := UserFile{Path: path.Clean(p), Format: format, Content: content}
	isText := content.Kind == Text
	switch {
	case format == "":
		f.Format = UserFormatOf(content)
	case !slices.Contains(UserFormats(), format):
		return f, fmt.Errorf("the format must be json, yaml or text, not %s", format)
	case format == UserText && !isText:
		return f, fmt.Errorf("the format text needs a text as content, not %s; formats of values are json and yaml",
			content.Kind)
	case format != UserText && isText:
		return f, fmt.Errorf("the format %s needs a value such as a mapping as content; a text has the format text",
			format)
	}
	return f, nil
}
