package loader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"aiperf/internal/workload/recipe"
	"aiperf/internal/workload/rows"
)

// tableFormat reads rows with columns of any names: a list of prompts, or a log of requests.
const tableFormat = "table"

// tableRole is what a column can mean, and the names that such columns usually have: the more certain ones first, in
// lower case, without what is no letter and no digit.
type tableRole struct {
	name  string
	names []string
	// suits reports whether a value can be one of the role.
	suits func(any) bool
}

// The roles of columns.
const (
	roleMessages = "messages"
	roleText     = "text"
	roleInput    = "input_length"
	roleOutput   = "output_length"
	roleTime     = "timestamp"
	roleSession  = "session_id"
	roleDelay    = "delay"
	roleHeaders  = headersKey
)

func tableRoles() []tableRole {
	return []tableRole{
		{roleMessages, []string{"messages", "conversation", "conversations", "chat", "dialog", "dialogue"}, isMessages},
		{roleText, []string{"text", "prompt", "question", "query", "instruction", "input", "inputs", "textinput", "problem",
			"userprompt", "usermessage", "content"}, isPlainText},
		{roleInput, []string{"inputlength", "inputtokens", "prompttokens", "contexttokens", "requesttokens", "promptlength",
			"promptlen", "inputlen", "numprompttokens", "tokensin"}, isCount},
		{roleOutput, []string{"outputlength", "maxtokens", "maxcompletiontokens", "completiontokens", "outputtokens",
			"generatedtokens", "responsetokens", "maxnewtokens", "completionlength", "outputlen", "numgeneratedtokens",
			"tokensout"}, isCount},
		{roleTime, []string{"timestamp", "ts", "time", "createdat", "created", "starttime", "requesttime", "datetime",
			"timestampms", "timems", "arrivaltime", "arrivedat", "timeiso8601", "timelocal", "msec", "date"}, isTime},
		{roleSession, []string{"sessionid", "session", "conversationid", "chatid", "threadid"}, isName},
		{roleDelay, []string{"delay"}, isCount},
		{roleHeaders, []string{"headers"}, isHeaders},
	}
}

// TableRoles are the names of what a column of a table can mean.
func TableRoles() (names []string) {
	for _, r := range tableRoles() {
		names = append(names, r.name)
	}
	return names
}

// TableRole returns what a name means as that of a column: itself, or the meaning of which it is a usual name.
func TableRole(name string) (role string, known bool) {
	for _, r := range tableRoles() {
		if r.name == name || slices.Contains(r.names, plainName(name)) {
			return r.name, true
		}
	}
	return "", false
}

func plainName(column string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, column)
}

func isPlainText(v any) bool {
	s, ok := v.(string)
	return ok && strings.TrimSpace(s) != ""
}

func isName(v any) bool {
	_, ok := nameOf(v)
	return ok
}

func isCount(v any) bool {
	n, ok := numberOfValue(v)
	return ok && n >= 0
}

func isTime(v any) bool {
	_, _, ok := instant(v)
	return ok
}

func isMessages(v any) bool {
	_, ok := messagesOf(v)
	return ok
}

// nameOf returns a text or a whole number as a name.
func nameOf(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, v != ""
	case json.Number:
		return v.String(), true
	case int64:
		return strconv.FormatInt(v, 10), true
	}
	return "", false
}

// numberOfValue returns a number, also one that is written as a text.
func numberOfValue(v any) (float64, bool) {
	switch v := v.(type) {
	case json.Number:
		x, err := v.Float64()
		return x, err == nil
	case int64:
		return float64(v), true
	case float64:
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	case string:
		x, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		return x, err == nil && !math.IsNaN(x) && !math.IsInf(x, 0)
	}
	return 0, false
}

