//go:build unix

package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// pgo writes the profile that a release is compiled with: where the loads of -only versus and a report of their records
// spend their time.
func (b *bench) pgo() error {
	var profiles []string
	before := b.env
	next := func() []string {
		profiles = append(profiles, filepath.Join(b.dir, fmt.Sprintf("%d.pprof", len(profiles))))
		return append(before, "AIPERF_PPROF="+profiles[len(profiles)-1])
	}
	defer func() { b.env = before }()
	for _, l := range b.loads() {
		server, err := b.server(l.server...)
		if err != nil {
			return err
		}
		b.env = next()
		p, err := b.profile(1, server.url, l.args...)
		server.stop()
		if err != nil {
			return fmt.Errorf("%s: %w", l.title, err)
		}
		report := exec.Command(b.aiperf, "report", p.dir)
		report.Env = append(os.Environ(), append(next(), "GOMAXPROCS=1")...)
		if out, err := report.CombinedOutput(); err != nil {
			return fmt.Errorf("aiperf report: %w\n%s", err, out)
		}
	}
	merged, err := exec.Command("go", append([]string{"tool", "pprof", "-proto"}, profiles...)...).Output()
	if err != nil {
		return fmt.Errorf("go tool pprof: %w", err)
	}
	clean, err := withoutPath(merged, b.aiperf)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d bytes, of %d profiles\n", b.profileFile, len(clean), len(profiles))
	return os.WriteFile(b.profileFile, clean, 0o644)
}

// withoutPath replaces the path of the program in a profile by a name of the same length.
func withoutPath(profile []byte, path string) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(profile))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	name := "aiperf" + strings.Repeat("_", max(0, len(path)-len("aiperf")))
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err = w.Write(bytes.ReplaceAll(plain, []byte(path), []byte(name)))
	if err = cmp.Or(err, w.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
