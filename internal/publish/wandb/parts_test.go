package wandb

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"aiperf/internal/publish/upload"
)

// partStore is a service that offers parts. It refuses each of them once, and asks to wait for 0 s.
type partStore struct {
	mu        sync.Mutex
	url       string
	refused   map[string]bool
	parts     map[string]string
	completed string
	faults    []string
}

func (f *partStore) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.URL.Path != "/graphql" {
		number := r.URL.Query().Get("part")
		if !f.refused[number] {
			f.refused[number] = true
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		sum := md5.Sum(body)
		if r.Header.Get("Content-MD5") != base64.StdEncoding.EncodeToString(sum[:]) || r.Header.Get("X-Put") != "a:b" ||
			r.Header.Get("Authorization") != "" {
			f.faults = append(f.faults, fmt.Sprintf("part %s: %v", number, r.Header))
		}
		f.parts[number] = string(body)
		w.Header().Set("ETag", `"etag `+number+`"`)
		return
	}
	var q struct {
		OperationName string
		Variables     json.RawMessage
	}
	_ = json.Unmarshal(body, &q)
	switch q.OperationName {
	case "CreateArtifactFiles":
		var in struct {
			Input struct {
				ArtifactFiles []struct {
					UploadPartsInput []struct {
						PartNumber int
						HexMD5     string
					}
				}
			}
		}
		_ = json.Unmarshal(q.Variables, &in)
		places := []any{}
		for _, p := range in.Input.ArtifactFiles[0].UploadPartsInput {
			places = append(places, map[string]any{"partNumber": p.PartNumber,
				"uploadUrl": fmt.Sprintf("%s/store?part=%d-%s", f.url, p.PartNumber, p.HexMD5)})
		}
		node := map[string]any{"storagePath": "path", "uploadUrl": f.url + "/store?part=whole",
			"uploadHeaders": []string{"X-Put: a:b"}}
		if len(places) > 0 {
			node["uploadMultipartUrls"] = map[string]any{"uploadID": "u1", "uploadUrlParts": places}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": map[string]any{"createArtifactFiles": map[string]any{
			"files": map[string]any{"edges": []any{map[string]any{"node": node}}}}}})
	case "CompleteMultipartUploadArtifact":
		f.completed = string(q.Variables)
		fmt.Fprint(w, `{"data":{"completeMultipartUploadArtifact":{"digest":null}}}`)
	}
}

func TestLargeFilesAreUploadedInParts(t *testing.T) {
	f := &partStore{refused: map[string]bool{}, parts: map[string]string{}}
	server := httptest.NewServer(f)
	defer server.Close()
	f.url = server.URL
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "large"), []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := ReadEnvironment(lookup(map[string]string{variableURL: f.url, variableKey: testKey}))
	if err != nil {
		t.Fatal(err)
	}
	s := newService(e, "1", func(text string) string { return text })
	c, err := parting{From: 10, Size: 4}.onDisk(dir, "large")
	if err != nil {
		t.Fatal(err)
	}
	whole := md5.Sum([]byte("0123456789"))
	if c.md5 != base64.StdEncoding.EncodeToString(whole[:]) {
		t.Error("the sum of the file")
	}
	if p := s.putArtifactFiles(t.Context(), "a1", "m1", []content{c}); p != nil {
		t.Fatal(p)
	}
	var stored []any
	for i, part := range []string{"0123", "4567", "89"} {
		sum := md5.Sum([]byte(part))
		number := fmt.Sprintf("%d-%s", i+1, hex.EncodeToString(sum[:]))
		if f.parts[number] != part {
			t.Errorf("part %s: %q", number, f.parts[number])
		}
		stored = append(stored, map[string]any{"partNumber": i + 1, "hexMD5": `"etag ` + number + `"`})
	}
	want, _ := json.Marshal(map[string]any{"completeMultipartAction": "Complete", "completedParts": stored,
		"artifactID": "a1", "storagePath": "path", "uploadID": "u1"})
	if f.completed != string(want) || len(f.faults) > 0 || len(f.parts) != 3 {
		t.Errorf("completed with %s, want %s; %v", f.completed, want, f.faults)
	}

	small, err := parting{From: 11, Size: 4}.onDisk(dir, "large")
	if err != nil || small.parts != nil {
		t.Fatal(err, small.parts)
	}
	f.completed = ""
	if p := s.put(t.Context(), uploadTarget{UploadURL: f.url + "/store?part=1", UploadHeaders: []string{"X-Put: a:b"}},
		&content{name: "x", data: []byte("x")}, nil); p != nil {
		t.Fatal(p)
	}
	f.parts = map[string]string{}
	if p := s.putArtifactFiles(t.Context(), "a1", "m1", []content{small}); p != nil || f.parts["whole"] != "0123456789" ||
		f.completed != "" {
		t.Errorf("%v %v", p, f.parts)
	}
}

// A service that asks for other parts than it was offered is not what it should be.
func TestPartsThatWereNotOffered(t *testing.T) {
	s := &service{}
	c := content{name: "x", size: 8, partSize: 4, parts: []string{"00", "00"}}
	var t1 uploadTarget
	if err := json.Unmarshal([]byte(`{"uploadMultipartUrls":{"uploadID":"u","uploadUrlParts":[
		{"partNumber":1,"uploadUrl":""},{"partNumber":3,"uploadUrl":""}]}}`), &t1); err != nil {
		t.Fatal(err)
	}
	if p := s.putWhole(t.Context(), "a", t1, &c); p == nil || p.Kind != upload.Refused {
		t.Error(p)
	}
	t1.UploadMultipartURLs.UploadURLParts[0].PartNumber = 3
	if p := s.putWhole(t.Context(), "a", t1, &c); p == nil || !strings.Contains(p.Text, "without what was asked for") {
		t.Error(p)
	}
}
