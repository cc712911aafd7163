package wandb

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/publish/upload"
)

// requestTimeout bounds a request that is not a file.
const requestTimeout = 30 * time.Second

// service makes requests of the API.
type service struct {
	upload.Client
	base string
}

func newService(e *Environment, version string, redact func(string) string) *service {
	own := artifact.NewRedactor(e.key, e.authorization()).Text
	return &service{base: e.address(), Client: upload.Client{
		HTTP: &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone(), CheckRedirect: upload.NoRedirects},
		Header: http.Header{"User-Agent": {"aiperf/" + version},
			"Authorization": {"Basic " + e.authorization()}},
		Timeout: requestTimeout, Explain: explain, Credentials: "check " + variableKey,
		Trust:  "set SSL_CERT_FILE to the file of its certificate authority",
		Redact: func(text string) string { return own(redact(text)) },
	}}
}

// explain returns the message in the body of an error.
func explain(body []byte) (code, message string) {
	var e struct {
		Error  any `json:"error"`
		Errors []struct {
			Message string `json:"message"`
		} `json:"errors"`
	}
	if json.Unmarshal(body, &e) != nil {
		return "", ""
	}
	if len(e.Errors) > 0 {
		return "", e.Errors[0].Message
	}
	message, _ = e.Error.(string)
	return "", message
}

// query makes a request of the GraphQL interface and reads its data into out.
func (s *service) query(ctx context.Context, name, text string, variables map[string]any, out any) *upload.Problem {
	var answer json.RawMessage
	p := s.Do(ctx, upload.Request{Method: http.MethodPost, URL: s.base + "/graphql",
		JSON: map[string]any{"operationName": name, "query": text, "variables": variables}}, &answer)
	if p != nil {
		return p
	}
	if _, message := explain(answer); message != "" {
		return &upload.Problem{Kind: upload.Rejected,
			Text: "refused " + name + ": " + upload.OneLine(s.Redact(strings.ToValidUTF8(message, " ")))}
	}
	if err := json.Unmarshal(answer, &struct{ Data any }{out}); err != nil {
		return unexpected()
	}
	return nil
}

// unexpected returns the problem of an answer that lacks what it must hold.
func unexpected() *upload.Problem {
	return &upload.Problem{Kind: upload.Refused,
		Text: "answered without what was asked for; is this Weights & Biases? (" + variableURL + ")"}
}

// bucket is a run on the service.
type bucket struct {
	ID      string
	Name    string
	Project struct {
		Name   string
		Entity struct{ Name string }
	}
}

const upsertBucket = `mutation UpsertBucket($name: String, $project: String, $entity: String, $displayName: String,
	$config: JSONString, $program: String, $tags: [String!]) {
	upsertBucket(input: {name: $name, modelName: $project, entityName: $entity, displayName: $displayName,
		config: $config, jobProgram: $program, tags: $tags}) {
		bucket { id name project { name entity { name } } }
	}
}`

// createRun creates a run, or changes it where it exists.
func (s *service) createRun(ctx context.Context, variables map[string]any) (b bucket, p *upload.Problem) {
	var out struct{ UpsertBucket struct{ Bucket bucket } }
	if p = s.query(ctx, "UpsertBucket", upsertBucket, variables, &out); p != nil {
		return b, p
	}
	b = out.UpsertBucket.Bucket
	if b.Name == "" || b.Project.Name == "" || b.Project.Entity.Name == "" {
		return b, unexpected()
	}
	return b, nil
}

// uploadTarget is where a file is uploaded to.
type uploadTarget struct {
	Name          string
	UploadURL     string
	UploadHeaders []string
	// StoragePath and UploadMultipartURLs are those of a file that is uploaded in parts.
	StoragePath         string
	UploadMultipartURLs *struct {
		UploadID       string
		UploadURLParts []struct {
			PartNumber int
			UploadURL  string
		}
	}
}

