package loader

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"aiperf/internal/workload/dataset"
)

// inFolder makes a folder of files the working directory.
func inFolder(t *testing.T, files map[string]string) {
	t.Helper()
	folder := t.TempDir()
	for name, content := range files {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(folder)
}

func TestTrapMediaOfFilesBecomeTheirContent(t *testing.T) {
	inFolder(t, map[string]string{"x.wav": "W", "v.mp4": "V"})
	r := load1(t, `{"text":"a","audio":"x.wav","video":"v.mp4","image":"http://h/x.png"}
{"audios":["x.wav","mp3,QQ=="]}
{"texts":["t"],"audios":[{"name":"n","contents":["x.wav"]}],"videos":[{"name":"m","contents":["https://h/v.webm","v.mp4"]}]}
{"text":"a","image":"","video":null}`, "")
	want := []dataset.Turn{
		{Texts: texts("a"), Images: texts("http://h/x.png"), Audios: texts("wav,Vw=="),
			Videos: texts("data:video/mp4;base64,Vg==")},
		{Audios: texts("wav,Vw==", "mp3,QQ==")},
		{
			Texts: texts("t"), Audios: []dataset.Media{{Name: "n", Contents: []string{"wav,Vw=="}}},
			Videos: []dataset.Media{{Name: "m", Contents: []string{"https://h/v.webm", "data:video/mp4;base64,Vg=="}}},
		},
		{Texts: texts("a")},
	}
	for i, c := range r.Dataset.All() {
		if !reflect.DeepEqual(c.Turns[0], want[i]) {
			t.Errorf("turn %d: %+v, want %+v", i, c.Turns[0], want[i])
		}
	}
}

func TestLengthOfSoundIsKnownFromItsFile(t *testing.T) {
	wav := "RIFF\x2c\x00\x00\x00WAVEfmt " +
		"\x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x40\x1f\x00\x00" +
		string(make([]byte, 8000))
	inFolder(t, map[string]string{"x.wav": wav})
	r := load1(t, `{"audios":["x.wav","x.wav","https://h/y.wav"]}`, "")
	if got := r.Dataset.At(0).Turns[0].AudioSeconds; got != 2 {
		t.Errorf("%v seconds", got)
	}
}

// Rows that name the same file share its content.
// Images have ids; with --uuid-and-strip one that an earlier turn of the session sent goes without its content.
func TestImagesWithIDs(t *testing.T) {
	const rows = `{"session_id":"s","text":"1","images":[{"name":"n","contents":["http://h/a","http://h/a"],"uuids":["U1","U1"]}]}
{"session_id":"s","text":"2","images":[{"contents":["http://h/b","http://h/a"],"uuids":["U2","U1"]}]}
{"session_id":"s","text":"3","images":[{"contents":["http://h/a"]}]}
{"session_id":"t","images":[{"uuids":["U1"]}]}
{"session_id":"t","text":"5","images":[{"contents":["http://h/a"],"uuids":["U1"]}]}
{"session_id":"t","text":"6","images":[{"contents":["http://h/other"],"uuids":["U1"]}]}
{"text":"7","images":[{"contents":["http://h/a",null],"uuids":["U1","U3"]}]}
`
	for strip, want := range map[bool]string{
		false: "U1=http://h/a U1=http://h/a|U2=http://h/b " +
			"U1=http://h/a|=http://h/a|U1=|U1=http://h/a|U1=http://h/other|U1=http://h/a U3=",
		true: "U1=http://h/a U1=http://h/a|U2=http://h/b U1=|=http://h/a|U1=|U1=http://h/a|U1=|U1=http://h/a U3=",
	} {
		r, err := LoadWith(context.Background(), write(t, "data.jsonl", rows), "", Options{StripImages: strip})
		if err != nil {
			t.Fatal(err)
		}
		var turns []string
		for _, c := range r.Dataset.All() {
			for _, turn := range c.Turns {
				var images []string
				for _, m := range turn.Images {
					for i, content := range m.Contents {
						id := ""
						if m.IDs != nil {
							id = m.IDs[i]
						}
						images = append(images, id+"="+content)
					}
				}
				turns = append(turns, strings.Join(images, " "))
			}
		}
		if got := strings.Join(turns, "|"); got != want {
			t.Errorf("strip %v:\ngot  %s\nwant %s", strip, got, want)
		}
	}
	for row, want := range map[string]string{
		`{"images":[{"contents":["http://h/a"],"uuids":["U1","U2"]}]}`: ":1: field \"images\": want as many uuids as " +
			"contents, none of them empty, got 2 for 1 contents",
		`{"images":[{"contents":["http://h/a"],"uuids":[""]}]}`:        "none of them empty",
		`{"images":[{"contents":["http://h/a"],"uuids":[7]}]}`:         "want a list of strings or of objects",
		`{"images":[{"contents":["http://h/a"],"uuids":["U1",null]}]}`: "as many uuids",
		`{"turns":[{"text":"a"}]}`: "--uuid-and-strip needs single_turn data, " +
			"and this is a multi_turn file",
	} {
		_, err := LoadWith(context.Background(), write(t, "data.jsonl", row), "", Options{StripImages: true})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", row, err)
		}
	}
}

func TestMediaAreKeptOnce(t *testing.T) {
	inFolder(t, map[string]string{"x.wav": "W"})
	lines := ""
	for range 3 {
		lines += fmt.Sprintln(`{"audio":"x.wav"}`)
	}
	r := load1(t, lines, "")
	seen := map[*byte]bool{}
	for _, c := range r.Dataset.All() {
		seen[unsafe.StringData(c.Turns[0].Audios[0].Contents[0])] = true
	}
	if len(seen) != 1 {
		t.Errorf("%d copies of one file", len(seen))
	}
}
