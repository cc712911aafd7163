package option

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/header"
	"aiperf/internal/base/pattern"
	"aiperf/internal/base/scalar"
	"aiperf/internal/base/suggest"
	"aiperf/internal/config/fault"
	"aiperf/internal/load"
)

// Parse reads the tokens that the option was given, over all its occurrences, and checks its limits. The value is a
// bool, string, int64, float64, []string, []any (numbers) or artifact.Object, by type and arity. Swept holds all values
// of a comma list that is a dimension of a sweep; value is then the first.
func (o *Option) Parse(tokens []string) (value any, swept []any, err error) {
	switch {
	case o.Type == Pairs:
		value, err = parsePairs(tokens)
	case o.Type == Headers:
		value, err = ParseHeaders(tokens)
	case o.Type == URLHeaders:
		value, err = o.ParseItems(tokens)
	case o.Arity != One:
		value, err = parseList(o, tokens)
	case o.Sweep && strings.Contains(tokens[0], ","):
		if swept, err = parseSweep(o, tokens[0]); err == nil {
			value = swept[0]
		}
	default:
		value, err = parseOne(o, tokens[0])
	}
	return value, swept, err
}

// Set gives a field of the option, whose row this may be with other limits, the value that tokens stand for, as
// [Field.Set] does.
func (o *Option) Set(f Field, tokens []string, from Origin) error {
	value, swept, err := o.Parse(tokens)
	if err != nil {
		value, swept = nil, nil
	}
	f.set(value, swept, from)
	return err
}

// SetItems gives a field a list whose items are not split at commas, as Set does otherwise.
func (o *Option) SetItems(f Field, items []string, from Origin) error {
	value, err := o.ParseItems(items)
	if err != nil {
		value = nil
	}
	f.set(value, nil, from)
	return err
}

// parseOne reads a single value.
func parseOne(o *Option, text string) (any, error) {
	switch o.Type {
	case Bool:
		b, err := scalar.Bool(text)
		if err != nil {
			return nil, ErrNotBool
		}
		return b, nil
	case Int:
		return parseInt(o, text)
	case Float:
		return parseFloat(o, text)
	case Enum:
		if canonical, ok := MatchEnum(text, o.Values); ok {
			return canonical, nil
		}
		if o.Extensible && text != "" {
			return text, nil
		}
		return nil, o.NoValue(text)
	case Number:
		if strings.ContainsAny(text, ".eE") {
			return parseFloat(o, text)
		}
		return parseInt(o, text)
	}
	if strings.TrimSpace(text) == "" && !o.MayBeEmpty {
		return nil, errors.New("the value is empty")
	}
	if o.MustExist {
		if _, err := os.Stat(text); err != nil {
			return nil, fmt.Errorf("'%s' is not a valid file or directory", text)
		}
	}
	return text, nil
}

// NoValue says that a text is none of the values of an Enum, and what they are.
func (o *Option) NoValue(text string) error {
	if near := suggest.Nearest(strings.ToLower(text), o.Values); near != "" && len(o.Values) > 8 {
		return fmt.Errorf("did you mean %s? Allowed are %s", near, strings.Join(o.Values, ", "))
	}
	return errors.New(suggest.OneOf(text, o.Values))
}

func parseInt(o *Option, text string) (any, error) {
	v, err := scalar.Count(text)
	if err != nil && o.Unit > 0 {
		v, err = wholeTime(o.Unit, text)
	}
	if errors.Is(err, scalar.ErrTooLarge) {
		return nil, fmt.Errorf("is too large%s", must(o))
	}
	if err != nil {
		return nil, fmt.Errorf("is not a whole number%s", must(o))
	}
	if !o.Limits.Contains(float64(v)) {
		return nil, fmt.Errorf("is out of range%s", must(o))
	}
	return v, nil
}

// wholeTime reads a time that is a whole number of units.
func wholeTime(unit time.Duration, text string) (int64, error) {
	v, err := scalar.In(unit, text)
	switch {
	case err != nil:
		return 0, err
	case v != math.Trunc(v) || math.Abs(v) >= 1<<63:
		return 0, errors.New("is not a whole number")
	}
	return int64(v), nil
}

func parseFloat(o *Option, text string) (any, error) {
	var v float64
	var err error
	switch {
	case o.Unit > 0:
		v, err = scalar.In(o.Unit, text)
	case o.Factor:
		v, err = scalar.Number(strings.TrimLeft(text, "x×X"))
	case o.Limits.share():
		v, err = scalar.Share(text)
	case o.Limits.percent():
		v, err = scalar.Percent(text)
	default:
		v, err = scalar.Number(text)
	}
	switch {
	case errors.Is(err, scalar.ErrTooLarge):
		return nil, fmt.Errorf("is too large%s", must(o))
	case err != nil && o.Unit > 0:
		return nil, fmt.Errorf("is not a time such as 10s, 5m or 1h30m%s", must(o))
	case err != nil:
		return nil, fmt.Errorf("is not a number%s", must(o))
	}
	if (math.IsInf(v, 0) && !o.Infinite) || !o.Limits.Contains(v) {
		return nil, fmt.Errorf("is out of range%s", must(o))
	}
	return v, nil
}

