// Package oci writes the OCI image of aiperf without a container engine: for each architecture of Linux one layer with the
// static program, and a list of the modules in it as an SBOM. Nothing in it depends on the time or the machine, so that
// the same program gives the same digests.
package oci

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"debug/buildinfo"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"golang.org/x/crypto/x509roots/fallback/bundle"

	"aiperf/tools/sbom"
)

// user is the user and the group of the process, as the manifests of pods say.
const user = 1000

// Paths of the files in the image.
const (
	program      = "usr/bin/aiperf"
	bill         = "usr/share/doc/aiperf/sbom.spdx.json"
	certificates = "etc/ssl/certs/ca-certificates.crt"
)

// Write writes an image for each architecture of which there is a program: the folder dir as an OCI layout, and the same as
// the file tar. It returns the digest.
func Write(dir, tar, version string, programs map[string][]byte) (string, error) {
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	index := mutate.IndexMediaType(v1.ImageIndex(empty.Index), types.OCIImageIndex)
	for _, arch := range sorted(programs) {
		image, err := build(arch, version, programs[arch])
		if err != nil {
			return "", fmt.Errorf("%s: %w", arch, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}}})
	}
	// Tools that read a layout take its one entry, whatever its architectures, and containerd takes this name.
	tag := Tag(version)
	named := mutate.AppendManifests(mutate.IndexMediaType(v1.ImageIndex(empty.Index), types.OCIImageIndex), mutate.IndexAddendum{
		Add: index, Descriptor: v1.Descriptor{Annotations: map[string]string{"org.opencontainers.image.ref.name": tag,
			"io.containerd.image.name": "docker.io/library/aiperf:" + tag}}})
	if _, err := layout.Write(dir, named); err != nil {
		return "", err
	}
	digest, err := index.Digest()
	if err != nil {
		return "", err
	}
	if err := pack(dir, tar); err != nil {
		return "", err
	}
	return digest.String(), nil
}

// Tag is the tag of a version: that of the release which it leads to, for a tag has no +.
func Tag(version string) string {
	tag, _, _ := strings.Cut(version, "+")
	return tag
}

// build makes the image of an architecture.
func build(arch, version string, code []byte) (v1.Image, error) {
	list, err := sbom.Of(code, version)
	if err != nil {
		return nil, err
	}
	content, err := archive(code, list)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if image, err = mutate.AppendLayers(image, layer); err != nil {
		return nil, err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Created = "linux", arch, v1.Time{Time: time.Unix(0, 0).UTC()}
	file.Config = v1.Config{User: fmt.Sprintf("%d:%d", user, user), Entrypoint: []string{"/" + program}, WorkingDir: "/",
		Env: []string{"PATH=/usr/bin", "HOME=/tmp"}, Labels: map[string]string{
			"org.opencontainers.image.title":    "aiperf",
			"org.opencontainers.image.version":  version,
			"org.opencontainers.image.licenses": "Apache-2.0"}}
	return mutate.ConfigFile(image, file)
}

// authorities are the certificates that the program trusts, as PEM: those of the pinned module of Mozilla's list, and not
// those of this machine. The ones that the list trusts within limits only are left out, for a file cannot say these.
func authorities() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a buffer takes all
		}
	}
	return out.Bytes()
}

// archive is the layer: folders, the program, users, the certificates of authorities, and the SBOM.
func archive(code, list []byte) ([]byte, error) {
	files := map[string][]byte{program: code, bill: list, certificates: authorities(),
		"etc/passwd": []byte(fmt.Sprintf("root:x:0:0:root:/:/nologin\naiperf:x:%d:%d:aiperf:/tmp:/nologin\n", user, user)),
		"etc/group":  []byte(fmt.Sprintf("root:x:0:\naiperf:x:%d:\n", user))}
	folders := map[string]int64{"tmp": 0o1777, "results": 0o777}
	for name := range files {
		for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
			folders[dir] = 0o755
		}
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	add := func(h *tar.Header, data []byte) error {
		h.Format, h.ModTime = tar.FormatUSTAR, time.Unix(0, 0)
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		_, err := w.Write(data)
		return err
	}
	for _, name := range sorted(folders) {
		if err := add(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: folders[name]}, nil); err != nil {
			return nil, err
		}
	}
	for _, name := range sorted(files) {
		mode := int64(0o644)
		if name == program {
			mode = 0o755
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(files[name]))}
		if err := add(h, files[name]); err != nil {
			return nil, err
		}
	}
	err := w.Close() // which writes the end that readers look for
	return out.Bytes(), err
}

