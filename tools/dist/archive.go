package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"slices"
	"time"

	"aiperf/tools/programs"
)

// archive returns the archive of a platform and its name: a folder with the programs, the texts, the completions and the
// manual.
func (r *release) archive(p programs.Platform, binaries []file) (string, []byte, error) {
	folder := r.name(p)
	files := sorted(in(folder, slices.Concat(binaries, r.texts, in("completions", r.completions), in("man/man1", r.manual))))
	if p.OS == "windows" {
		data, err := zipped(files, r.date)
		return folder + ".zip", data, err
	}
	data, err := tarred(files, r.date)
	return folder + ".tar.gz", data, err
}

// tarred is a .tar.gz of files; its folders are those that the names imply.
func tarred(files []file, date time.Time) ([]byte, error) {
	var out bytes.Buffer
	packed, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(packed)
	for _, f := range files {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: int64(f.mode), Size: int64(len(f.data)), ModTime: date,
			Format: tar.FormatUSTAR}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err = packed.Close()
	return out.Bytes(), err
}

// zipped is a zip file of files.
func zipped(files []file, date time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: date}
		h.SetMode(f.mode)
		part, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := part.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}
