package data

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/cli/command"
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

// recordingFolder makes the folder of a recording and keeps other programs from writing there. Where none is named it is
// the first of the usual name without a recording; earlier is that before it, "" = none.
func recordingFolder(folder *string, usual string) (lock *artifact.Lock, earlier string, err error) {
	if *folder == "" {
		if *folder, earlier, err = artifact.Numbered(usual, recordedIn); err != nil {
			return nil, "", fmt.Errorf("%w, or name a folder with --out", err)
		}
	}
	if err := os.MkdirAll(*folder, 0o755); err != nil {
		return nil, "", fmt.Errorf("--out: %w", err)
	}
	if recordedIn(*folder) {
		return nil, "", fmt.Errorf("--out %s: there is a recording in this folder already; name another one", *folder)
	}
	lock, err = artifact.LockFolder(*folder)
	return lock, earlier, err
}

// recordedIn reports whether there is a recording in a folder, or a program makes one there.
func recordedIn(dir string) bool {
	old, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	_, weka := os.Stat(filepath.Join(dir, recording.WekaName))
	return err != nil || len(old) > 0 || weka == nil || artifact.Writing(dir)
}

// replayOf is the command that plays the recording in a folder.
func replayOf(url, folder string, load ...string) string {
	return strings.Join(command.Quoted(append([]string{"aiperf", "profile", "--url", url, "--input-file", folder}, load...)), " ")
}