func sorted[T any](m map[string]T) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// pack writes a folder as a tar file, in the order of names.
func pack(dir, path string) error {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	w := tar.NewWriter(out)
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: filepath.ToSlash(inside), Mode: 0o644, Size: int64(len(data)),
			Format: tar.FormatUSTAR, ModTime: time.Unix(0, 0)}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	})
	return errors.Join(err, w.Close(), out.Close())
}

// Check reads a layout back and checks what clusters rely on. It returns the architectures.
func Check(dir string) ([]string, error) {
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return nil, err
	}
	if err := validate.Index(index); err != nil {
		return nil, fmt.Errorf("the digests do not fit: %w", err)
	}
	named, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	if len(named.Manifests) != 1 {
		return nil, fmt.Errorf("the layout has %d entries", len(named.Manifests))
	}
	if index, err = index.ImageIndex(named.Manifests[0].Digest); err != nil {
		return nil, err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	var found []string
	for _, d := range manifest.Manifests {
		image, err := index.Image(d.Digest)
		if err != nil {
			return nil, err
		}
		if err := readImage(image, d.Platform.Architecture); err != nil {
			return nil, fmt.Errorf("%s: %w", d.Platform, err)
		}
		found = append(found, d.Platform.Architecture)
	}
	slices.Sort(found)
	return found, nil
}

func readImage(image v1.Image, arch string) error {
	file, err := image.ConfigFile()
	if err != nil {
		return err
	}
	if file.Config.User != fmt.Sprintf("%d:%d", user, user) || file.Architecture != arch {
		return fmt.Errorf("user %q, architecture %q", file.Config.User, file.Architecture)
	}
	r := tar.NewReader(mutate.Extract(image))
	modules := 0
	for names := []string{}; ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			for _, want := range []string{program, bill, certificates} {
				if !slices.Contains(names, want) {
					return fmt.Errorf("%s is missing", want)
				}
			}
			fmt.Printf("linux/%s: %d files, %d modules in the SBOM, no shell\n", arch, len(names), modules)
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		names = append(names, h.Name)
		data, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		switch {
		case h.Name == program:
			if h.Mode&0o111 == 0 || h.Mode&0o6000 != 0 {
				return fmt.Errorf("%s has the mode %o", h.Name, h.Mode)
			}
			info, err := buildinfo.Read(bytes.NewReader(data))
			if err != nil {
				return err
			}
			for _, s := range info.Settings {
				if s.Key == "GOARCH" && s.Value != arch || s.Key == "CGO_ENABLED" && s.Value != "0" {
					return fmt.Errorf("the program was built with %s=%s", s.Key, s.Value)
				}
			}
		case h.Name == bill:
			var b struct{ Packages []json.RawMessage }
			if err := json.Unmarshal(data, &b); err != nil {
				return fmt.Errorf("the SBOM: %w", err)
			}
			modules = len(b.Packages)
			if modules < 10 {
				return fmt.Errorf("the SBOM lists %d modules", modules)
			}
		case h.Name == certificates:
			if !x509.NewCertPool().AppendCertsFromPEM(data) {
				return fmt.Errorf("%s has no certificates", h.Name)
			}
		case h.Mode&0o111 != 0:
			return fmt.Errorf("%s is executable, too", h.Name)
		}
	}
}
