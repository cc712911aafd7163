package data

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/cli/command"
	"aiperf/internal/config/flags"
	"aiperf/internal/workload/recording"
	"aiperf/internal/workload/tokenizer"
)

// rowOptions say how rows of recordings are made.
type rowOptions struct{ tokenizer, revision, saltFile string }

// rowFlags are the flags that say how rows are made.
func (o *rowOptions) rowFlags(blockSize *int, renameModels *bool) []flags.Flag {
	return []flags.Flag{
		flags.Value("tokenizer", "NAME", "counts tokens: hub id, folder, file, or the built-in one, an estimate (builtin)",
			command.NonEmpty(&o.tokenizer)),
		flags.Value("tokenizer-revision", "NAME", "branch, tag or commit on the hub (main)", command.NonEmpty(&o.revision)),
		flags.Value("block-size", "N", "tokens of a block (16)", command.Integer(blockSize, 1, 1<<16)),
		flags.Value("salt-file", "FILE", "key of the hashes, so that recordings can be compared; without it one is drawn "+
			"and forgotten", command.NonEmpty(&o.saltFile)),
		flags.Switch("rename-models", "write model-1, model-2 and so on for the names of models", renameModels),
	}
}

// findTokenizer returns the one that was asked for.
func (o *rowOptions) findTokenizer(ctx context.Context, e *command.Env) (tokenizer.Tokenizer, error) {
	found, err := e.FindTokenizer(ctx, o.tokenizer, o.revision)
	if err != nil {
		return nil, fmt.Errorf("--tokenizer %s: %w", o.tokenizer, err)
	}
	return found, nil
}

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
// the first of the usual name without a recording, and where there is one, the terminal says so.
func recordingFolder(e *command.Env, folder *string, usual string) (lock *artifact.Lock, err error) {
	earlier := ""
	if *folder == "" {
		if *folder, earlier, err = artifact.Numbered(usual, recordedIn); err != nil {
			return nil, fmt.Errorf("%w, or name a folder with --out", err)
		}
	}
	if err := os.MkdirAll(*folder, 0o755); err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	if recordedIn(*folder) {
		return nil, fmt.Errorf("--out %s: there is a recording in this folder already; name another one", *folder)
	}
	lock, err = artifact.LockFolder(*folder)
	if err == nil && earlier != "" {
		e.Terminal.Say(fmt.Sprintf("The recording goes to %s; the earlier one stays in %s", *folder, earlier))
	}
	return lock, err
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
