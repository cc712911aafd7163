package webserver

import (
	"errors"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"aiperf/internal/base/webpage"
)

// mediaTypes are those of the files that runs leave.
var mediaTypes = map[string]string{
	".json": "application/json", ".jsonl": "application/x-ndjson", ".csv": "text/csv; charset=utf-8",
	".parquet": "application/vnd.apache.parquet", ".txt": "text/plain; charset=utf-8",
	".log": "text/plain; charset=utf-8",
}

// MediaType returns the media type of a file of results by its name.
func MediaType(name string) string {
	if t := mediaTypes[strings.ToLower(path.Ext(name))]; t != "" {
		return t
	}
	return "application/octet-stream"
}

// Presentation is how a file is sent. The zero value sends it as a download with its media type.
type Presentation struct {
	// Report shows the file in the browser: it is a report that this program wrote as one HTML file.
	Report bool
	// Refuse answers where there is no file to send; nil answers with a line of text.
	Refuse func(w http.ResponseWriter, status int, why string)
}

// Files serves the regular files below a folder, by the rest of the path behind the prefix. A path that leads out of
// the folder, by .. or by a symbolic link, is 400, one that does not exist 404.
func Files(dir, prefix string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ServeFile(w, r, dir, strings.TrimPrefix(r.URL.Path, prefix), Presentation{})
	})
}

// ServeFile sends one file below a folder, by its path with slashes; ranges are served.
func ServeFile(w http.ResponseWriter, r *http.Request, dir, name string, p Presentation) {
	refuse := p.Refuse
	if refuse == nil {
		refuse = inText
	}
	name = strings.TrimPrefix(name, "/")
	if name == "" {
		refuse(w, http.StatusNotFound, "there is no such file")
		return
	}
	if leadsOut(name) || !filepath.IsLocal(filepath.FromSlash(name)) {
		refuse(w, http.StatusBadRequest, "the path leads out of the folder")
		return
	}
	file, info, err := open(dir, filepath.FromSlash(path.Clean(name)))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNotAFile), notADirectory(err):
		refuse(w, http.StatusNotFound, "there is no such file")
		return
	case errors.Is(err, fs.ErrPermission):
		refuse(w, http.StatusForbidden, "the file cannot be read")
		return
	case err != nil: // a link that leads out
		refuse(w, http.StatusBadRequest, "the path leads out of the folder")
		return
	}
	defer file.Close()
	head, base := w.Header(), path.Base(name)
	if p.Report {
		policy, err := webpage.ReportPolicy(file)
		if err == nil {
			_, err = file.Seek(0, io.SeekStart)
		}
		if err != nil {
			refuse(w, http.StatusForbidden, "the file cannot be read")
			return
		}
		head.Set("Content-Type", "text/html; charset=utf-8")
		head.Set("Content-Security-Policy", policy)
	} else {
		head.Set("Content-Type", MediaType(base))
		head.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": base}))
		head.Set("X-Filename", printable(base))
	}
	// A large file to a slow client takes its time, as long as the client reads.
	http.ServeContent(&patient{ResponseWriter: w, control: http.NewResponseController(w)}, r, "", info.ModTime(), file)
}

var errNotAFile = errors.New("not a regular file")

// open opens a regular file; symbolic links are followed only within the folder.
func open(dir, name string) (*os.File, fs.FileInfo, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	// Opening a named pipe would wait for its writer.
	if info, err := root.Stat(name); err != nil {
		return nil, nil, err
	} else if !info.Mode().IsRegular() {
		return nil, nil, errNotAFile
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotAFile
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

// printable replaces what cannot stand in a header.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '_'
		}
		return r
	}, name)
}

// patient moves the deadline of writing on with each write.
type patient struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (p *patient) Write(b []byte) (int, error) {
	_ = p.control.SetWriteDeadline(time.Now().Add(WriteTimeout))
	return p.ResponseWriter.Write(b)
}

func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }
