package intake

import (
	"unicode/utf8"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/client"
	"aiperf/internal/wire/endpoint"
)

// Failure says why an exchange is no valid response; nil if it is one. What happened on the wire
// comes first, then an error that the server reported inside a 200, then the lack of content.
func Failure(ex *client.Exchange, reply *endpoint.Reply) *record.Error {
	switch {
	case ex.Err != nil:
		return ex.Err
	case reply.Err != nil:
		e := reply.Err
		return &record.Error{Code: e.Code, HasCode: e.HasCode, Type: e.Type, Message: e.Message}
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
		return invalid("The end of the request does not lie after its start")
	}
	for _, at := range reply.ContentNS {
		if at <= 0 {
			return invalid("A response has no time stamp")
		}
	}
	return nil
}

func invalid(reason string) *record.Error {
	const name = "InvalidInferenceResultError"
	return &record.Error{Type: name, Message: name + "('Invalid inference result: " + reason + "')"}
}

// maxMessage is the length in characters at which error messages are cut.
const maxMessage = 4096

// published returns the error with its message fit for files and screens. The body of a response
// that is not 2xx is kept in full.
func (in *Intake) published(e *record.Error, ex *client.Exchange) *record.Error {
	if e == nil {
		return nil
	}
	p := *e
	p.Message = in.options.Redact(p.Message)
	p.Cause = in.options.Redact(p.Cause)
	p.Details = in.options.Redact(p.Details)
	isBody := p.HasCode && p.Code == ex.Status && (ex.Status < 200 || ex.Status > 299)
	if !isBody {
		p.Message = cut(p.Message, maxMessage)
	}
	return &p
}

// cut keeps the first n characters of s.
func cut(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
