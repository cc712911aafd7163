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

	"aiperf/internal/workload/dataset"
)

const inlineLimit = 256 << 20 // bytes of one image

// inlineImages replaces the web addresses of images by their content, each address once and some of them at a time.
func inlineImages(ctx context.Context, data *dataset.Dataset, timeout time.Duration, atATime int) error {
	places := map[string][]*string{}
	for i := range data.Conversations {
		for j := range data.Conversations[i].Turns {
			for _, m := range data.Conversations[i].Turns[j].Images {
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
				cancel(fmt.Errorf("the image %s cannot be fetched: %w; the endpoint takes images only as part of the request", redactURL(address), err))
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
