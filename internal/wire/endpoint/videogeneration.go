package endpoint

import (
	"strings"
	"time"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/measure/record"
)

// videoGeneration is the API that makes videos: a job is submitted, polled until it is done, and its
// result fetched if the run wants that.
type videoGeneration struct {
	documents
}

func newVideoGeneration(d Descriptor, o Options) Endpoint {
	return &videoGeneration{newDocuments(d, o, func() documentReader { return videoReader{} })}
}

// Encode sends the current turn alone.
func (e *videoGeneration) Encode(c *Context) (*Body, error) {
	turn := c.current()
	if turn == nil || len(turn.Texts) == 0 || len(turn.Texts[0].Contents) == 0 {
		return nil, valueError("Video generation requires a text prompt.")
	}
	over, prompt, model := e.over.with(turn.Extra), turn.Texts[0].Contents[0], modelOf(turn.Model, e.options.Model)
	if e.options.Form {
		f := newForm(over)
		f.text("prompt", prompt)
		f.text("model", model)
		return f.finish(), nil
	}
	w := objectWriter{buf: make([]byte, 0, sizeHint(c)), over: over}
	w.text("prompt", prompt)
	w.text("model", model)
	return w.end(false, false), nil
}

// videoReader takes the state of a job.
type videoReader struct{}

func (videoReader) reset() {}

func (videoReader) read(d *documentDecoder, r *root, _ []byte, atNS int64) {
	note := func(raw []byte, place **float64) {
		if _, f, ok := number(raw); ok && *place == nil {
			*place = &f
		}
	}
	note(r.inferenceTime, &d.reply.InferenceSeconds)
	note(r.peakMemory, &d.reply.PeakMemoryMB)
	if string(name(r.status)) == "completed" {
		d.content(atNS, true)
	}
}

// Step is what follows a reply of an exchange that takes several requests.
type Step struct {
	// URL is requested next, after Wait; empty: the exchange is over.
	URL  string
	Wait time.Duration
	// Keep passes this reply to the decoder; with Discard, only the end of the next one counts.
	Keep, Discard bool
	// Err ends the exchange.
	Err *record.Error
}

// Poller is implemented by endpoints whose result is polled.
type Poller interface{ NewJob() Job }

// Job follows one exchange.
type Job interface {
	// Step decides what follows the reply to the request at url.
	Step(url string, body []byte) Step
	// TimedOut is the error of a job that took longer than the request may.
	TimedOut(limit time.Duration) *record.Error
	// Failed is the error of a later request that failed, nil where its own says enough; status is 0 if
	// there was no reply.
	Failed(status int, err *record.Error) *record.Error
}

// NewJob implements Poller.
func (e *videoGeneration) NewJob() Job { return &videoJob{options: &e.options} }

type videoJob struct {
	options *Options
	poll    string // empty before the job was submitted
	fetched bool
}

func videoFailure(message string) Step {
	return Step{Err: &record.Error{Code: 500, HasCode: true, Type: "VideoGenerationError", Message: message}}
}

// Step implements Job.
func (j *videoJob) Step(url string, body []byte) Step {
	if j.fetched {
		return Step{}
	}
	var r root
	if !r.scan(body) || r.members == 0 {
		return videoFailure("Invalid JSON in the reply: " + clip(string(body), 200))
	}
	if j.poll == "" {
		id := jsonscan.Text(r.id)
		if id == "" {
			return videoFailure("No job ID returned: " + clip(string(body), 200))
		}
		base, query, hasQuery := strings.Cut(url, "?")
		j.poll = strings.TrimRight(base, "/") + "/" + pathEscape(id)
		if hasQuery {
			j.poll += "?" + query
		}
		return Step{URL: j.poll, Keep: true}
	}
	switch string(name(r.status)) {
	case "completed":
		if !j.options.DownloadVideo {
			return Step{Keep: true}
		}
		j.fetched = true
		from := jsonscan.Text(r.url)
		if from == "" {
			base, query, hasQuery := strings.Cut(j.poll, "?")
			if from = base + "/content"; hasQuery {
				from += "?" + query
			}
		}
		return Step{URL: from, Keep: true, Discard: true}
	case "failed":
		why := jsonscan.FindText(r.err, "message")
		if why == "" {
			if why = jsonscan.Text(r.err); why == "" {
				why = clip(string(body), 200)
			}
		}
		return videoFailure("Video generation failed: " + why)
	}
	return Step{URL: j.poll, Wait: j.options.PollInterval}
}

// pathEscape makes an id one segment of a path.
func pathEscape(id string) string {
	var b strings.Builder
	for i := range len(id) {
		c := id[i]
		if c > ' ' && c < 0x7f && strings.IndexByte("/?#%\\", c) < 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte("0123456789ABCDEF"[c>>4])
		b.WriteByte("0123456789ABCDEF"[c&15])
	}
	return b.String()
}

// TimedOut implements Job.
func (j *videoJob) TimedOut(limit time.Duration) *record.Error {
	return &record.Error{Code: 504, HasCode: true, Type: "TimeoutError",
		Message: "Video generation timed out after " + secondsOf(limit) + "s"}
}

// Failed implements Job.
func (j *videoJob) Failed(status int, err *record.Error) *record.Error {
	if !j.fetched {
		return nil
	}
	return &record.Error{Code: status, HasCode: status != 0, Type: "VideoDownloadError", Message: err.Message}
}
