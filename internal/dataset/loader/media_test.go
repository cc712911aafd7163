package loader

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"unsafe"

	"aiperf/internal/dataset"
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
		{Texts: texts("a"), Images: texts("http://h/x.png"), Audios: texts("wav,Vw=="), Videos: texts("data:video/mp4;base64,Vg==")},
		{Audios: texts("wav,Vw==", "mp3,QQ==")},
		{
			Texts: texts("t"), Audios: []dataset.Media{{Name: "n", Contents: []string{"wav,Vw=="}}},
			Videos: []dataset.Media{{Name: "m", Contents: []string{"https://h/v.webm", "data:video/mp4;base64,Vg=="}}},
		},
		{Texts: texts("a")},
	}
	for i, c := range r.Dataset.Conversations {
		if !reflect.DeepEqual(c.Turns[0], want[i]) {
			t.Errorf("turn %d: %+v, want %+v", i, c.Turns[0], want[i])
		}
	}
}

func TestLengthOfSoundIsKnownFromItsFile(t *testing.T) {
	wav := "RIFF\x2c\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x40\x1f\x00\x00" + string(make([]byte, 8000))
	inFolder(t, map[string]string{"x.wav": wav})
	r := load1(t, `{"audios":["x.wav","x.wav","https://h/y.wav"]}`, "")
	if got := r.Dataset.Conversations[0].Turns[0].AudioSeconds; got != 2 {
		t.Errorf("%v seconds", got)
	}
}

// Rows that name the same file share its content.
func TestMediaAreKeptOnce(t *testing.T) {
	inFolder(t, map[string]string{"x.wav": "W"})
	lines := ""
	for range 3 {
		lines += fmt.Sprintln(`{"audio":"x.wav"}`)
	}
	r := load1(t, lines, "")
	seen := map[*byte]bool{}
	for _, c := range r.Dataset.Conversations {
		seen[unsafe.StringData(c.Turns[0].Audios[0].Contents[0])] = true
	}
	if len(seen) != 1 {
		t.Errorf("%d copies of one file", len(seen))
	}
}