const createRunFiles = `mutation CreateRunFiles($entity: String!, $project: String!, $run: String!,
	$files: [String!]!) {
	createRunFiles(input: {entityName: $entity, projectName: $project, runName: $run, files: $files}) {
		runID uploadHeaders files { name uploadUrl }
	}
}`

// putRunFiles uploads files of the run itself.
func (s *service) putRunFiles(ctx context.Context, b *bucket, files []content) *upload.Problem {
	var out struct {
		CreateRunFiles struct {
			UploadHeaders []string
			Files         []uploadTarget
		}
	}
	names := make([]string, len(files))
	for i := range files {
		names[i] = files[i].name
	}
	p := s.query(ctx, "CreateRunFiles", createRunFiles, map[string]any{"entity": b.Project.Entity.Name,
		"project": b.Project.Name, "run": b.Name, "files": names}, &out)
	if p != nil {
		return p
	}
	targets := map[string]uploadTarget{}
	for _, t := range out.CreateRunFiles.Files {
		t.UploadHeaders = out.CreateRunFiles.UploadHeaders
		targets[t.Name] = t
	}
	for i := range files {
		t, ok := targets[files[i].name]
		if !ok {
			return unexpected()
		}
		if p := s.put(ctx, t, &files[i], nil); p != nil {
			return p
		}
	}
	return nil
}

// content is a file that is uploaded: bytes, or what open opens.
type content struct {
	name string
	data []byte
	open func() (io.ReadCloser, error)
	// size is that of a file, md5 its sum in base64.
	size int64
	md5  string
	// parts are the sums of the parts of a large file in hexadecimal, partSize is the size of each but the last.
	parts    []string
	partSize int64
	// part opens a part of a file.
	part func(offset, size int64) (io.ReadCloser, error)
}

// put uploads a file to an address of the service, which may be that of another host: it gets no credentials.
// Answer receives the headers of the reply, unless it is nil.
func (s *service) put(ctx context.Context, t uploadTarget, c *content, answer func(http.Header)) *upload.Problem {
	u, err := url.Parse(t.UploadURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return unexpected()
	}
	client := s.Client
	client.Timeout = 0 // only the upload as a whole is bounded
	client.Header = http.Header{"User-Agent": client.Header["User-Agent"]}
	client.Credentials = "the service gave an address that does not accept the file"
	client.Explain = nil
	header := http.Header{}
	for _, line := range t.UploadHeaders {
		if name, value, ok := strings.Cut(line, ":"); ok {
			header.Set(strings.TrimSpace(name), strings.TrimSpace(value))
		}
	}
	open, size := c.open, c.size
	if open == nil {
		open = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(c.data)), nil }
		size = int64(len(c.data))
	}
	p := client.Do(ctx, upload.Request{Method: http.MethodPut, URL: t.UploadURL, Header: header, Open: open, Size: size,
		Answer: answer}, nil)
	if p != nil && u.Scheme+"://"+u.Host != s.base {
		p.Text = "stores files at " + u.Scheme + "://" + u.Host + ", which " + p.Text
	}
	return p
}

// stream sends the lines of the run, names the files that were uploaded, and ends the run.
func (s *service) stream(ctx context.Context, b *bucket, history, summary string, uploaded []string,
	exit int) *upload.Problem {
	lines := func(line string) map[string]any { return map[string]any{"offset": 0, "content": []string{line}} }
	path := "/files/" + url.PathEscape(b.Project.Entity.Name) + "/" + url.PathEscape(b.Project.Name) + "/" +
		url.PathEscape(b.Name) + "/file_stream"
	return s.Do(ctx, upload.Request{Method: http.MethodPost, URL: s.base + path, JSON: map[string]any{
		"files":    map[string]any{"wandb-history.jsonl": lines(history), "wandb-summary.json": lines(summary)},
		"uploaded": uploaded, "complete": true, "exitcode": exit}}, nil)
}
