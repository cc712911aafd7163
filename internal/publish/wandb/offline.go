package wandb

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"

	"google.golang.org/protobuf/encoding/protowire"

	"aiperf/internal/base/artifact"
)

// folder is the folder of a run's folder that holds runs for "wandb sync".
const folder = "wandb"

// write writes the run for "wandb sync" and returns its folder. The files of the run's own folder stay where they are:
// the records name them.
func (u *uploading) write(ctx context.Context) (dir string, files int, err error) {
	own, err := filepath.Abs(u.bench.Dir)
	if err != nil {
		return "", 0, err
	}
	id := token(runID)
	results, err := u.newResults(id)
	if err != nil {
		return "", 0, err
	}
	bundled, err := u.bundle(ctx, id)
	if err != nil {
		return "", 0, err
	}
	dir = filepath.Join(own, folder, "offline-run-"+u.start.Format("20060102_150405")+"-"+id)
	table := filepath.Join(dir, "tmp", tableFile)
	log := newRecordLog()
	u.records(log, id, results, func(name string) string {
		if name == tableFile {
			return table
		}
		return filepath.Join(own, filepath.FromSlash(name))
	}, bundled)
	if log.err != nil {
		return "", 0, log.err
	}
	for path, data := range map[string][]byte{
		table: results.table.files[0].data,
		filepath.Join(dir, "files", filepath.FromSlash(results.media.name)): results.media.data,
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", 0, err
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return "", 0, err
		}
	}
	return dir, len(bundled.files), os.WriteFile(filepath.Join(dir, "run-"+id+".wandb"), log.out.Bytes(), 0o644)
}

// The numbers of the fields of a record and of its parts, as they are in files that the service's client writes.
const (
	recordNumber, recordHistory, recordSummary = 1, 2, 3
	recordFiles, recordArtifact, recordRun     = 6, 8, 17
	recordExit, recordVersion, recordHost      = 18, 21, 26

	itemKey, itemNested, itemJSON = 1, 2, 16
)

// minimum is the oldest release of the client that reads the records, as the client itself writes it.
const minimum = "0.70.0"

// records writes the records of the run. Place returns where a file of an artifact is.
func (u *uploading) records(log *recordLog, id string, r *results, place func(string) string, files *bundled) {
	log.add(recordVersion, new(message).message(1, new(message).text(1, program+"/"+u.bench.Version).text(2, minimum)))
	run := new(message).text(1, id).text(2, u.o.Entity).text(3, u.o.Project)
	settings := new(message)
	for _, m := range config(u.bench, u.o.Redactor) {
		// Online, each value is the member "value" of an object.
		settings.message(1, new(message).text(itemKey, m.Key).json(itemJSON, m.Value.(artifact.Object)[0].Value))
	}
	run.message(4, settings).text(8, u.bench.UploadName(u.o.RunName))
	for _, tag := range tags(u.bench, u.o.Tags) {
		run.text(10, tag)
	}
	started := new(message).number(1, u.start.Unix()).number(2, int64(u.start.Nanosecond()))
	log.add(recordRun, run.message(17, started))
	log.add(recordHost, new(message).text(1, runtime.GOOS).message(3, started).text(6, program))
	log.add(recordArtifact, artifactRecord(u, id, r.table, place))
	log.add(recordFiles, new(message).message(1, new(message).text(1, r.media.name)))
	row := new(message)
	for _, m := range r.history {
		row.message(1, new(message).text(itemNested, m.Key).json(itemJSON, m.Value))
	}
	log.add(recordHistory, row.message(2, new(message)))
	if len(files.files) > 0 {
		log.add(recordArtifact, artifactRecord(u, id, files, place))
	}
	values := new(message)
	for _, m := range r.summary {
		values.message(1, new(message).text(itemKey, m.Key).json(itemJSON, m.Value))
	}
	log.add(recordSummary, values)
	log.add(recordExit, new(message).number(1, int64(u.exitCode())))
}

// artifactRecord returns the record of an artifact.
func artifactRecord(u *uploading, id string, a *bundled, place func(string) string) *message {
	manifest := new(message).number(1, 1).text(2, storagePolicy).message(3, new(message).text(1, storageLayout).
		json(2, storageVersion))
	for _, f := range a.files {
		manifest.message(4, new(message).text(1, f.name).text(2, f.md5).number(4, f.size).text(6, place(f.name)))
	}
	return new(message).text(1, id).text(2, u.o.Project).text(3, u.o.Entity).text(4, a.kind).text(5, a.name).
		text(6, a.digest()).text(11, alias).message(12, manifest).number(14, 1).text(15, a.clientID).
		text(16, a.sequenceID).text(20, digestAlgorithm)
}

// message is a message of protocol buffers. A field that holds its default is left out.
type message struct {
	data []byte
	err  error
}

func (m *message) text(field protowire.Number, text string) *message {
	if text != "" {
		m.data = protowire.AppendString(protowire.AppendTag(m.data, field, protowire.BytesType), text)
	}
	return m
}

func (m *message) number(field protowire.Number, n int64) *message {
	if n != 0 {
		m.data = protowire.AppendVarint(protowire.AppendTag(m.data, field, protowire.VarintType), uint64(n))
	}
	return m
}

func (m *message) message(field protowire.Number, part *message) *message {
	m.data = protowire.AppendBytes(protowire.AppendTag(m.data, field, protowire.BytesType), part.data)
	if m.err == nil {
		m.err = part.err
	}
	return m
}

func (m *message) json(field protowire.Number, value any) *message {
	data, err := artifact.AppendJSON(nil, value)
	if m.err == nil {
		m.err = err
	}
	return m.text(field, string(data))
}

// recordLog is a file of records: a head, then blocks of one size. A record is a checksum, a length and a kind, then its
// bytes; one that crosses the end of a block is cut into fragments.
type recordLog struct {
	out    bytes.Buffer
	number int64
	err    error
}

const (
	blockSize  = 32 << 10
	recordHead = 7
)

// The kinds of fragments.
const (
	whole = 1 + iota
	first
	middle
	last
)

func newRecordLog() *recordLog {
	l := new(recordLog)
	l.out.WriteString(":W&B\xe1\xbe\x00")
	return l
}

// add writes the next record, which has one field besides its number.
func (l *recordLog) add(field protowire.Number, part *message) {
	l.number++
	m := new(message).number(recordNumber, l.number).message(field, part)
	if l.err == nil && m.err != nil {
		l.err = fmt.Errorf("record %d: %w", l.number, m.err)
	}
	l.append(m.data)
}

// append writes a record.
func (l *recordLog) append(data []byte) {
	for begun := false; ; begun = true {
		room := blockSize - l.out.Len()%blockSize
		if room < recordHead {
			l.out.Write(make([]byte, room))
			room = blockSize
		}
		n := min(len(data), room-recordHead)
		kind := byte(whole)
		switch ends := n == len(data); {
		case begun && ends:
			kind = last
		case begun:
			kind = middle
		case !ends:
			kind = first
		}
		sum := crc32.ChecksumIEEE([]byte{kind})
		head := binary.LittleEndian.AppendUint32(nil, crc32.Update(sum, crc32.IEEETable, data[:n]))
		head = append(binary.LittleEndian.AppendUint16(head, uint16(n)), kind)
		l.out.Write(head)
		l.out.Write(data[:n])
		if data = data[n:]; len(data) == 0 {
			return
		}
	}
}
