package wandb

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/publish/upload"
)

// program is the program that a run names.
const program = "aiperf"

// tableFile is the name of the table in its artifact.
const tableFile = tableName + ".table.json"

// results are the results of a run in the forms of the service.
type results struct {
	// table is the artifact that holds the table, media the table as a file of the run.
	table *bundled
	media content
	// history is the only row of the history, summary the last values.
	history, summary artifact.Object
}

// tableReference is where a value of the run says its table is.
type tableReference struct {
	Type     string `json:"_type"`
	LogMode  string `json:"log_mode"`
	Path     string `json:"path"`
	SHA256   string `json:"sha256"`
	Size     int    `json:"size"`
	NumRows  int    `json:"nrows"`
	NumCols  int    `json:"ncols"`
	Artifact string `json:"artifact_path"`
	Latest   string `json:"_latest_artifact_path"`
}

// newResults returns the results for the run of an id.
func (u *uploading) newResults(id string) (*results, error) {
	list := shown(u.ending.Metrics, u.o.Groups)
	t := newTable(list)
	stored, err := artifact.AppendJSON(nil, t.stored())
	if err != nil {
		return nil, err
	}
	media, err := artifact.AppendJSON(nil, t.media())
	if err != nil {
		return nil, err
	}
	r := &results{table: newBundled("run-"+id+"-"+tableName, "run_table", []content{inMemory(tableFile, stored)})}
	sha := sha256.Sum256(media)
	hash := hex.EncodeToString(sha[:])
	r.media = inMemory("media/table/"+tableName+"_0_"+hash[:20]+".table.json", media)
	reference := artifact.ObjectOf(tableReference{Type: "table-file", LogMode: "IMMUTABLE", Path: r.media.name,
		SHA256: hash, Size: len(media), NumRows: len(t.rows), NumCols: len(t.columns),
		Artifact: "wandb-client-artifact://" + r.table.clientID + "/" + tableFile,
		Latest:   "wandb-client-artifact://" + r.table.sequenceID + ":latest/" + tableFile})
	now := time.Now()
	r.history = artifact.Object{{Key: "_step", Value: 0}, {Key: "_runtime", Value: now.Sub(u.start).Seconds()},
		{Key: "_timestamp", Value: float64(now.UnixMicro()) / 1e6}, {Key: tableName, Value: reference}}
	r.summary = append(append(slices.Clip(r.history), summary(list)...), artifact.Member{Key: "_wandb",
		Value: artifact.Object{{Key: "runtime", Value: int64(now.Sub(u.start).Seconds())}}})
	return r, nil
}

// bundle returns the artifact of the files of the run's folder.
func (u *uploading) bundle(ctx context.Context, id string) (*bundled, error) {
	names, err := upload.Find(u.bench.Dir, u.o.Globs)
	if err != nil {
		return nil, err
	}
	var files []content
	for _, name := range names {
		if strings.HasPrefix(name, folder+"/") || slices.Contains(u.o.Without, name) {
			continue
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		file, err := u.o.parts.onDisk(u.bench.Dir, name)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return newBundled("aiperf-"+id, "aiperf-run", files), nil
}

// exitCode returns how the run ended, as a process would.
func (u *uploading) exitCode() int {
	if u.ending.Failed || u.ending.Cancelled {
		return 1
	}
	return 0
}
