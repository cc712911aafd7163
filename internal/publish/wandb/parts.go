package wandb

import (
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"

	"aiperf/internal/publish/upload"
)

// parting says which files are offered to the service in parts: those of at least From bytes, in parts of Size bytes.
type parting struct{ From, Size int64 }

// official are the sizes of the service's own client.
var official = parting{From: 2 << 30, Size: 100 << 20}

// onDisk returns a file of a folder as it is now.
func (d parting) onDisk(dir, name string) (content, error) {
	size, err := upload.Size(dir, name)
	if err != nil {
		return content{}, err
	}
	part := func(offset, size int64) (io.ReadCloser, error) { return upload.OpenPart(dir, name, offset, size) }
	file, err := part(0, size)
	if err != nil {
		return content{}, err
	}
	defer file.Close()
	c := content{name: name, size: size, partSize: size, part: part,
		open: func() (io.ReadCloser, error) { return part(0, size) }}
	if size >= d.From {
		c.partSize = d.Size
	}
	all := md5.New()
	for left := size; left > 0; {
		one := md5.New()
		n, err := io.CopyN(io.MultiWriter(all, one), file, min(left, c.partSize))
		if err != nil {
			return content{}, fmt.Errorf("%s: %w", name, err)
		}
		left -= n
		if size >= d.From {
			c.parts = append(c.parts, hex.EncodeToString(one.Sum(nil)))
		}
	}
	c.md5 = base64.StdEncoding.EncodeToString(all.Sum(nil))
	return c, nil
}

// partsInput returns parts as the service takes them.
func partsInput(sums []string) []any {
	list := make([]any, len(sums))
	for i, sum := range sums {
		list[i] = map[string]any{"partNumber": i + 1, "hexMD5": sum}
	}
	return list
}

const completeParts = `mutation CompleteMultipartUploadArtifact($completeMultipartAction: CompleteMultipartAction!,
	$completedParts: [UploadPartsInput!]!, $artifactID: ID!, $storagePath: String!, $uploadID: String!) {
	completeMultipartUploadArtifact(input: {completeMultipartAction: $completeMultipartAction,
		completedParts: $completedParts, artifactID: $artifactID, storagePath: $storagePath, uploadID: $uploadID}) {
		digest
	}
}`

// putWhole uploads a file of an artifact: in parts where the service gives their addresses.
func (s *service) putWhole(ctx context.Context, id string, t uploadTarget, c *content) *upload.Problem {
	if t.UploadMultipartURLs == nil {
		return s.put(ctx, t, c, nil)
	}
	places := t.UploadMultipartURLs.UploadURLParts
	if len(places) != len(c.parts) || len(places) == 0 {
		return unexpected()
	}
	stored := make([]string, len(c.parts))
	for _, place := range places {
		i := place.PartNumber - 1
		if i < 0 || i >= len(c.parts) || stored[i] != "" {
			return unexpected()
		}
		sum, err := hex.DecodeString(c.parts[i])
		if err != nil {
			return unexpected()
		}
		from := int64(i) * c.partSize
		size := min(c.partSize, c.size-from)
		part := content{name: c.name, size: size,
			open: func() (io.ReadCloser, error) { return c.part(from, size) }}
		to := uploadTarget{UploadURL: place.UploadURL, UploadHeaders: append(t.UploadHeaders[:len(t.UploadHeaders):len(
			t.UploadHeaders)], "Content-MD5:"+base64.StdEncoding.EncodeToString(sum))}
		p := s.put(ctx, to, &part, func(h http.Header) { stored[i] = h.Get("ETag") })
		if p != nil {
			return p
		}
		if stored[i] == "" {
			return &upload.Problem{Kind: upload.Refused, Text: "did not say how it stored a part of " + c.name}
		}
	}
	var done struct {
		CompleteMultipartUploadArtifact *struct{ Digest *string }
	}
	p := s.query(ctx, "CompleteMultipartUploadArtifact", completeParts, map[string]any{
		"completeMultipartAction": "Complete", "completedParts": partsInput(stored), "artifactID": id,
		"storagePath": t.StoragePath, "uploadID": t.UploadMultipartURLs.UploadID}, &done)
	if p == nil && done.CompleteMultipartUploadArtifact == nil {
		p = unexpected()
	}
	return p
}