func must(o *Option) string {
	if r := o.Limits.String(); r != "" {
		return "; it must be " + r
	}
	return ""
}

// parseList reads a Repeat or Multi option: every token is split at commas and its parts are trimmed.
func parseList(o *Option, tokens []string) (any, error) {
	var items []string
	for _, token := range tokens {
		if strings.TrimSpace(token) == "" {
			continue
		}
		if o.Whole {
			items = append(items, strings.TrimSpace(token))
			continue
		}
		for part := range strings.SplitSeq(token, ",") {
			part = strings.TrimSpace(part)
			if part == "" {
				return nil, fmt.Errorf("%s has an empty item", fault.Shorten(artifact.RedactAddress(token)))
			}
			items = append(items, part)
		}
	}
	return o.ParseItems(items)
}

// ParseItems reads the items of a list that are known as such: none is split at commas.
func (o *Option) ParseItems(items []string) (any, error) {
	if o.Type == URLHeaders {
		return checkURLHeaders(items)
	}
	texts, numbers := []string{}, []any{}
	for _, item := range items {
		value, err := parseOne(o, item)
		if err != nil {
			return nil, fmt.Errorf("%s %w", fault.Shorten(artifact.RedactAddress(item)), err)
		}
		if text, ok := value.(string); ok {
			texts = append(texts, text)
		} else {
			numbers = append(numbers, value)
		}
	}
	if o.Type == Number {
		return numbers, nil
	}
	return texts, nil
}

// parseSweep reads a comma list of numbers that becomes a dimension of a sweep.
func parseSweep(o *Option, text string) ([]any, error) {
	parts := strings.Split(text, ",")
	var swept []any
	for _, part := range parts {
		part = strings.TrimSpace(part)
		if part == "" {
			return nil, errors.New("the list has an empty item; a sweep needs at least two values")
		}
		value, err := parseOne(o, part)
		if err != nil {
			return nil, fmt.Errorf("%s in the list %w", fault.Shorten(part), err)
		}
		if slices.Contains(swept, value) {
			return nil, fmt.Errorf("%s is in the list twice, so its artifacts would be overwritten; use "+
				"--num-profile-runs to repeat a value", fault.Shorten(part))
		}
		swept = append(swept, value)
	}
	return swept, nil
}

var (
	decimalInt   = pattern.New(`^-?(0|[1-9][0-9]*)$`)
	decimalFloat = pattern.New(`^-?([0-9]+\.[0-9]*|\.[0-9]+)$`)
	// nextPair is a comma with a key and its colon behind it; nextHeader the same with a header name.
	NextPair   = pattern.New(`,\s*([^\s,:"'{}\[\]]+)\s*:`)
	nextHeader = pattern.New(`,\s*([!#$%&'*+\-.^_` + "`" + `|~0-9A-Za-z]+)\s*:`)
)

// Coerce turns the value of a key:value item into the JSON type it is written as.
func Coerce(text string) any {
	switch strings.ToLower(text) {
	case "true":
		return true
	case "false":
		return false
	case "none", "null":
		return nil
	}
	switch {
	case decimalInt.MatchString(text):
		if v, err := strconv.ParseInt(text, 10, 64); err == nil {
			return v
		}
		return json.Number(text)
	case decimalFloat.MatchString(text):
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			return v
		}
	}
	return text
}

// SplitItems cuts a token at the commas that begin another item.
func SplitItems(token string, next *pattern.Pattern) []string {
	var items []string
	for {
		at := next.FindStringIndex(token)
		if at == nil {
			return append(items, token)
		}
		items = append(items, token[:at[0]])
		token = token[at[0]+1:]
	}
}

// parsePairs reads key:value tokens and JSON objects; a later key replaces an earlier one in its place.
func parsePairs(tokens []string) (artifact.Object, error) {
	pairs := artifact.Object{}
	for _, token := range tokens {
		token = strings.TrimSpace(token)
		switch {
		case token == "":
		case strings.HasPrefix(token, "{"):
			object, err := ParseJSONObject(token)
			if err != nil {
				return nil, fmt.Errorf("%s is not a JSON object: %w", fault.Shorten(token), err)
			}
			for _, m := range object {
				pairs = pairs.Set(m.Key, m.Value)
			}
		default:
			for _, item := range SplitItems(token, NextPair) {
				key, value, ok := strings.Cut(item, ":")
				if key = strings.TrimSpace(key); !ok || key == "" {
					return nil, fmt.Errorf("%s: each item must be in 'key:value' format, as temperature:0", fault.Shorten(item))
				}
				pairs = pairs.Set(key, Coerce(strings.TrimSpace(value)))
			}
		}
	}
	return pairs, nil
}

