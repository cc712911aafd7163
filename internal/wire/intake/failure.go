package intake

import (
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/client"
	"aiperf/internal/wire/endpoint"
)

// Failure returns why the exchange of a job is not a valid response, nil if it is one. What happened on the wire comes
// first, then an error that the server reported inside a 200, then the lack of content. The first call judges, before
// the job is submitted or by its record; all others return the same.
func (j *Job) Failure() *record.Error {
	if !j.judged {
		j.judged, j.failure = true, judge(&j.Exchange, j.reply())
	}
	return j.failure
}

// reply is what the decoder of the exchange read.
func (j *Job) reply() *endpoint.Reply {
	if j.Decoder == nil {
		return &endpoint.Reply{}
	}
	return j.Decoder.Reply()
}

// judge returns why an exchange failed, nil if it did not: an error of the transport before one that the server
// reports, and both before a reply without content. A reply without content is a failure, though its status was 200: it
// has no time to first token, and would make the server look faster.
func judge(ex *client.Exchange, reply *endpoint.Reply) *record.Error {
	switch {
	case ex.Err != nil:
		return ex.Err
	case reply.Err != nil:
		return reply.Err
	case ex.Responses == 0:
		return invalid("No responses were received")
	case len(reply.ContentNS) == 0:
		if reply.Malformed > 0 {
			e := invalid("The response could not be parsed as JSON")
			e.Details = "the server sent: " + reply.Sample()
			return e
		}
		e := invalid("No responses with actual content were received from the server (only usage/metadata, " +
			"null/empty data, or [DONE] markers)")
		if sample := reply.Sample(); sample != "" {
			e.Details = "the server sent: " + sample
		} else {
			e.Details = "the server sent nothing"
		}
		return e
	case ex.StartNS < 0 || ex.EndNS <= ex.StartNS:
		return invalid("The request does not end after its start")
	}
	for _, at := range reply.ContentNS {
		if at <= 0 {
			return invalid("A response has no time stamp")
		}
	}
	return nil
}

// empty reports whether the server replied as it should, but without any text.
func (j *Job) empty() bool {
	reply := j.reply()
	return j.Decoder != nil && j.Exchange.Err == nil && reply.Err == nil && reply.Malformed == 0 && len(reply.ContentNS) == 0
}

func invalid(reason string) *record.Error {
	const name = "InvalidInferenceResultError"
	return &record.Error{Type: name, Message: record.Exception(name, "Invalid inference result: "+reason)}
}
