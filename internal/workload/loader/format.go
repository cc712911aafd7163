package loader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"aiperf/internal/base/bounded"
	"aiperf/internal/base/jsonscan"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/rows"
)

const (
	singleTurn = "single_turn"
	multiTurn  = "multi_turn"

	mooncakeTrace = "mooncake_trace"
	bailianTrace  = "bailian_trace"
	burstGPTTrace = "burst_gpt_trace"

	randomPool   = "random_pool"
	rawPayload   = "raw_payload"
	inputsJSON   = "inputs_json"
	sageMaker    = "sagemaker_data_capture"
	basetenTrace = "baseten_trace"

	shareGPT  = "sharegpt"
	textLines = "text_lines"
	textCSV   = "text_csv"
)

// format is one kind of dataset file.
type format struct {
	name string
	// about is a sentence for lists.
	about string
	// read makes the conversations of a path.
	read func(*load) error
	// folders reports that the path may also be a folder.
	folders bool
	// mode is how much history requests carry; empty: deltas without responses.
	mode dataset.ContextMode
	// sampling is the preferred order; empty: sequential.
	sampling dataset.Sampling
	// blockSize is the number of tokens of a hash id; 0: no trace.
	blockSize int
	// row reads one line of a file whose lines are rows, in any order; nil: they are not. What is wrong is noted. order
	// says when the place of a row is known; header reads what stands before the rows.
	row    func(*lineReader, []byte) row
	order  rowOrder
	header func(*lineReader, *Source) error
}

// unit returns what filters leave out, in the words of messages.
func (f format) unit() string {
	if f.blockSize > 0 {
		return "rows"
	}
	return "conversations"
}

// formats returns the table of the formats. It is a function because the readers refer to the table.
func formats() []format {
	return []format{
		{name: singleTurn, about: "A request on each line.",
			read: (*load).lines, row: (*lineReader).singleTurn, mode: dataset.MessageArrayWithResponses},
		{name: multiTurn, about: "A conversation on each line: its turns in order.",
			read: (*load).lines, row: (*lineReader).multiTurn},
		{name: randomPool, about: "A pool of entries that requests draw from; in a folder, a pool for each file.",
			read: readPools, folders: true, sampling: dataset.Shuffle},
		{name: mooncakeTrace, about: "Recorded requests with times, lengths or texts, and ids of shared blocks.",
			read: (*load).lines, row: (*lineReader).mooncake, blockSize: 512},
		{name: bailianTrace, about: "Recorded chats with their parents, times and ids of shared blocks of 16 tokens.",
			read: (*load).lines, row: (*lineReader).bailian, order: chatOrder, blockSize: 16},
		{name: burstGPTTrace, about: "Recorded times and lengths of requests as CSV.",
			read: (*load).burstGPT, row: (*lineReader).burstLine, header: burstHeader,
			blockSize: 512},
		{name: rawPayload, about: "Whole request bodies, sent as they are; in a folder, a conversation for each file.",
			read: (*load).rawPayloads, row: (*lineReader).payloadLine, folders: true,
			mode: dataset.MessageArrayWithResponses},
		{name: inputsJSON, about: "The document inputs.json of an earlier run.",
			read: readInputs, mode: dataset.MessageArrayWithResponses},
		{name: sageMaker, about: "Records of SageMaker's data capture.",
			read: (*load).sageMaker, row: (*lineReader).capture, order: timeOrder, folders: true,
			blockSize: 512},
		{name: dagJSONL, about: "Sessions that branch: turns that start other sessions and wait for them.",
			read: readDAG},
		{name: basetenTrace, about: "Recorded completions as Parquet, Arrow or JSON Lines.",
			read: readBaseten, mode: dataset.MessageArrayWithResponses, blockSize: 64},
		{name: wekaTrace, about: "Recorded sessions of coding agents with their sub-agents.",
			read: readWeka, folders: true, mode: dataset.MessageArrayWithResponses, blockSize: 64},
		{name: traceLab, about: "Rounds of coding agents without their texts, as TraceLab records them.",
			read: readTraceLab, mode: dataset.MessageArrayWithResponses, blockSize: 64},
		{name: dynamoTrace, about: "Dynamo's request trace: recorded requests of agents.",
			read: readDynamo, folders: true, mode: dataset.MessageArrayWithResponses, blockSize: 64},
		{name: recordingFormat, about: "What aiperf record wrote: a part, or the folder of all parts.",
			read: readRecording, folders: true, mode: dataset.MessageArrayWithResponses, blockSize: 16},
		{name: shareGPT, about: "Conversations of ShareGPT.",
			read: readShareGPT},
		{name: textLines, about: "A prompt on each line of a text file.",
			read: (*load).textLines},
		{name: tableFormat, about: "Rows of prompts, or a log of requests, whatever their columns are called.",
			read: readTable, mode: dataset.MessageArrayWithResponses, blockSize: 512},
		{name: openAIBatch, about: "Requests of OpenAI's batch API.",
			read: (*load).lines, row: (*lineReader).batchLine, mode: dataset.MessageArrayWithResponses},
		{name: otelSpans, about: "Spans of generative AI as OpenTelemetry's file exporter writes them.",
			read: readExport(otelCalls), mode: dataset.MessageArrayWithResponses, blockSize: 512},
		{name: langfuse, about: "Observations exported from Langfuse.",
			read: readExport(langfuseCalls), mode: dataset.MessageArrayWithResponses, blockSize: 512},
		{name: langSmith, about: "Runs exported from LangSmith.",
			read: readExport(langSmithCalls), mode: dataset.MessageArrayWithResponses, blockSize: 512},
		{name: harFile, about: "An archive of HTTP requests: their times.",
			read: readExport(harCalls), mode: dataset.MessageArrayWithResponses, blockSize: 512},
		{name: accessLog, about: "The log of a web server: the times of its lines.",
			read: readAccessLog, mode: dataset.MessageArrayWithResponses, blockSize: 512},
		{name: textCSV, about: "A prompt in a column of a CSV file.",
			read: (*load).textCSV},
	}
}

