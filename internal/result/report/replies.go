package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"aiperf/internal/base/bounded"
)

// ReadReplies returns the texts of outputs.json of the requests that are wanted, by their ids.
func ReadReplies(path string, wanted map[string]bool) (map[string]string, error) {
	file, err := bounded.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	out := map[string]string{}
	d := json.NewDecoder(bufio.NewReaderSize(file, 1<<20))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if token != json.Delim('[') {
			continue
		}
		for d.More() {
			var entry struct {
				ID   string  `json:"x_request_id"`
				Text *string `json:"response_text"`
			}
			if err := d.Decode(&entry); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			if entry.Text != nil && wanted[entry.ID] {
				out[entry.ID] = *entry.Text
			}
		}
	}
}