// ParseHeaders reads name:value tokens. Its errors do not repeat values, which may be secrets.
func ParseHeaders(tokens []string) (artifact.Object, error) {
	headers := artifact.Object{}
	for i, token := range tokens {
		token = strings.TrimSpace(token)
		var items artifact.Object
		switch {
		case token == "":
			continue
		case strings.HasPrefix(token, "{"):
			object, err := ParseJSONObject(token)
			if err != nil {
				return nil, fmt.Errorf("item %d is not a JSON object: %w", i+1, err)
			}
			items = object
		default:
			for _, item := range SplitItems(token, nextHeader) {
				name, value, ok := strings.Cut(item, ":")
				if !ok {
					return nil, fmt.Errorf("item %d: each item must be in 'key:value' format, as 'X-Team: search'", i+1)
				}
				items = append(items, artifact.Member{Key: strings.TrimSpace(name), Value: strings.TrimSpace(value)})
			}
		}
		for _, m := range items {
			value := headerText(m.Value)
			if !header.IsToken(m.Key) {
				return nil, fmt.Errorf("item %d: the name of a header is letters, digits and dashes", i+1)
			}
			if strings.ContainsAny(value, "\r\n\x00") {
				return nil, fmt.Errorf("item %d: the value of header %s contains a line break", i+1, m.Key)
			}
			headers = SetHeader(headers, m.Key, value)
		}
	}
	return headers, nil
}

// SetHeader replaces a header, whatever the case of its name.
func SetHeader(headers artifact.Object, name, value string) artifact.Object {
	for i := range headers {
		if strings.EqualFold(headers[i].Key, name) {
			headers[i] = artifact.Member{Key: name, Value: value}
			return headers
		}
	}
	return append(headers, artifact.Member{Key: name, Value: value})
}

func headerText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case float64:
		return FormatFloat(v)
	case nil:
		return "null"
	default:
		return fmt.Sprint(v)
	}
}

// ParseJSONObject reads one JSON object, keeping the order of keys.
func ParseJSONObject(text string) (artifact.Object, error) {
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.UseNumber()
	value, err := readJSON(dec, 0)
	if err != nil {
		return nil, jsonReason(err)
	}
	object, ok := value.(artifact.Object)
	if !ok {
		return nil, errors.New("it must start with {")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is text after the closing brace")
	}
	return object, nil
}

func jsonReason(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it ends too early")
	}
	return err
}

func readJSON(dec *json.Decoder, depth int) (any, error) {
	const deepest = 1000
	if depth > deepest {
		return nil, errors.New("it is nested too deeply")
	}
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Number:
		return jsonNumber(t)
	case json.Delim:
		if t == '[' {
			list := []any{}
			for dec.More() {
				item, err := readJSON(dec, depth+1)
				if err != nil {
					return nil, err
				}
				list = append(list, item)
			}
			_, err := dec.Token()
			return list, err
		}
		object := artifact.Object{}
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				return nil, err
			}
			value, err := readJSON(dec, depth+1)
			if err != nil {
				return nil, err
			}
			object = object.Set(key.(string), value)
		}
		_, err := dec.Token()
		return object, err
	default:
		return token, nil
	}
}

// jsonNumber keeps integers exact and makes everything else a float.
func jsonNumber(n json.Number) (any, error) {
	if decimalInt.MatchString(n.String()) {
		if v, err := strconv.ParseInt(n.String(), 10, 64); err == nil {
			return v, nil
		}
		return n, nil
	}
	v, err := n.Float64()
	if err != nil {
		return nil, fmt.Errorf("number %s is too large", n)
	}
	return v, nil
}

// FormatFloat writes a float so that it can be distinguished from an integer: 5.0, 0.25, 1e+16.
func FormatFloat(v float64) string {
	if math.IsInf(v, 1) {
		return "inf"
	}
	if a := math.Abs(v); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	text := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// Seconds converts seconds; what does not fit is [load.Infinite].
func Seconds(s float64) time.Duration { return Duration(s, time.Second) }

// Duration is a number of units of time; what does not fit is [load.Infinite].
func Duration(n float64, unit time.Duration) time.Duration {
	if ns := n * float64(unit); ns < math.MaxInt64 {
		return time.Duration(math.Round(ns))
	}
	return load.Infinite
}

// MatchEnum finds the canonical spelling of an enum value: case does not matter, "-" equals "_".
func MatchEnum(text string, values []string) (string, bool) {
	fold := func(s string) string { return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(s)), "-", "_") }
	for _, v := range values {
		if fold(v) == fold(text) {
			return v, true
		}
	}
	return "", false
}

var ErrNotBool = errors.New("is not a boolean; use true/false, t/f, yes/no, y/n, on/off or 1/0")
