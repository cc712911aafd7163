package wandb

import (
	"context"
	"crypto/md5"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"io"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/publish/upload"
)

// bundled is an artifact: files under one name.
type bundled struct {
	name, kind string
	files      []content
	// clientID and sequenceID name the artifact and its versions before the service does.
	clientID, sequenceID string
}

func newBundled(name, kind string, files []content) *bundled {
	return &bundled{name: name, kind: kind, files: files, clientID: token(128), sequenceID: token(128)}
}

// token returns n random letters and digits.
func token(n int) string {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	out := make([]byte, 0, n)
	var random [64]byte
	for len(out) < n {
		_, _ = rand.Read(random[:]) // it never fails
		for _, b := range random {
			if int(b) < 256/len(letters)*len(letters) && len(out) < n {
				out = append(out, letters[int(b)%len(letters)])
			}
		}
	}
	return string(out)
}

// sum returns the MD5 sum of bytes in base64.
func sum(data []byte) string {
	s := md5.Sum(data)
	return base64.StdEncoding.EncodeToString(s[:])
}

// inMemory returns a file of bytes.
func inMemory(name string, data []byte) content {
	return content{name: name, data: data, size: int64(len(data)), md5: sum(data)}
}

// digest returns the sum that identifies the content of the artifact.
func (a *bundled) digest() string {
	files := slices.Clone(a.files)
	slices.SortFunc(files, func(x, y content) int { return strings.Compare(x.name, y.name) })
	h := md5.New()
	_, _ = io.WriteString(h, "wandb-artifact-manifest-v1\n")
	for _, f := range files {
		_, _ = io.WriteString(h, f.name+":"+f.md5+"\n")
	}
	return hex.EncodeToString(h.Sum(nil))
}

// manifestDocument is the list of the files of an artifact.
type manifestDocument struct {
	Version  int                         `json:"version"`
	Policy   string                      `json:"storagePolicy"`
	Config   map[string]string           `json:"storagePolicyConfig"`
	Contents artifact.Map[manifestEntry] `json:"contents"`
}

type manifestEntry struct {
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
	Birth  string `json:"birthArtifactID"`
}

// manifest returns the list of the files of the artifact.
func (a *bundled) manifest(id string) ([]byte, error) {
	d := manifestDocument{Version: 1, Policy: storagePolicy, Config: map[string]string{storageLayout: storageVersion}}
	for _, f := range a.files {
		d.Contents.Add(f.name, manifestEntry{f.md5, f.size, id})
	}
	return artifact.AppendJSON(nil, artifact.ObjectOf(d))
}

const createArtifact = `mutation CreateArtifact($input: CreateArtifactInput!) {
	createArtifact(input: $input) { artifact { id state } }
}`

const createManifest = `mutation CreateArtifactManifest($artifactID: ID!, $name: String!, $digest: String!,
	$entityName: String!, $projectName: String!, $runName: String!, $manifestType: ArtifactManifestType!,
	$includeUpload: Boolean!) {
	createArtifactManifest(input: {artifactID: $artifactID, name: $name, digest: $digest, entityName: $entityName,
		projectName: $projectName, runName: $runName, type: $manifestType}) {
		artifactManifest { id file {
			uploadUrl @include(if: $includeUpload) uploadHeaders @include(if: $includeUpload)
		} }
	}
}`

const createArtifactFiles = `mutation CreateArtifactFiles($input: CreateArtifactFilesInput!) {
	createArtifactFiles(input: $input) { files { edges { node { storagePath uploadUrl uploadHeaders
		uploadMultipartUrls { uploadID uploadUrlParts { partNumber uploadUrl } } } } } }
}`

const commitArtifact = `mutation CommitArtifact($artifactID: ID!) {
	commitArtifact(input: {artifactID: $artifactID}) { artifact { id digest } }
}`

// committed is the state of an artifact whose content the service has already.
const committed = "COMMITTED"

// How artifacts are stored and named, in the service's terms.
const (
	storagePolicy   = "wandb-storage-policy-v1"
	storageLayout   = "storageLayout"
	storageVersion  = "V2"
	digestAlgorithm = "MANIFEST_MD5"
	alias           = "latest"
)

// filesAtOnce is the number of files whose addresses are asked for together.
const filesAtOnce = 100

