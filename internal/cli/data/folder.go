package data

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"

	"aiperf/internal/base/artifact"
	"aiperf/internal/workload/recording"
)

// saltOf is the key of hashes: that of a file, or one that is drawn and forgotten.
func saltOf(file string) ([]byte, error) {
	if file == "" {
		salt := make([]byte, 32)
		rand.Read(salt)
		return salt, nil
	}
	salt, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--salt-file: %w", err)
	}
	if len(salt) < 16 {
		return nil, fmt.Errorf("--salt-file %s: want at least 16 bytes, so that nobody can guess them; "+
			"head -c 32 /dev/urandom", file)
	}
	return salt, nil
}

// recordingFolder makes the folder of a recording and keeps other programs from writing there.
func recordingFolder(folder string) (*artifact.Lock, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	old, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	if _, failed := os.Stat(filepath.Join(folder, recording.WekaName)); err != nil || len(old) > 0 || failed == nil {
		return nil, fmt.Errorf("--out %s: there is a recording in this folder already; name another one", folder)
	}
	return artifact.LockFolder(folder)
}
