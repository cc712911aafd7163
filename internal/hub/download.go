package hub

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
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
				return ctx.Err()
			case <-time.After(c.Pause << (attempt - 1)):
			}
		}
		if err = c.transfer(ctx, address, target, checksum); err == nil {
			return nil
		}
		var final permanent
		if errors.As(err, &final) {
			return final.error
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s: %w", address, ctx.Err())
		}
	}
	return fmt.Errorf("%s could not be fetched in %d attempts: %w", address, attempts, err)
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
		return c.status(address, response.StatusCode)
	default:
		err := c.status(address, response.StatusCode)
		if response.StatusCode < 500 && response.StatusCode != http.StatusTooManyRequests && response.StatusCode != http.StatusRequestTimeout {
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
	n, err := io.Copy(file, response.Body)
	if err != nil {
		return fmt.Errorf("after %d bytes: %w", have+n, err)
	}
	if response.ContentLength >= 0 && n != response.ContentLength {
		return fmt.Errorf("%d of %d bytes came", n, response.ContentLength)
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

// get sends the token to the hub itself alone; net/http drops it on a redirect to another host.
func (c *Client) get(ctx context.Context, address string, header http.Header) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	for name, values := range header {
		request.Header[name] = values
	}
	request.Header.Set("User-Agent", "aiperf")
	if c.Token != "" && strings.HasPrefix(address, c.Endpoint+"/") {
		request.Header.Set("Authorization", "Bearer "+c.Token)
	}
	return c.HTTP.Do(request)
}

func (c *Client) status(address string, code int) error {
	switch code {
	case http.StatusUnauthorized, http.StatusForbidden:
		if c.Token == "" {
			return fmt.Errorf("%s answered %d: access needs a token in HF_TOKEN", address, code)
		}
		return fmt.Errorf("%s answered %d: the token in HF_TOKEN has no access; some repositories want their terms accepted on their page first", address, code)
	}
	return fmt.Errorf("%s answered %d %s", address, code, http.StatusText(code))
}
