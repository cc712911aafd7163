package api

import (
	"errors"
	"strconv"
	"strings"
)

// This file writes images and follows the jobs that make videos.

// tinyJPEG is a picture of one grey pixel.
const tinyJPEG = "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAAMCAgICAgMCAgIDAwMDBAYEBAQEBAgGBgUGCQgKCgkICQkKDA8MCgsOCwkJDRENDg8QEBEQCgwSExIQEw8QEBD/wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAACf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AVN//2Q=="

const maxImages = 16

func wholeImages(r *Reply, b []byte) []byte {
	b = append(b, `{"created":`...)
	b = strconv.AppendInt(b, r.gen.seconds(r.Arrival), 10)
	b = append(b, `,"data":[`...)
	for i := range min(max(r.Request.n, 1), maxImages) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"b64_json":"`+tinyJPEG+`"}`...)
	}
	return appendImageUsage(append(b, ']'), r)
}

// imageTokens is what an image costs.
const imageTokens = 256

func appendImageUsage(b []byte, r *Reply) []byte {
	p, n := r.Plan.PromptTokens, imageTokens*min(max(r.Request.n, 1), maxImages)
	b = append(b, `,"size":"1x1","quality":"low","output_format":"jpeg","background":"opaque",`+
		`"usage":{"input_tokens":`...)
	b = strconv.AppendInt(b, int64(p), 10)
	b = append(b, `,"input_tokens_details":{"text_tokens":`...)
	b = strconv.AppendInt(b, int64(p), 10)
	b = append(b, `,"image_tokens":0},"output_tokens":`...)
	b = strconv.AppendInt(b, int64(n), 10)
	b = append(b, `,"total_tokens":`...)
	b = strconv.AppendInt(b, int64(p+n), 10)
	return append(b, "}}"...)
}

// imageEvent appends the events of a streamed image: a preview and the image.
func imageEvent(e *Events, b []byte, kind int) []byte {
	r := e.reply
	at := strconv.FormatInt(r.gen.seconds(r.Arrival), 10)
	switch kind {
	case PartialEvent:
		b = append(b, `event: image_generation.partial_image`+"\n"+
			`data: {"type":"image_generation.partial_image","partial_image_index":0,"created_at":`+at+
			`,"size":"1x1","quality":"low","output_format":"jpeg","background":"opaque","b64_json":"`+tinyJPEG+`"}`...)
	case ImageEvent:
		b = append(b, `event: image_generation.completed`+"\n"+
			`data: {"type":"image_generation.completed","created_at":`+at+`,"b64_json":"`+tinyJPEG+`"`...)
		b = appendImageUsage(b, r)
	default:
		b = append(append(b, "data: "...), ErrorInside...)
	}
	return b
}

// VideoJobs is the path of the jobs that make videos.
const VideoJobs = "/v1/videos/"

// VideoJob is a job that makes a video. All of it is in its id, so that the server keeps nothing.
type VideoJob struct {
	ID               string
	Submitted, Ready int64 // instants
}

// ParseVideoJob returns the job with an id, or false if no job has it.
func ParseVideoJob(id string) (VideoJob, bool) {
	parts := strings.Split(id, "_")
	if len(parts) != 4 || parts[0] != "video" {
		return VideoJob{}, false
	}
	submitted, err := strconv.ParseInt(parts[1], 16, 64)
	ready, readyErr := strconv.ParseInt(parts[2], 16, 64)
	_, numberErr := strconv.ParseUint(parts[3], 16, 64)
	return VideoJob{id, submitted, ready}, errors.Join(err, readyErr, numberErr) == nil && ready >= submitted
}

func wholeVideo(r *Reply, b []byte) []byte {
	ready := r.Arrival + int64(r.gen.opts.VideoLatency)
	id := "video_" + strconv.FormatInt(r.Arrival, 16) + "_" + strconv.FormatInt(ready, 16) + "_" +
		strconv.FormatUint(r.Sequence, 16)
	return r.gen.appendVideoJob(b, VideoJob{id, r.Arrival, ready}, r.Request.Model)
}

// AppendVideoJob appends the state of a job.
func (g *Generator) AppendVideoJob(b []byte, job VideoJob) []byte {
	return g.appendVideoJob(b, job, []byte(defaultModel))
}

func (g *Generator) appendVideoJob(b []byte, job VideoJob, model []byte) []byte {
	now, took := g.clock.NowNS(), job.Ready-job.Submitted
	status, progress := "queued", int64(0)
	switch {
	case now >= job.Ready:
		status, progress = "completed", 100
	case now-job.Submitted > took/4:
		status, progress = "in_progress", (now-job.Submitted)*100/took
	}
	b = append(b, `{"id":"`+job.ID+`","object":"video","status":"`+status+`","progress":`...)
	b = strconv.AppendInt(b, progress, 10)
	b = strconv.AppendInt(append(b, `,"created_at":`...), g.seconds(job.Submitted), 10)
	b = append(append(b, `,"size":"64x64","seconds":"4","model":`...), model...)
	if status == "completed" {
		b = strconv.AppendInt(append(b, `,"completed_at":`...), g.seconds(job.Ready), 10)
		b = append(b, `,"inference_time_s":`...)
		b = strconv.AppendFloat(b, float64(took)/1e9, 'f', -1, 64)
		b = append(b, `,"peak_memory_mb":1024.5`...)
	}
	return append(b, `,"error":null}`...)
}
