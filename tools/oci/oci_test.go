package oci

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"testing"
)

// TestTheLayerDependsOnItsContentAlone makes it twice, and reads its certificates back.
func TestTheLayerDependsOnItsContentAlone(t *testing.T) {
	one, err := archive([]byte("program"), []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := archive([]byte("program"), []byte("{}"))
	if err != nil || !bytes.Equal(one, other) {
		t.Errorf("two layers differ: %v", err)
	}
	if end := make([]byte, 1024); !bytes.HasSuffix(one, end) {
		t.Error("the layer does not end as tar files do")
	}
	found := 0
	for r := tar.NewReader(bytes.NewReader(one)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.ModTime.Unix() != 0 || h.Uid != 0 || h.Gid != 0 || h.Uname != "" {
			t.Errorf("%s: %v, %d:%d %q", h.Name, h.ModTime, h.Uid, h.Gid, h.Uname)
		}
		if h.Name != certificates {
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
			if _, err := x509.ParseCertificate(block.Bytes); err != nil {
				t.Error(err)
			}
			found++
		}
	}
	if found < 100 {
		t.Errorf("%d authorities", found)
	}
}
