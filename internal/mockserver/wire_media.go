package mockserver

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// This file writes images and follows the jobs that make videos.

// tinyJPEG is a picture of one grey pixel.
const tinyJPEG = "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAAMCAgICAgMCAgIDAwMDBAYEBAQEBAgGBgUGCQgKCgkICQkKDA8MCgsOCwkJDRENDg8QEBEQCgwSExIQEw8QEBD/wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAACf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AVN//2Q=="

const maxImages = 16

func wholeImages(c *conn, b []byte) []byte {
	b = append(b, `{"created":`...)
	b = strconv.AppendInt(b, c.srv.clock.WallNS(c.x.arrival)/int64(time.Second), 10)
	b = append(b, `,"data":[`...)
	for i := range min(max(c.req.n, 1), maxImages) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"b64_json":"`+tinyJPEG+`"}`...)
	}
	return appendImageUsage(append(b, ']'), c)
}

// imageTokens is what an image costs.
const imageTokens = 256

func appendImageUsage(b []byte, c *conn) []byte {
	p, n := c.x.plan.promptTokens, imageTokens*min(max(c.req.n, 1), maxImages)
	b = append(b, `,"size":"1x1","quality":"low","output_format":"jpeg","background":"opaque","usage":{"input_tokens":`...)
	b = strconv.AppendInt(b, int64(p), 10)
	b = append(b, `,"input_tokens_details":{"text_tokens":`...)
	b = strconv.AppendInt(b, int64(p), 10)
	b = append(b, `,"image_tokens":0},"output_tokens":`...)
	b = strconv.AppendInt(b, int64(n), 10)
	b = append(b, `,"total_tokens":`...)
	b = strconv.AppendInt(b, int64(p+n), 10)
	return append(b, "}}"...)
}

// imageEvent builds the events of a streamed image: a preview and the image.
func imageEvent(s *stream, kind int) {
	c := s.c
	at := strconv.FormatInt(c.srv.clock.WallNS(c.x.arrival)/int64(time.Second), 10)
	switch kind {
	case kindPartial:
		c.out = append(c.out, `event: image_generation.partial_image`+"\n"+
			`data: {"type":"image_generation.partial_image","partial_image_index":0,"created_at":`+at+
			`,"size":"1x1","quality":"low","output_format":"jpeg","background":"opaque","b64_json":"`+tinyJPEG+`"}`...)
	case kindImage:
		c.out = append(c.out, `event: image_generation.completed`+"\n"+
			`data: {"type":"image_generation.completed","created_at":`+at+`,"b64_json":"`+tinyJPEG+`"`...)
		c.out = appendImageUsage(c.out, c)
	default:
		c.out = append(append(c.out, "data: "...), errorInside...)
	}
	c.out = append(c.out, "\n\n"...)
}

// videoJobs is where the jobs are asked for. A job's id reports when it is ready, in nanoseconds since the
// server's start, so that nothing needs to be kept.
const videoJobs = "/v1/videos/"

func wholeVideo(c *conn, b []byte) []byte {
	latency := c.srv.opts.VideoLatency
	if c.srv.opts.Fast {
		latency = 0
	}
	id := "video_" + strconv.FormatInt(c.x.arrival, 16) + "_" + strconv.FormatInt(c.x.arrival+int64(latency), 16) +
		"_" + strconv.FormatUint(c.x.sequence, 16)
	return appendVideo(c, b, id, c.x.arrival, c.x.arrival+int64(latency))
}

// appendVideo builds the state of a job.
func appendVideo(c *conn, b []byte, id string, submitted, ready int64) []byte {
	now := c.srv.clock.NowNS()
	status, progress := "queued", int64(0)
	switch {
	case now >= ready:
		status, progress = "completed", 100
	case now-submitted > (ready-submitted)/4:
		status, progress = "in_progress", (now-submitted)*100/(ready-submitted)
	}
	wall := func(ns int64) string { return strconv.FormatInt(c.srv.clock.WallNS(ns)/int64(time.Second), 10) }
	b = append(b, `{"id":"`+id+`","object":"video","status":"`+status+`","progress":`...)
	b = strconv.AppendInt(b, progress, 10)
	b = append(b, `,"created_at":`+wall(submitted)+`,"size":"64x64","seconds":"4","model":`...)
	if c.x.inference {
		b = append(b, c.req.model...)
	} else {
		b = append(b, defaultModel...)
	}
	if status == "completed" {
		b = append(b, `,"completed_at":`+wall(ready)+`,"inference_time_s":`...)
		b = strconv.AppendFloat(b, float64(ready-submitted)/1e9, 'f', -1, 64)
		b = append(b, `,"peak_memory_mb":1024.5`...)
	}
	return append(b, `,"error":null}`...)
}

// videoJob answers a question for a job, or for its video.
func (c *conn) videoJob(id string) error {
	if err := c.srv.authorize(c); err != nil {
		return c.refuse(err)
	}
	id, content := strings.CutSuffix(id, "/content")
	parts := strings.Split(id, "_")
	var submitted, ready int64
	err := strconv.ErrSyntax
	if len(parts) == 4 && parts[0] == "video" {
		var readyErr error
		submitted, err = strconv.ParseInt(parts[1], 16, 64)
		if ready, readyErr = strconv.ParseInt(parts[2], 16, 64); readyErr != nil {
			err = readyErr
		}
		if _, numberErr := strconv.ParseUint(parts[3], 16, 64); numberErr != nil {
			err = numberErr
		}
	}
	switch {
	case err != nil || ready < submitted:
		return c.refuse(&httpError{http.StatusNotFound, "no such video: " + id})
	case content && c.srv.clock.NowNS() < ready:
		return c.refuse(&httpError{http.StatusNotFound, "the video is not ready"})
	case content:
		return c.send(http.StatusOK, "video/mp4", []byte("\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"))
	}
	c.text = appendVideo(c, c.text[:0], id, submitted, ready)
	return c.send(http.StatusOK, jsonType, c.text)
}