// putArtifact uploads an artifact of a run: the files, the manifest that lists them, and the word that it is complete.
func (s *service) putArtifact(ctx context.Context, b *bucket, a *bundled) *upload.Problem {
	var created struct {
		CreateArtifact struct{ Artifact struct{ ID, State string } }
	}
	p := s.query(ctx, "CreateArtifact", createArtifact, map[string]any{"input": map[string]any{
		"artifactTypeName": a.kind, "artifactCollectionName": a.name,
		"aliases":    []any{map[string]any{"alias": alias, "artifactCollectionName": a.name}},
		"entityName": b.Project.Entity.Name, "projectName": b.Project.Name, "runName": b.Name,
		"digest": a.digest(), "digestAlgorithm": digestAlgorithm, "enableDigestDeduplication": true,
		"clientID": a.clientID, "sequenceClientID": a.sequenceID}}, &created)
	if p != nil {
		return p
	}
	id := created.CreateArtifact.Artifact.ID
	switch {
	case id == "":
		return unexpected()
	case created.CreateArtifact.Artifact.State == committed:
		return nil
	}
	manifestID, _, p := s.manifest(ctx, b, id, "")
	if p != nil {
		return p
	}
	for files := range slices.Chunk(a.files, filesAtOnce) {
		if p := s.putArtifactFiles(ctx, id, manifestID, files); p != nil {
			return p
		}
	}
	list, err := a.manifest(id)
	if err != nil {
		return &upload.Problem{Kind: upload.Refused, Text: "cannot be sent the list of files: " + err.Error()}
	}
	file := inMemory(manifestName, list)
	_, t, p := s.manifest(ctx, b, id, file.md5)
	if p != nil {
		return p
	}
	if p := s.put(ctx, t, &file, nil); p != nil {
		return p
	}
	var done struct {
		CommitArtifact struct{ Artifact struct{ ID string } }
	}
	if p := s.query(ctx, "CommitArtifact", commitArtifact, map[string]any{"artifactID": id}, &done); p != nil {
		return p
	}
	if done.CommitArtifact.Artifact.ID == "" {
		return unexpected()
	}
	return nil
}

// manifestName is the name of the list of files.
const manifestName = "wandb_manifest.json"

// manifest creates the manifest of an artifact: first without a digest, then with that of the list, whose address it
// returns.
func (s *service) manifest(ctx context.Context, b *bucket, id, digest string) (string, uploadTarget, *upload.Problem) {
	var out struct {
		CreateArtifactManifest struct {
			ArtifactManifest struct {
				ID   string
				File uploadTarget
			}
		}
	}
	p := s.query(ctx, "CreateArtifactManifest", createManifest, map[string]any{"artifactID": id, "name": manifestName,
		"digest": digest, "entityName": b.Project.Entity.Name, "projectName": b.Project.Name, "runName": b.Name,
		"manifestType": "FULL", "includeUpload": digest != ""}, &out)
	m := &out.CreateArtifactManifest.ArtifactManifest
	if p == nil && m.ID == "" {
		p = unexpected()
	}
	return m.ID, m.File, p
}

// putArtifactFiles uploads files of an artifact. A file without an address is one that the service has.
func (s *service) putArtifactFiles(ctx context.Context, id, manifestID string, files []content) *upload.Problem {
	list := make([]any, len(files))
	for i, f := range files {
		one := map[string]any{"artifactID": id, "artifactManifestID": manifestID, "name": f.name, "md5": f.md5}
		if f.parts != nil {
			one["uploadPartsInput"] = partsInput(f.parts)
		}
		list[i] = one
	}
	var out struct {
		CreateArtifactFiles struct {
			Files struct{ Edges []struct{ Node uploadTarget } }
		}
	}
	p := s.query(ctx, "CreateArtifactFiles", createArtifactFiles,
		map[string]any{"input": map[string]any{"artifactFiles": list, storageLayout: storageVersion}}, &out)
	if p != nil {
		return p
	}
	edges := out.CreateArtifactFiles.Files.Edges
	if len(edges) != len(files) {
		return unexpected()
	}
	for i := range files {
		if edges[i].Node.UploadURL == "" {
			continue
		}
		if p := s.putWhole(ctx, id, edges[i].Node, &files[i]); p != nil {
			return p
		}
	}
	return nil
}
