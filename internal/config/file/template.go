package file

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"aiperf/internal/base/suggest"
)

//go:embed catalogue
var catalogue embed.FS

// Template is a configuration file to start from.
type Template struct {
	Name string
	// Title and Description are a few words and a sentence; Difficulty is beginner, intermediate or advanced.
	Title, Description, Category, Difficulty string
	Tags, Features                           []string
	// Files are the data files that the template reads, with slashes, relative to the folder of the configuration.
	Files []string
	// Text is the configuration file.
	Text string
}

// TemplateCategories returns the categories in the order of a list.
func TemplateCategories() []string {
	return []string{"Getting Started", "Load Testing", "Datasets", "Sweep & Multi-Run", "Advanced", "Multimodal",
		"Specialized Endpoints"}
}

// Templates returns the templates in the order of their categories, within a category by name.
func Templates() []Template { return slices.Clone(all()) }

var all = sync.OnceValue(func() []Template {
	files, err := catalogue.ReadDir("catalogue")
	if err != nil {
		panic(err) // a folder of the program itself
	}
	var list []Template
	for _, file := range files {
		name, is := strings.CutSuffix(file.Name(), ".yaml")
		if !is {
			continue
		}
		text, err := catalogue.ReadFile("catalogue/" + file.Name())
		if err != nil {
			panic(err)
		}
		t, err := ParseTemplate(name, string(text))
		if err != nil {
			panic(err)
		}
		list = append(list, t)
	}
	order := TemplateCategories()
	slices.SortStableFunc(list, func(a, b Template) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Category), slices.Index(order, b.Category)),
			cmp.Compare(a.Name, b.Name))
	})
	return list
})

// ParseTemplate returns the template of a name and a text, with what its comment block says. Its error names the
// template and the line that does not belong there.
func ParseTemplate(name, text string) (Template, error) {
	t := Template{Name: name, Text: text}
	for i, line := range strings.Split(text, "\n") {
		if i == 0 {
			if line != "# @template" {
				return t, fmt.Errorf("template %s: the first line is %q", name, line)
			}
			continue
		}
		comment, is := strings.CutPrefix(line, "# ")
		if !is {
			break
		}
		key, value, _ := strings.Cut(comment, ": ")
		switch key {
		case "title":
			t.Title = value
		case "description":
			t.Description = value
		case "category":
			t.Category = value
		case "difficulty":
			t.Difficulty = value
		case "tags":
			t.Tags = strings.Split(value, ", ")
		case "features":
			t.Features = strings.Split(value, ", ")
		case "files":
			t.Files = strings.Split(value, ", ")
		default:
			return t, fmt.Errorf("template %s: its comment block has the line %q", name, line)
		}
	}
	return t, nil
}

// FindTemplate returns the template of a name, in any case, - for _. The error of an unknown name lists all.
func FindTemplate(name string) (Template, error) {
	var names []string
	for _, t := range all() {
		if t.Name == normal(name) {
			return t, nil
		}
		names = append(names, t.Name)
	}
	message := fmt.Sprintf("unknown template %q", name)
	if near := suggest.Nearest(normal(name), names); near != "" {
		message += fmt.Sprintf("; did you mean %q?", near)
	}
	return Template{}, fmt.Errorf("%s\nThe templates are: %s", message, strings.Join(names, ", "))
}

// normal is a name as the catalogue writes it.
func normal(name string) string { return strings.ReplaceAll(strings.ToLower(name), "-", "_") }

// TemplatesInCategory returns the templates whose category contains a text, in any case.
func TemplatesInCategory(list []Template, text string) []Template {
	var in []Template
	for _, t := range list {
		if contains(t.Category, text) {
			in = append(in, t)
		}
	}
	return in
}

// SearchTemplates returns the templates in whose description a word occurs, in any case: first those that have it in their
// name.
func SearchTemplates(list []Template, word string) []Template {
	var named, described []Template
	for _, t := range list {
		texts := slices.Concat([]string{t.Title, t.Description, t.Category}, t.Tags, t.Features)
		switch {
		case contains(t.Name, word), contains(t.Name, normal(word)):
			named = append(named, t)
		case slices.ContainsFunc(texts, func(text string) bool { return contains(text, word) }):
			described = append(described, t)
		}
	}
	return append(named, described...)
}

func contains(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// TemplateData returns the content of one of the data files of a template.
func TemplateData(file string) []byte {
	data, err := catalogue.ReadFile(path.Join("catalogue", file))
	if err != nil {
		panic(err) // the catalogue's own test has read all of them
	}
	return bytes.Clone(data)
}
