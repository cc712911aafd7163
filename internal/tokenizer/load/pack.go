package load

import (
	"archive/zip"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Pack writes the files of the tokenizer as one file that Open reads: a zip archive. The same files give the
// same bytes. It shows under its name when it is whole.
func (b *Bundle) Pack(path string) error {
	if b.builtin != nil {
		return fmt.Errorf("%s is built in and needs no file", b.Name)
	}
	if _, err := b.Tokenizer(); err != nil {
		return fmt.Errorf("it would not be read back: %w", err)
	}
	temporary := path + ".new"
	f, err := os.Create(temporary)
	if err != nil {
		return err
	}
	if err := errors.Join(b.writePack(f), f.Close()); err != nil {
		os.Remove(temporary)
		return err
	}
	return os.Rename(temporary, path)
}

func (b *Bundle) writePack(w io.Writer) error {
	archive := zip.NewWriter(w)
	archive.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, name := range b.names() {
		data, err := fs.ReadFile(b.files, name)
		if err != nil {
			return err
		}
		file, err := archive.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
		if err != nil {
			return err
		}
		if _, err := file.Write(data); err != nil {
			return err
		}
	}
	return archive.Close()
}
