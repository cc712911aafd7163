package run

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/dataset"
)

const inlineLimit = 256 << 20 // bytes of one image

// inlineImages replaces the web addresses of images by their content, each address once and some of them at a time.
func inlineImages(ctx context.Context, data *dataset.Dataset, timeout time.Duration, atATime int) error {
	places := map[string][]*string{}
	for _, c := range data.InMemory() {
		for j := range c.Turns {
			for _, m := range c.Turns[j].Images {
				for k := range m.Contents {
					if s := &m.Contents[k]; strings.HasPrefix(*s, "http://") || strings.HasPrefix(*s, "https://") {
						places[*s] = append(places[*s], s)
					}
				}
			}
		}
	}
	if len(places) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	transport := &http.Transport{MaxIdleConnsPerHost: atATime}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: timeout}
	var all sync.WaitGroup
	free := make(chan struct{}, atATime)
	for address, list := range places {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			if ctx.Err() != nil {
				return
			}
			image, err := fetchImage(ctx, client, address)
			if err != nil {
				cancel(fmt.Errorf("the image %s cannot be fetched: %w; the endpoint takes images only as part of the "+
					"request", redactURL(address), err))
				return
			}
			for _, place := range list {
				*place = image
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// fetchImage is the data URI of what stands at an address.
func fetchImage(ctx context.Context, client *http.Client, address string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", errors.New("this is not a web address")
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the server answers %s", resp.Status)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, inlineLimit+1))
	switch {
	case err != nil:
		return "", err
	case len(body) > inlineLimit:
		return "", fmt.Errorf("it is larger than %d MB", inlineLimit>>20)
	}
	media, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil || !strings.HasPrefix(media, "image/") {
		media = http.DetectContentType(body)
	}
	if !strings.HasPrefix(media, "image/") {
		return "", fmt.Errorf("it is %s and no image", media)
	}
	return "data:" + media + ";base64," + base64.StdEncoding.EncodeToString(body), nil
}

// redactURL is an address without its user information and query.
func redactURL(address string) string {
	address, _, _ = strings.Cut(address, "?")
	if scheme, rest, ok := strings.Cut(address, "://"); ok {
		host, path, _ := strings.Cut(rest, "/")
		if i := strings.LastIndexByte(host, '@'); i >= 0 {
			host = host[i+1:]
		}
		return scheme + "://" + host + "/" + path
	}
	return address
}

// sendAlone has the turns of conversations sent without their history where requests have no place for one, and returns
// what the user should know; "" where there is no such conversation. Those of a file that is larger than memory are
// looked at up to a number.
func sendAlone(data *dataset.Dataset, d endpoint.Descriptor) string {
	const enough = 10_000
	memory := data.InMemory()
	if !d.SingleTurn || memory == nil && data.DefaultContextMode == dataset.MessageArrayWithResponses {
		return ""
	}
	first := ""
	for i, looked := 0, 0; i < data.Len() && (memory != nil || looked < enough && first == ""); i++ {
		if data.TurnsOf(i) < 2 {
			continue
		}
		looked++
		c := data.At(i)
		if data.Mode(c) == dataset.MessageArrayWithResponses {
			continue
		}
		if first == "" {
			first = fmt.Sprintf("conversation %s has %d turns", c.SessionID, len(c.Turns))
		}
		if memory != nil {
			memory[i].ContextMode = dataset.MessageArrayWithResponses
		}
	}
	if first == "" {
		return ""
	}
	if memory == nil {
		data.DefaultContextMode = dataset.MessageArrayWithResponses
	}
	return fmt.Sprintf("Each turn is sent alone: the requests of --endpoint-type %s cannot carry a history, and %s",
		d.Name, first)
}

// unsentMedia warns of media of a dataset that the endpoint's requests cannot hold.
func unsentMedia(data *dataset.Dataset, d endpoint.Descriptor) []string {
	var warnings []string
	h := data.Contents()
	for _, m := range []struct {
		what  string
		taken bool
		turns int
	}{
		{"images", d.SupportsImage, h.Images},
		{"audio", d.SupportsAudio, h.Audios},
		{"video", d.SupportsVideo, h.Videos},
	} {
		if m.turns > 0 && !m.taken {
			warnings = append(warnings, fmt.Sprintf("%d turns have %s, which --endpoint-type %s does not send", m.turns,
				m.what, d.Name))
		}
	}
	return warnings
}

// verbatimWarnings tell what does not reach turns that are whole request bodies.
func verbatimWarnings(data *dataset.Dataset, cfg *config.Run) []string {
	h := data.Contents()
	turns, otherwise := h.Payloads, h.Streams
	switch {
	case cfg.Endpoint.GRPC:
		otherwise = 0 // the kind of call says it
	case cfg.Endpoint.Streaming:
		otherwise = h.Payloads - h.Streams
	}
	if turns == 0 {
		return nil
	}
	d := &cfg.Dataset
	var idle, warnings []string
	for _, x := range []struct {
		given bool
		flag  string
	}{
		{d.OSL != nil, "--osl"}, {len(d.SequenceDistribution) > 0, "--seq-dist"},
		{len(cfg.Endpoint.Extra) > 0, "--extra-inputs"}, {len(cfg.Models) > 1, "--model"},
		{d.SystemPrompt != nil, "--system-prompt"}, {d.SharedSystemPromptLength > 0, "--shared-system-prompt-length"},
		{d.UserContextPromptLength > 0, "--user-context-prompt-length"},
	} {
		if x.given {
			idle = append(idle, x.flag)
		}
	}
	if len(idle) > 0 {
		warnings = append(warnings, fmt.Sprintf("%d turns are whole request bodies and sent as they are: %s has no "+
			"effect on them", turns, strings.Join(idle, ", ")))
	}
	if otherwise > 0 {
		says := map[bool]string{true: `do not say "stream":true although --streaming is given`,
			false: `say "stream":true although --streaming is not given`}
		warnings = append(warnings, fmt.Sprintf("%d of %d request bodies %s: they are sent as they are", otherwise,
			turns, says[cfg.Endpoint.Streaming]))
	}
	return warnings
}

// checkCacheBust refuses to mark what is sent as it was recorded.
func checkCacheBust(data *dataset.Dataset, target string) error {
	if target == "" {
		return nil
	}
	if n := data.Contents().Payloads; n > 0 {
		return fmt.Errorf("--cache-bust %s cannot mark whole request bodies: %d turns are sent as they are", target, n)
	}
	return nil
}
