package loader

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/rows"
)

// nameEnding returns the ending of a file's name in lower case, without that of compression.
func nameEnding(path string) string {
	return filepath.Ext(rows.UnpackedName(path))
}

// formatOfText recognises prompts without JSON, by the name of the file and what it begins with.
func formatOfText(path, first string) string {
	switch nameEnding(path) {
	case ".txt":
		if !strings.HasPrefix(first, "{") {
			return textLines
		}
	case ".csv":
		if header, err := csv.NewReader(strings.NewReader(first)).Read(); err == nil && promptColumn(header) >= 0 &&
			!slices.ContainsFunc(header, foreignColumn) {
			return textCSV
		}
	}
	return ""
}

// foreignColumn reports whether a column of a CSV file is one that text_csv does not read and a table does.
func foreignColumn(name string) bool {
	if slices.Contains([]string{"text", "prompt", limitColumn}, columnName(name)) {
		return false
	}
	return slices.ContainsFunc(tableRoles(), func(r tableRole) bool {
		return r.name != roleText && r.name != roleMessages && r.name != roleInput && slices.Contains(r.names, plainName(name))
	})
}

// textLines reads lines that are prompts.
func (l *load) textLines() error {
	return l.eachLine(func(line []byte) {
		if !utf8.Valid(line) {
			l.errorf("the line is not UTF-8 text")
			return
		}
		l.addPrompt(string(line), nil)
	})
}

func (l *load) addPrompt(text string, limit *int) {
	c := l.conversation("")
	c.Turns = []dataset.Turn{{Texts: []dataset.Media{{Contents: []string{text}}}, MaxTokens: limit}}
}

// limitColumn is the column of a CSV file that limits the output of a row.
const limitColumn = "output_length"

// promptColumn returns the place of the column with the prompts: text, else prompt; -1 without one.
func promptColumn(header []string) int {
	for _, name := range []string{"text", "prompt"} {
		if at := slices.IndexFunc(header, func(h string) bool { return columnName(h) == name }); at >= 0 {
			return at
		}
	}
	return -1
}

func columnName(header string) string { return strings.ToLower(strings.TrimSpace(header)) }

// textCSV reads the rows of a CSV file as prompts.
func (l *load) textCSV() error {
	in, err := Open(l.path)
	if err != nil {
		return err
	}
	defer in.Close()
	rows := csv.NewReader(l.options.maxLine().Lines(in))
	rows.ReuseRecord = true
	header, err := rows.Read()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return csvFault(l.path, err)
	}
	l.line = 1
	prompt := promptColumn(header)
	if prompt < 0 {
		return fmt.Errorf("%s:1: the header has no column text or prompt: it has %s", l.path,
			shorten(strings.Join(header, ", ")))
	}
	limit := -1
	for i, name := range header {
		switch {
		case i == prompt:
		case columnName(name) == limitColumn:
			limit = i
		default:
			l.warnUnknown(strings.TrimSpace(name), []string{"text", "prompt", limitColumn})
		}
	}
	for n := 0; ; n++ {
		if n%1024 == 0 && l.ctx.Err() != nil {
			return l.ctx.Err()
		}
		fields, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return csvFault(l.path, err)
		}
		l.line, _ = rows.FieldPos(0)
		l.csvRow(fields, prompt, limit)
	}
}

func (l *load) csvRow(fields []string, prompt, limit int) {
	text := strings.TrimSpace(fields[prompt])
	switch {
	case text == "":
		l.errorf("the prompt is empty")
		return
	case !utf8.ValidString(text):
		l.errorf("the prompt is not UTF-8 text")
		return
	}
	var most *int
	if limit >= 0 && strings.TrimSpace(fields[limit]) != "" {
		number := json.RawMessage(strings.TrimSpace(fields[limit]))
		row := &object{members: map[string]json.RawMessage{limitColumn: number}}
		var err error
		if most, err = row.positive(limitColumn); err != nil {
			l.errorf("%v", err)
			return
		}
	}
	l.addPrompt(text, most)
}

// csvFault returns the error of the CSV reader in words for the user.
func csvFault(path string, err error) error {
	var broken *csv.ParseError
	if !errors.As(err, &broken) {
		return fmt.Errorf("%s: %w", path, err)
	}
	what := "a quotation mark is not allowed here, or is not closed; write it twice inside quoted text"
	if errors.Is(broken.Err, csv.ErrFieldCount) {
		what = "the row has more or fewer columns than the header"
	}
	return fmt.Errorf("%s:%d: not valid CSV at column %d: %s", path, broken.Line, broken.Column, what)
}