// messagesOf returns a list of messages with roles, also one that is written as a text.
func messagesOf(v any) ([]json.RawMessage, bool) {
	if text, ok := v.(string); ok {
		if !strings.HasPrefix(strings.TrimSpace(text), "[") || json.Unmarshal([]byte(text), &v) != nil {
			return nil, false
		}
	}
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return nil, false
	}
	var messages []json.RawMessage
	for _, item := range list {
		m, ok := item.(map[string]any)
		if _, named := m["role"].(string); !ok || !named {
			return nil, false
		}
		text, err := json.Marshal(m)
		if err != nil {
			return nil, false
		}
		messages = append(messages, text)
	}
	return messages, true
}

// tableColumns says which column of a table has which role.
type tableColumns struct {
	of map[string]string // role → column
	// unit is that of small numbers of the time in milliseconds.
	unit     float64
	unitName string
	left     []string // columns without a role
}

func (c *tableColumns) has(role string) bool { return c.of[role] != "" }

// value returns the value of a role in a row; nil for none.
func (c *tableColumns) value(row rows.Row, role string) any {
	column := c.of[role]
	if column == "" {
		return nil
	}
	return valueAt(row, column)
}

// valueAt returns the value of a column, or that in a member of one: body.prompt.
func valueAt(row rows.Row, column string) any {
	if v, ok := row[column]; ok {
		return v
	}
	first, rest, nested := strings.Cut(column, ".")
	if !nested {
		return nil
	}
	if inner, ok := row[first].(map[string]any); ok {
		return valueAt(inner, rest)
	}
	return nil
}

// sampled is the number of rows by which the columns of a table are known.
const sampled = 100

