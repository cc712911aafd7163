package hub

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// attempts bounds how often a transfer is taken up again.
const attempts = 4

// permanent is an error that another attempt would not mend.
type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// Download fetches a URL to a file. An empty checksum is not compared.
func (c *Client) Download(ctx context.Context, address, target, checksum string) error {
	if err := c.allowed(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	var err error
	for attempt := range attempts {
		if attempt > 0 {
			select {
			case <-ctx.Done():
				return unreachable(address, ctx.Err())
			case <-time.After(c.Pause << (attempt - 1)):
			}
		}
		if err = c.transfer(ctx, address, target, checksum); err == nil {
			return nil
		}
		if final, ok := errors.AsType[permanent](err); ok {
			return final.error
		}
		if ctx.Err() != nil {
			return unreachable(address, ctx.Err())
		}
	}
	return fail(HubError, "%s could not be fetched in %d attempts: %w; the next run goes on where this one ended",
		address, attempts, err)
}

// transfer goes on with the incomplete file, or begins it.
func (c *Client) transfer(ctx context.Context, address, target, checksum string) error {
	part, tagFile := target+".incomplete", target+".incomplete.etag"
	file, err := os.OpenFile(part, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return permanent{err}
	}
	defer file.Close()
	have, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return permanent{err}
	}
	header := http.Header{}
	if tag, err := os.ReadFile(tagFile); have > 0 && err == nil && len(tag) > 0 {
		header.Set("Range", fmt.Sprintf("bytes=%d-", have))
		header.Set("If-Range", string(tag))
	} else {
		have = 0
	}
	response, err := c.get(ctx, address, header)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusPartialContent:
		if !strings.HasPrefix(response.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", have)) {
			os.Remove(tagFile)
			return fmt.Errorf("%s answered with another part than was asked for", address)
		}
	case http.StatusOK:
		have = 0
	case http.StatusRequestedRangeNotSatisfiable:
		os.Remove(tagFile)
		return c.status(response, address)
	default:
		err := c.status(response, address)
		if response.StatusCode < 500 && response.StatusCode != http.StatusTooManyRequests &&
			response.StatusCode != http.StatusRequestTimeout {
			return permanent{err}
		}
		return err
	}
	if kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind == "text/html" {
		return permanent{fmt.Errorf("%s answered with a web page, not with the file", address)}
	}
	if err := keepTag(tagFile, response.Header.Get("ETag"), have); err != nil {
		return permanent{err}
	}
	if err := file.Truncate(have); err != nil {
		return permanent{err}
	}
	if _, err := file.Seek(have, io.SeekStart); err != nil {
		return permanent{err}
	}
	body := io.Reader(response.Body)
	if c.MaxFile > 0 {
		body = io.LimitReader(body, max(0, c.MaxFile-have+1))
	}
	n, err := io.Copy(file, body)
	if c.MaxFile > 0 && have+n > c.MaxFile {
		return permanent{fail(HubError, "%s is larger than %d bytes", address, c.MaxFile)}
	}
	if err != nil {
		return fmt.Errorf("the transfer broke off after %d bytes: %w", have+n, err)
	}
	if response.ContentLength >= 0 && n != response.ContentLength {
		return fmt.Errorf("the transfer broke off: %d of %d bytes came", n, response.ContentLength)
	}
	if err := verify(file, checksum); err != nil {
		file.Close()
		os.Remove(part)
		os.Remove(tagFile)
		return fmt.Errorf("%s: %w", address, err)
	}
	if err := file.Close(); err != nil {
		return permanent{err}
	}
	os.Remove(tagFile)
	if err := os.Rename(part, target); err != nil {
		return permanent{err}
	}
	return nil
}

// keepTag remembers which version an incomplete file belongs to.
func keepTag(path, tag string, have int64) error {
	if have > 0 {
		return nil
	}
	if tag == "" || strings.HasPrefix(tag, "W/") {
		os.Remove(path)
		return nil
	}
	return os.WriteFile(path, []byte(tag), 0o644)
}

func verify(file *os.File, checksum string) error {
	if checksum == "" {
		return nil
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != checksum {
		return fmt.Errorf("the SHA-256 of what came is %s, and should be %s", got, checksum)
	}
	return nil
}

// get asks for an address, and follows where it leads. It is the only way to the network.
func (c *Client) get(ctx context.Context, address string, header http.Header) (*http.Response, error) {
	if err := c.allowed(); err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fail(HubError, "%s: %w", address, err)
	}
	maps.Copy(request.Header, header)
	request.Header.Set("User-Agent", c.UserAgent)
	request.Header.Set("Accept-Encoding", "identity")
	if c.Token != "" && c.isHub(address) {
		request.Header.Set("Authorization", "Bearer "+c.Token)
	}
	client := *c.HTTP
	client.CheckRedirect = func(next *http.Request, via []*http.Request) error {
		if !c.isHub(next.URL.String()) {
			next.Header.Del("Authorization") // net/http takes it along to other ports and subdomains
		}
		if len(via) >= maxRedirects {
			return fmt.Errorf("it redirects more than %d times", maxRedirects)
		}
		return nil
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, unreachable(address, err)
	}
	return response, nil
}

const maxRedirects = 10

// isHub reports whether an address is one of the hub itself.
func (c *Client) isHub(address string) bool { return strings.HasPrefix(address, c.Endpoint+"/") }