// Format describes a format for lists.
type Format struct {
	Name, About string
	// Folders reports that a folder of files may be given, Trace that rows are recorded requests.
	Folders, Trace bool
	// BlockSize is the number of tokens of an id of a shared block; traces only.
	BlockSize int
}

// Formats lists the formats.
func Formats() []Format {
	var list []Format
	for _, f := range formats() {
		list = append(list, Format{f.name, f.about, f.folders, f.blockSize > 0, f.blockSize})
	}
	return list
}

func lookupFormat(name string) (format, bool) {
	for _, f := range formats() {
		if f.name == name {
			return f, true
		}
	}
	return format{}, false
}

func isFormat(name string) bool {
	_, ok := lookupFormat(name)
	return ok
}

// formatNames lists the formats, those of folders or all.
func formatNames(folders bool) string {
	var names []string
	for _, f := range formats() {
		if f.folders || !folders {
			names = append(names, f.name)
		}
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// chooseFormat returns the format that the user named or the path shows.
func chooseFormat(path, name string, limit Limit) (format, error) {
	info, err := os.Stat(path)
	if err != nil {
		return format{}, fmt.Errorf("the input file cannot be read: %w", err)
	}
	if name == "" {
		if name, err = detectPath(path, limit); err != nil {
			return format{}, err
		}
	}
	f, known := lookupFormat(name)
	switch {
	case !known:
		return f, fmt.Errorf("unknown dataset format %q: want %s", shorten(name), formatNames(false))
	case info.IsDir() && !f.folders:
		return f, fmt.Errorf("%s is a directory: give --custom-dataset-type %s, or a single file", path,
			formatNames(true))
	}
	return f, nil
}

var errFound = errors.New("found")

// Detect returns the format of a file or folder by its first record.
func Detect(path string) (string, error) { return detectPath(path, 0) }

func detectPath(path string, limit Limit) (string, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return detectFolder(path, limit)
	}
	return detect(path, limit)
}

// detect returns the format by the first record.
func detect(path string, limit Limit) (string, error) {
	if kind := rows.Kind(path); kind == "parquet" || kind == "arrow" {
		return formatOfColumns(path), nil
	}
	number, first := 0, ""
	err := Each(context.Background(), path, limit, func(n int, line []byte) error {
		number, first = n, string(line)
		return errFound
	})
	switch {
	case err == nil:
		return "", fmt.Errorf("%s contains no records", path)
	case errors.As(err, new(*bounded.LineError)):
		// A document may be on one line, whatever its length.
		if format := formatOfWhole(path, ""); format != "" {
			return format, nil
		}
		return "", err
	case err != errFound:
		return "", err
	}
	record, err := parseObject([]byte(first))
	if err != nil {
		if format := formatOfWhole(path, first); format != "" {
			return format, nil
		}
		if !strings.HasPrefix(first, "{") && isTable(path) {
			return tableFormat, nil
		}
		if kind := rows.Kind(path); kind == "csv" {
			if columns, err := lookAtTable(context.Background(), path, nil); err == nil {
				return "", columns.check(path)
			}
		}
		if strings.HasPrefix(first, "[") {
			return "", fmt.Errorf("%s:%d: the file is a JSON array, and its items are neither texts nor rows with a column that "+
				"is known as a prompt: name it, as in --map text=COLUMN", path, number)
		}
		return "", fmt.Errorf("%s:%d: %w; a file of records has one JSON object a line", path, number, err)
	}
	formats := formatsOf(record)
	switch len(formats) {
	case 1:
		if betterAsTable(record, formats[0]) && isTable(path) {
			return tableFormat, nil
		}
		return formats[0], nil
	case 0:
		if isTable(path) {
			return tableFormat, nil
		}
		return "", fmt.Errorf("%s:%d: cannot tell the format from the first record%s, pass --custom-dataset-type", path,
			number, unknownKeys(record))
	}
	return "", fmt.Errorf("%s:%d: the first record could be %s, pass --custom-dataset-type", path, number,
		strings.Join(formats, " or "))
}

// formatOfColumns returns the format of a Parquet or Arrow file.
func formatOfColumns(path string) string {
	format := basetenTrace
	_ = rows.Each(context.Background(), path, func(_ int, row rows.Row) error { // the reader says what is wrong
		if _, recorded := row["timestamp_start_unix_ms"]; !recorded && isTable(path) {
			format = tableFormat
		}
		return rows.ErrEnough
	})
	return format
}

// detectLimit is how many bytes of a document are read to recognise it.
const detectLimit = 64 << 20

// formatOfWhole recognises files that are not JSON Lines.
func formatOfWhole(path, first string) string {
	if strings.Contains(first, "Timestamp") && strings.Contains(first, "Request tokens") &&
		strings.Contains(first, "Response tokens") {
		return burstGPTTrace
	}
	if accessLine.MatchString(first) {
		return accessLog
	}
	if startsInputsJSON(path) {
		return inputsJSON
	}
	if export := exportOfArray(path); export != "" {
		return export
	}
	if startsShareGPT(path) {
		return shareGPT
	}
	if format := formatOfText(path, first); format != "" {
		return format
	}
	file, err := bounded.OpenStream(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	var document map[string]json.RawMessage
	if json.NewDecoder(io.LimitReader(file, detectLimit)).Decode(&document) != nil {
		return ""
	}
	o := &object{members: document}
	if export := isExport(o); export != "" {
		return export
	}
	for _, f := range wholeFormats {
		if f.accepts(o) {
			return f.name
		}
	}
	return ""
}

type recognised struct {
	name    string
	accepts func(*object) bool
}

var wholeFormats = []recognised{
	{wekaTrace, isWeka},
}

// specific are the formats that also look like a more general one; the first that accepts wins.
var specific = []recognised{
	{recordingFormat, isRecording},
	{bailianTrace, func(o *object) bool { return o.hasAll("chat_id", "timestamp", "input_length", "output_length") }},
	{sageMaker, func(o *object) bool { return o.hasAll("captureData", "eventMetadata") }},
	{inputsJSON, isInputsJSON},
	{wekaTrace, isWeka},
	{traceLab, isTraceLab},
	{dynamoTrace, isDynamo},
	{dagJSONL, isDAG},
	{mooncakeTrace, func(o *object) bool {
		return o.isList("messages") && (o.has("output_length") || o.has("timestamp") || o.has("delay") ||
			o.has("session_id") || o.has("message_mode"))
	}},
	{rawPayload, func(o *object) bool {
		return o.isList("messages") && !o.has("conversation_id") &&
			!o.isList("data")
	}},
}

// general are the formats of which exactly one has to accept a record.
var general = []recognised{
	{singleTurn, func(o *object) bool {
		for _, m := range modalities {
			if o.has(m.singular) || o.has(m.plural) {
				return true
			}
		}
		return false
	}},
	{multiTurn, func(o *object) bool { return o.has("turns") }},
	{mooncakeTrace, func(o *object) bool { return o.has("input_length") || o.has("text_input") || o.has("payload") }},
}

// last are the formats of records that no other one accepts.
var last = []recognised{
	{shareGPT, isShareGPT},
	{singleTurn, func(o *object) bool {
		return jsonscan.IsText(o.members["prompt"]) && !o.has("timestamp_start_unix_ms")
	}},
}

// formatsOf returns every format that the first record may belong to. Whether it is right in all its
// fields shows when it is read, so that a mistake there is reported as such.
func formatsOf(o *object) []string {
	var named string
	if json.Unmarshal(o.members["type"], &named) == nil && isFormat(named) {
		return []string{named}
	}
	if export := isExport(o); export != "" {
		return []string{export}
	}
	for _, f := range specific {
		if f.accepts(o) {
			return []string{f.name}
		}
	}
	var formats []string
	for _, f := range general {
		if f.accepts(o) {
			formats = append(formats, f.name)
		}
	}
	if len(formats) > 0 {
		return formats
	}
	for _, f := range last {
		if f.accepts(o) {
			return []string{f.name}
		}
	}
	return nil
}

func isInputsJSON(o *object) bool {
	var items []map[string]json.RawMessage
	if json.Unmarshal(o.members["data"], &items) != nil || len(items) == 0 {
		return false
	}
	return items[0]["payloads"] != nil
}

func isWeka(o *object) bool { return o.hasAll("requests", "hash_id_scope") }

func isDAG(o *object) bool {
	var turns []map[string]json.RawMessage
	if o.has("orchestrator") || o.has("pre_session_spawns") {
		return true
	}
	if json.Unmarshal(o.members["turns"], &turns) != nil || len(turns) == 0 {
		return false
	}
	return turns[0]["messages"] != nil
}