// lookAtTable finds the columns of a table by its first rows. The user's columns win.
func lookAtTable(ctx context.Context, path string, asked []recipe.Column) (*tableColumns, error) {
	var first []rows.Row
	err := rows.Each(ctx, path, func(number int, row rows.Row) error {
		if first = append(first, row); len(first) == sampled {
			return rows.ErrEnough
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return chooseColumns(path, first, asked)
}

// chooseColumns decides which column has which role, by the first rows: those that the user maps, then for each other
// role the first of its usual names whose values suit. What is sent is said by one column only, the first of messages,
// text and length. Columns without a role are kept in left, for the message about them.
func chooseColumns(path string, first []rows.Row, asked []recipe.Column) (*tableColumns, error) {
	var names []string
	for _, row := range first {
		for name := range row {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	c := &tableColumns{of: map[string]string{}, left: names}
	decided := map[string]bool{}
	for _, a := range asked {
		decided[a.Role] = true
		if a.Column == "" {
			continue // the role has no column
		}
		if !slices.ContainsFunc(first, func(r rows.Row) bool { return valueAt(r, a.Column) != nil }) {
			return nil, fmt.Errorf("%s: --map %s=%s: there is no such column; there are %s", path, a.Role, a.Column,
				shorten(strings.Join(names, ", ")))
		}
		c.of[a.Role] = a.Column
	}
	suits := func(r tableRole, column string) bool {
		if column == "" || slices.ContainsFunc(asked, func(a recipe.Column) bool { return a.Column == column }) {
			return false
		}
		for _, row := range first {
			if v := row[column]; v != nil && v != "" {
				return r.suits(v)
			}
		}
		return false
	}
	for _, r := range tableRoles() {
		if decided[r.name] {
			continue
		}
		for _, usual := range r.names {
			at := slices.IndexFunc(names, func(n string) bool { return plainName(n) == usual })
			if at >= 0 && suits(r, names[at]) {
				c.of[r.name] = names[at]
				break
			}
		}
	}
	// The first of messages, a text and a length that there is says what is sent.
	for i, content := range contentRoles {
		if !c.has(content) {
			continue
		}
		for _, other := range contentRoles[i+1:] {
			delete(c.of, other)
		}
	}
	c.left = slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		for _, column := range c.of {
			if column == n || strings.HasPrefix(column, n+".") {
				return true
			}
		}
		return false
	})
	c.chooseUnit(first)
	return c, nil
}

var contentRoles = []string{roleMessages, roleText, roleInput}

// String says what is read as what, and what is left out.
func (c *tableColumns) String() string {
	var read []string
	for _, r := range tableRoles() {
		column := c.of[r.name]
		switch {
		case column == "":
			continue
		case r.name == roleTime:
			column += " (" + c.unitName + ")"
		}
		read = append(read, r.name+" from "+column)
	}
	text := strings.Join(read, ", ")
	if len(c.left) > 0 {
		text += "; left out: " + shorten(strings.Join(c.left, ", "))
	}
	return text
}

// check refuses a table from which no request can be made.
func (c *tableColumns) check(path string) error {
	for _, role := range append(contentRoles, roleTime) {
		if c.has(role) {
			return nil
		}
	}
	return fmt.Errorf("%s: no column is known as a prompt, messages, a length or a time; there are %s: name them, as in "+
		"--map text=COLUMN", path, shorten(strings.Join(c.left, ", ")))
}

// readTable reads a table whose columns have any names.
func readTable(l *load) error {
	if info, err := os.Stat(l.path); err == nil && info.Size() == 0 {
		return nil
	}
	columns, err := lookAtTable(l.ctx, l.path, l.options.Columns)
	if err != nil {
		return err
	}
	if err := columns.check(l.path); err != nil {
		return err
	}
	l.notef("%s is read as a table: %s", l.path, columns)
	var read []row
	header := 0
	if rows.Kind(l.path) == "csv" {
		header = 1
	}
	timed := columns.has(roleTime)
	answers := 0
	err = rows.Each(l.ctx, l.path, func(number int, from rows.Row) error {
		l.line = number + header
		r, answer, err := columns.row(from)
		if answer {
			answers++
		}
		switch {
		case errors.Is(err, errNoRequest):
			l.skip(l.line)
		case err != nil:
			l.errorf("%v", err)
		default:
			r.line = l.line
			timed = timed && r.turn.TimestampMS != nil
			l.credentials.add(r.turn.Headers)
			if l.admit(&r) {
				read = append(read, r)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if answers > 0 {
		l.notef("%d recorded replies at the end of messages of %s are not sent", answers, l.path)
	}
	l.warnSkipped()
	return l.groupLog(read, timed)
}

// errNoRequest is the error of a row that holds none.
var errNoRequest = errors.New("the row holds no request")

// row makes a request of a row; answer reports that a recorded reply was left out.
func (c *tableColumns) row(from rows.Row) (r row, answer bool, err error) {
	switch {
	case c.has(roleMessages):
		list, ok := messagesOf(c.value(from, roleMessages))
		for ok && len(list) > 0 && saidBy(list[len(list)-1]) == "assistant" {
			list, answer = list[:len(list)-1], true
		}
		if len(list) == 0 {
			return r, answer, errNoRequest
		}
		r.kind, r.turn.RawMessages = messageList, list
	case c.has(roleText):
		text, _ := c.value(from, roleText).(string)
		if strings.TrimSpace(text) == "" {
			return r, false, errNoRequest
		}
		if !utf8.ValidString(text) {
			return r, false, fmt.Errorf("the column %q is not UTF-8 text", c.of[roleText])
		}
		r.kind, r.turn.Texts = givenText, textMedia(strings.TrimSpace(text))
	case c.has(roleInput):
		n, ok := c.count(from, roleInput)
		if !ok || n < 1 {
			return r, false, errNoRequest
		}
		r.tokens = n
	default:
		r.arrival = true
	}
	if v := c.value(from, roleOutput); v != nil && v != "" {
		n, ok := c.count(from, roleOutput)
		if !ok {
			return r, answer, fmt.Errorf("the column %q: want a whole number of at least 0, got %s", c.of[roleOutput],
				shorten(fmt.Sprint(v)))
		}
		limit := max(1, n)
		r.turn.MaxTokens = &limit
	}
	if v := c.value(from, roleDelay); v != nil && v != "" {
		ms, ok := numberOfValue(v)
		if !ok || ms < 0 || ms > maxMS {
			return r, answer, fmt.Errorf("the column %q: want a number of milliseconds, got %s", c.of[roleDelay],
				shorten(fmt.Sprint(v)))
		}
		r.turn.DelayMS = &ms
	}
	if v := c.value(from, roleHeaders); v != nil && v != "" {
		if r.turn.Headers, err = headersOfValue(v); err != nil {
			return r, answer, fmt.Errorf("the column %q: %w; --map %s= leaves it out", c.of[roleHeaders], err,
				roleHeaders)
		}
	}
	r.session, _ = nameOf(c.value(from, roleSession))
	if v := c.value(from, roleTime); v != nil && v != "" {
		ms, ok := c.milliseconds(v)
		if !ok {
			return r, answer, fmt.Errorf("the column %q: want a time (ISO 8601, or a number since 1970), got %s",
				c.of[roleTime], shorten(fmt.Sprint(v)))
		}
		r.turn.TimestampMS, r.turn.DelayMS = &ms, nil
	} else if r.arrival {
		return r, answer, errNoRequest
	}
	return r, answer, nil
}

func (c *tableColumns) count(from rows.Row, role string) (int, bool) {
	n, ok := numberOfValue(c.value(from, role))
	if !ok || n < 0 || n != math.Trunc(n) || n > math.MaxInt32 {
		return 0, false
	}
	return int(n), true
}

func saidBy(message json.RawMessage) string {
	var m struct {
		Role string `json:"role"`
	}
	_ = json.Unmarshal(message, &m) // was made of an object
	return m.Role
}

// TableFacts are what is known of a table before it is loaded.
type TableFacts struct {
	Rows int64
	// Timed reports a log: it has the times and the lengths of requests, or their times alone. Lengths reports that
	// texts have to be made.
	Timed, Lengths bool
}

// LookAtTable counts the rows of a table and finds out what its columns are.
func LookAtTable(ctx context.Context, path string, asked []recipe.Column) (facts TableFacts, err error) {
	columns, err := lookAtTable(ctx, path, asked)
	if err != nil {
		return facts, err
	}
	given := columns.has(roleMessages) || columns.has(roleText)
	facts.Lengths = !given
	facts.Timed = columns.has(roleTime) && (!given || columns.has(roleOutput))
	err = rows.Each(ctx, path, func(int, rows.Row) error { facts.Rows++; return nil })
	return facts, err
}

// isTable reports whether requests can be made of a file's rows by the names of their columns.
func isTable(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false // a pipe is read once
	}
	columns, err := lookAtTable(context.Background(), path, nil)
	return err == nil && (columns.has(roleMessages) || columns.has(roleText) || columns.has(roleInput))
}

// betterAsTable reports whether a record that looks like one of a strict format has columns which that format does not
// know and a table does.
func betterAsTable(o *object, format string) bool {
	var known []string
	switch format {
	case singleTurn:
		known = append([]string{"prompt"}, singleKeys...)
		for _, m := range modalities[1:] {
			if o.has(m.singular) || o.has(m.plural) {
				return false // a table knows no media
			}
		}
		if o.has("texts") || o.has("extra") || o.has("role") {
			return false
		}
	case mooncakeTrace:
		known = mooncakeKeys
		if o.has("hash_ids") || o.has("messages") || o.has("payload") {
			return false
		}
	default:
		return false
	}
	if jsonKind(o, roleTime) == '"' {
		return true
	}
	for _, r := range tableRoles() {
		if r.name == roleMessages || r.name == roleInput && format == singleTurn || o.has(r.name) ||
			r.name == roleText && (o.has("prompt") || o.has("text_input") || o.has("input_length")) {
			continue
		}
		for _, key := range o.keys {
			if o.has(key) && !slices.Contains(known, key) && slices.Contains(r.names, plainName(key)) {
				return true
			}
		}
	}
	return false
}

// jsonKind is the first byte of a member, 0 for none.
func jsonKind(o *object, key string) byte {
	if !o.has(key) {
		return 0
	}
	return o.members[key][0]
}
