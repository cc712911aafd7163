package endpoint

// rawAPI sends whole bodies of the data set.
type rawAPI struct {
	documents
}

func newRaw(d Descriptor, o Options) Endpoint {
	return &rawAPI{newDocuments(d, o, func() documentReader { return autoReader{} })}
}

// Encode takes the bytes as they are; nothing is merged.
func (e *rawAPI) Encode(c *Context) (*Body, error) {
	turn := c.current()
	if turn == nil || len(turn.RawPayload) == 0 {
		return nil, valueError("The raw endpoint sends whole request bodies, but this turn has none: use a data set " +
			"of the type raw_payload or inputs_json.")
	}
	return verbatim(turn.RawPayload), nil
}
