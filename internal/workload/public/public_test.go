package public_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mewkiz/flac"
	"github.com/mewkiz/flac/frame"
	"github.com/mewkiz/flac/meta"
	"github.com/parquet-go/parquet-go"

	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/hub"
	"aiperf/internal/workload/public"
	"aiperf/internal/workload/recipe"
)

// words counts tokens as blanks do.
func countWords(text string) int { return len(strings.Fields(text)) }

func offline(t *testing.T) *hub.Client {
	return &hub.Client{Endpoint: "http://hub.invalid", Dir: t.TempDir(), Offline: "HF_HUB_OFFLINE",
		HTTP: http.DefaultClient}
}

// load reads a data set from rows that are written as JSON Lines.
func load(t *testing.T, o public.Options, rows ...string) (*dataset.Dataset, error) {
	t.Helper()
	o.Path = filepath.Join(t.TempDir(), "rows.jsonl")
	if err := os.WriteFile(o.Path, []byte(strings.Join(rows, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return loadFrom(t, o)
}

func loadFrom(t *testing.T, o public.Options) (*dataset.Dataset, error) {
	t.Helper()
	if o.Hub == nil {
		o.Hub = offline(t)
	}
	if o.CacheDir == "" {
		o.CacheDir = t.TempDir()
	}
	if o.Count == nil {
		o.Count = countWords
	}
	r, err := public.Load(context.Background(), o)
	if err != nil {
		return nil, err
	}
	return r.Dataset, nil
}

// said is what the turns of a data set say, with what goes along.
func said(d *dataset.Dataset) []string {
	var all []string
	for _, c := range d.All() {
		for i, turn := range c.Turns {
			text := ""
			if i > 0 {
				text = "+"
			}
			for _, media := range [][]dataset.Media{turn.Texts, turn.Images, turn.Videos} {
				for _, m := range media {
					text += strings.Join(m.Contents, "|") + ";"
				}
			}
			if turn.MaxTokens != nil {
				text += fmt.Sprint(*turn.MaxTokens)
			}
			all = append(all, text)
		}
	}
	return all
}

func TestRowsOfEachDataSetOfTexts(t *testing.T) {
	edit := "Make the change that is described below the following file.\n\n```python\nx = 1\n```\n\nThe change: " +
		"rename x\n\nAnswer with the whole new file.;"
	for _, test := range []struct {
		name string
		rows []string
		want []string
	}{
		{"sharegpt", []string{
			`{"id":"a","conversations":[{"from":"human","value":"one two three four"},{"from":"gpt","value":"a b c d e"},{"from":"human","value":"x"}]}`,
			`{"id":"b","conversations":[{"from":"human","value":"too short"},{"from":"gpt","value":"a b c d e"}]}`,
			`{"id":"c","conversations":[{"from":"human","value":"one two three four"},{"from":"gpt","value":"a b c"}]}`,
			`{"id":"d","conversations":[{"from":"human","value":"alone"}]}`,
		}, []string{"one two three four;5"}},
		{"aimo", []string{`{"problem":"1+1?","solution":"2"}`, `{"problem":" ","solution":"2"}`, `{"problem":null}`},
			[]string{"1+1?;"}},
		{"aimo_aime", []string{`{"id":0,"problem":"p"}`}, []string{"p;"}},
		{"aimo_numina_cot", []string{`{"problem":"p"}`}, []string{"p;"}},
		{"aimo_numina_1_5", []string{`{"problem":"p"}`}, []string{"p;"}},
		{"mmstar", []string{`{"question":"What?","image":"http://h/x.png"}`}, []string{"What?;http://h/x.png;"}},
		{"mmvu", []string{
			`{"question":"Which?","choices":{"B":"two","A":"one","C":null},"video":"https://h/v.mp4"}`,
			`{"question":"Which?","choices":null,"video":"videos/v.mp4"}`,
			`{"question":"Which?","choices":null,"video":null}`,
		}, []string{"Which? A.one B.two;https://h/v.mp4;", "Which?;file://videos/v.mp4;"}},
		{"vision_arena", []string{`{"conversation":[[{"role":"user","content":"Look"}],[{"role":"assistant","content":"Yes"}]],"images":["http://h/1","http://h/2"]}`},
			[]string{"Look;http://h/1;"}},
		{"llava_onevision", []string{`{"conversations":[{"from":"human","value":"<image>\nDescribe it."},{"from":"gpt","value":"…"}],"image":null}`}, []string{"Describe it.;"}},
		{"spec_bench", []string{`{"question_id":81,"category":"writing","turns":["first","second"]}`},
			[]string{"first;"}},
		{"speed_bench_qualitative", []string{`{"category":"math","turns":[" a "]}`, `{"category":"qa","turns":["b"]}`},
			[]string{"a;", "b;"}},
		{"speed_bench_math", []string{`{"category":"math","turns":["a"]}`, `{"category":"qa","turns":["b"]}`},
			[]string{"a;"}},
		{"speed_bench_throughput_1k_low_entropy",
			[]string{`{"category":"low_entropy","turns":["a"]}`, `{"category":"mixed","turns":["b"]}`}, []string{"a;"}},
		{"instruct_coder", []string{`{"instruction":"do","input":"x","output":"y"}`}, []string{"do;"}},
		{"blazedit_5k", []string{`{"code":"x = 1","change_request":"rename x"}`, `{"code":"","change_request":"c"}`},
			[]string{edit}},
		{"blazedit_10k", []string{`{"code":"x = 1","change_request":"rename x"}`}, []string{edit}},
		{"spec_al_gsm8k", []string{`{"question":"q","answer":"a"}`}, []string{"q;"}},
		{"spec_al_math500", []string{`{"problem":"q"}`}, []string{"q;"}},
		{"spec_al_humaneval", []string{`{"task_id":"HumanEval/0","prompt":"def f():"}`}, []string{"def f():;"}},
		{"spec_al_mbpp", []string{`{"task_id":1,"text":"Write"}`}, []string{"Write;"}},
		{"spec_al_mtbench", []string{`{"prompt":["first","second"],"category":"writing"}`},
			[]string{"first;", "+second;"}},
	} {
		d, err := load(t, public.Options{Name: test.name}, test.rows...)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if diff := cmp.Diff(test.want, said(d)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
		if d.Sampling != dataset.Sequential {
			t.Errorf("%s: sampling %s", test.name, d.Sampling)
		}
	}
}

func TestShareGPTWithTheUsersOwnLimits(t *testing.T) {
	d, err := load(t, public.Options{Name: "sharegpt", OwnLimits: true},
		`{"conversations":[{"value":"one two three four"},{"value":"a b"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"one two three four;"}, said(d)); diff != "" {
		t.Error(diff)
	}
}

func TestStreamedDataSetsEndAtTheLimitAndOthersDoNot(t *testing.T) {
	row := `{"conversation":[{"content":"a"}],"images":[]}`
	d, err := load(t, public.Options{Name: "vision_arena", Limit: 2}, row, row, row)
	if err != nil || d.Len() != 2 {
		t.Errorf("streamed: %v, %v", d, err)
	}
	d, err = load(t, public.Options{Name: "aimo", Limit: 2}, `{"problem":"a"}`, `{"problem":"b"}`, `{"problem":"c"}`)
	if err != nil || d.Len() != 3 {
		t.Errorf("whole: %v, %v", d, err)
	}
}

func TestRepositoriesOfRecordedAgents(t *testing.T) {
	for name, want := range map[string]string{
		"":                            "no-subagents-051826",
		"_no_subagents":               "no-subagents-051826",
		"_with_subagents":             "062126",
		"_with_subagents_256k":        "062126-256k",
		"_with_subagents_060526":      "with-subagents-060526",
		"_with_subagents_060826_256k": "with-subagents-060826-256k",
		"_061326":                     "061326",
		"_062126_256k":                "062126-256k",
	} {
		o := public.Options{Name: "semianalysis_cc_traces_weka" + name}
		s := o.Source()
		if want = "semianalysisai/cc-traces-weka-" + want; s.Repo != want || !public.IsWeka(o.Name) ||
			s.Split != "train" {
			t.Errorf("%q: %+v, weka %v, want %s", name, s, public.IsWeka(o.Name), want)
		}
	}
}

func TestFaultsOfRowsNameFileAndRow(t *testing.T) {
	for _, test := range []struct {
		o    public.Options
		row  string
		want []string
	}{
		{public.Options{Name: "aimo"}, `{"question":"q","answer":"a"}`,
			[]string{"rows.jsonl: row 1", `no column "problem"`, "answer, question"}},
		{public.Options{Name: "aimo"}, `{"problem":5}`, []string{"row 1", "does not hold text"}},
		{public.Options{Name: "aimo"}, `{"problem":""}`, []string{"no request can be made", "1 rows are empty"}},
		{public.Options{Name: "aimo", Filters: []recipe.Filter{{Column: "kind", Value: "x"}}}, `{"problem":"p"}`,
			[]string{"--dataset-filter", "kind", "problem"}},
		{public.Options{Name: "aimo", Filters: []recipe.Filter{{Column: "kind", Value: "x"}}},
			`{"problem":"p","kind":"y"}`,
			[]string{"1 are left out by filters"}},
		{public.Options{Name: "nothing"}, `{}`, []string{"no public data set", "sharegpt"}},
		{public.Options{Name: "weka_hf"}, `{}`, []string{"--hf-weka-dataset"}},
		{public.Options{Name: "sharegpt", Filters: []recipe.Filter{{Column: "id", Value: "x"}}}, `{"id":"x"}`,
			[]string{"--dataset-filter has no meaning for sharegpt"}},
		{public.Options{Name: "weka_hf", WekaRepo: "a/b", Filters: []recipe.Filter{{Column: "id", Value: "x"}}}, `{}`,
			[]string{"--dataset-filter has no meaning for weka_hf"}},
		{public.Options{Name: "spec_bench", Subset: "x"}, `{}`, []string{"--hf-subset"}},
	} {
		_, err := load(t, test.o, test.row)
		if err == nil {
			t.Errorf("%+v %s: no error", test.o, test.row)
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q lacks %q", test.row, err, want)
			}
		}
	}
}

type mediaBytes struct {
	Bytes []byte `parquet:"bytes,optional"`
	Path  string `parquet:"path,optional"`
}

func picture(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewRGBA(image.Rect(0, 0, 4, 4))); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestPicturesOfParquetRowsBecomeJPEG(t *testing.T) {
	type row struct {
		Question string     `parquet:"question"`
		Image    mediaBytes `parquet:"image"`
	}
	path := filepath.Join(t.TempDir(), "val-00000-of-00001.parquet")
	if err := parquet.WriteFile(path, []row{{"What?", mediaBytes{Bytes: picture(t)}}}); err != nil {
		t.Fatal(err)
	}
	d, err := loadFrom(t, public.Options{Name: "mmstar", Path: path})
	if err != nil {
		t.Fatal(err)
	}
	url := d.At(0).Turns[0].Images[0].Contents[0]
	encoded, ok := strings.CutPrefix(url, "data:image/jpeg;base64,")
	data, err := base64.StdEncoding.DecodeString(encoded)
	if _, kind, decoded := image.Decode(bytes.NewReader(data)); !ok || err != nil || decoded != nil || kind != "jpeg" {
		t.Errorf("%.60s: %v, %v, %s", url, err, decoded, kind)
	}
}

// recording is 0.5 s of a ramp at 16 kHz as FLAC.
func recording(t *testing.T) ([]byte, []int32) {
	t.Helper()
	samples := make([]int32, 8000)
	for i := range samples {
		samples[i] = int32(i%200 - 100)
	}
	var out bytes.Buffer
	info := &meta.StreamInfo{BlockSizeMin: 4000, BlockSizeMax: 4000, SampleRate: 16000, NChannels: 1, BitsPerSample: 16,
		NSamples: 8000}
	e, err := flac.NewEncoder(&out, info)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		part := samples[i*4000 : (i+1)*4000]
		f := &frame.Frame{
			Header: frame.Header{HasFixedBlockSize: true, BlockSize: 4000, SampleRate: 16000,
				Channels: frame.ChannelsMono, BitsPerSample: 16, Num: uint64(i)},
			Subframes: []*frame.Subframe{{SubHeader: frame.SubHeader{Pred: frame.PredVerbatim}, Samples: part,
				NSamples: 4000}},
		}
		if err := e.WriteFrame(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), samples
}

func TestSpeechBecomesWAVWithItsSeconds(t *testing.T) {
	packed, samples := recording(t)
	type row struct {
		File  string     `parquet:"file"`
		Audio mediaBytes `parquet:"audio"`
	}
	path := filepath.Join(t.TempDir(), "clean", "test", "0000.parquet")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	read := func(name string, rows ...row) *dataset.Dataset {
		if err := parquet.WriteFile(path, rows); err != nil {
			t.Fatal(err)
		}
		d, err := loadFrom(t, public.Options{Name: name, Path: path, Limit: 10})
		if err != nil || d.Len() != len(rows) {
			t.Fatalf("%s: %v, %v", name, d, err)
		}
		return d
	}
	turn := read("librispeech", row{"a", mediaBytes{Bytes: packed}}).At(0).Turns[0]
	text, isWAV := strings.CutPrefix(turn.Audios[0].Contents[0], "wav,")
	wav, err := base64.StdEncoding.DecodeString(text)
	if err != nil || !isWAV || turn.AudioSeconds != 0.5 || len(wav) != 44+2*len(samples) {
		t.Fatalf("%d bytes, %v s, %v", len(wav), turn.AudioSeconds, err)
	}
	for i, want := range samples {
		if got := int16(uint16(wav[44+2*i]) | uint16(wav[45+2*i])<<8); int32(got) != want {
			t.Fatalf("sample %d: %d, want %d", i, got, want)
		}
	}
	for _, name := range []string{"librispeech", "voxpopuli", "gigaspeech", "ami", "spgispeech"} {
		d := read(name, row{"a", mediaBytes{Bytes: packed}}, row{"b", mediaBytes{Bytes: wav}})
		for i, c := range d.All() {
			turn := c.Turns[0]
			if want := "wav," + base64.StdEncoding.EncodeToString(wav); turn.Audios[0].Contents[0] != want ||
				turn.AudioSeconds != 0.5 {
				t.Errorf("%s row %d: %.20s, %v s", name, i, turn.Audios[0].Contents[0], turn.AudioSeconds)
			}
		}
	}
}

func TestFilesOfASubsetAndASplit(t *testing.T) {
	for _, test := range []struct {
		subset, split string
		names         string
		want          string
	}{
		{"", "train", "README.md data/train-00000-of-00002.parquet data/train-00001-of-00002.parquet " +
			"data/test-00000-of-00001.parquet", "data/train-00000-of-00002.parquet data/train-00001-of-00002.parquet"},
		{"", "val", "mmstar/validation-0.parquet", "mmstar/validation-0.parquet"},
		{"clean", "test", "all/test/0.parquet clean/test/0.parquet clean/train/0.parquet", "clean/test/0.parquet"},
		{"main", "test", "default/test/0000.parquet main/test/0000.parquet main/partial-train/0000.parquet",
			"main/test/0000.parquet"},
		{"qualitative", "test", "qualitative/test-0.parquet throughput_1k/test-0.parquet",
			"qualitative/test-0.parquet"},
		{"", "test", "test.jsonl", "test.jsonl"},
		{"", "train", "dataset_infos.json rows.csv", "rows.csv"},
		{"full", "test", "data/test-0.parquet data/train-0.parquet", "data/test-0.parquet"},
		{"", "train", "train.jsonl train.parquet", "train.parquet"},
		{"en", "test", "fr/test.parquet", ""},
		{"", "test", "train.parquet", ""},
		{"", "test", "README.md", ""},
	} {
		p := public.Part{Subset: test.subset, Split: test.split}
		got, err := p.Choose(strings.Fields(test.names))
		if (err != nil) != (test.want == "") || strings.Join(got, " ") != test.want {
			t.Errorf("%s/%s of %s: %v, %v", test.subset, test.split, test.names, got, err)
		}
	}
}

const commit = "0123456789abcdef0123456789abcdef01234567"

func TestPlacesOfCopies(t *testing.T) {
	row := []byte(`{"problem":"p"}`)
	put := func(parts ...string) {
		path := filepath.Join(parts...)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, row, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, prepare := range map[string]func(*public.Options){
		"folder": func(o *public.Options) { o.Path = t.TempDir(); put(o.Path, "data", "train-0.jsonl") },
		"hub cache": func(o *public.Options) {
			o.Path = t.TempDir()
			put(o.Path, "datasets--AI-MO--NuminaMath-TIR", "snapshots", commit, "train.jsonl")
		},
		"hub home": func(o *public.Options) {
			o.Path = t.TempDir()
			put(o.Path, "hub", "datasets--AI-MO--NuminaMath-TIR", "snapshots", commit, "train.jsonl")
		},
		"own folder": func(o *public.Options) {
			o.Path = t.TempDir()
			put(o.Path, "snapshots", commit, "train.jsonl")
		},
		"download cache": func(o *public.Options) { o.CacheDir = t.TempDir(); put(o.CacheDir, "aimo.jsonl") },
		"cache folder": func(o *public.Options) {
			o.CacheDir = t.TempDir()
			put(o.CacheDir, "NuminaMath-TIR",
				"train.jsonl")
		},
		"system cache": func(o *public.Options) {
			put(o.Hub.Dir, "datasets--AI-MO--NuminaMath-TIR", "snapshots", commit, "data", "train.jsonl")
		},
	} {
		o := public.Options{Name: "aimo", Hub: offline(t)}
		prepare(&o)
		if d, err := loadFrom(t, o); err != nil || d.Len() != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTrapOfflineSaysWhatToFetchAndWhereToPutIt(t *testing.T) {
	for name, source := range map[string]string{"sharegpt": "ShareGPT_V3_unfiltered_cleaned_split.json",
		"mmstar": "http://hub.invalid/datasets/Lin-Chen/MMStar"} {
		cache := t.TempDir()
		_, err := loadFrom(t, public.Options{Name: name, CacheDir: cache})
		if !errors.Is(err, hub.ErrOffline) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, want := range []string{name, source, cache, "HF_HUB_OFFLINE", "--dataset-path", "HF_HOME", "single_turn",
			"--input-file"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q lacks %q", name, err, want)
			}
		}
	}
}

func TestDownloadFromTheHub(t *testing.T) {
	asked := map[string]int{}
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		asked[r.URL.Path]++
		switch r.URL.Path {
		case "/api/datasets/openai/gsm8k/revision/main":
			fmt.Fprintf(w, `{"sha":%q,"siblings":[{"rfilename":"main/test.jsonl","blobId":"aa"},{"rfilename":"main/train.jsonl","blobId":"bb"}]}`, commit)
		case "/datasets/openai/gsm8k/resolve/" + commit + "/main/test.jsonl":
			fmt.Fprint(w, `{"question":"q"}`)
		case "/api/datasets/openai/openai_humaneval/revision/main": // rows that lie in another form
			fmt.Fprintf(w, `{"sha":%q,"siblings":[{"rfilename":"loader.py","blobId":"aa"}]}`, commit)
		case "/api/datasets/openai/openai_humaneval/revision/refs/convert/parquet":
			fmt.Fprintf(w, `{"sha":%q,"siblings":[{"rfilename":"default/test/0000.jsonl","blobId":"cc"}]}`, commit)
		case "/datasets/openai/openai_humaneval/resolve/" + commit + "/default/test/0000.jsonl":
			fmt.Fprint(w, `{"prompt":"p"}`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	client := &hub.Client{Endpoint: server.URL, Dir: t.TempDir(), HTTP: http.DefaultClient}
	for _, name := range []string{"spec_al_gsm8k", "spec_al_humaneval", "spec_al_gsm8k"} {
		if d, err := loadFrom(t, public.Options{Name: name, Hub: client}); err != nil || d.Len() != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
	for path, n := range asked {
		if n != 1 {
			t.Errorf("%s was asked for %d times", path, n)
		}
	}
	if _, err := loadFrom(t, public.Options{Name: "aimo", Hub: client}); err == nil ||
		!strings.Contains(err.Error(), "404") {
		t.Errorf("a repository that is gone: %v", err)
	}
}

func TestWekaRowsOfParquetBecomeLines(t *testing.T) {
	type request struct {
		T    float64 `parquet:"t"`
		In   int64   `parquet:"in"`
		TTFT *string `parquet:"ttft,optional"`
	}
	type trace struct {
		ID       string    `parquet:"id"`
		Requests []request `parquet:"requests,list"`
	}
	dir := t.TempDir()
	if err := parquet.WriteFile(filepath.Join(dir, "train.parquet"),
		[]trace{{"x", []request{{T: 1, In: 2}}}}); err != nil {
		t.Fatal(err)
	}
	path, err := public.WekaPath(context.Background(),
		public.Options{Name: "weka_hf", WekaRepo: "o/n", Path: dir, CacheDir: t.TempDir(), Hub: offline(t)})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	json.Unmarshal(text, &got)
	json.Unmarshal([]byte(`{"id":"x","requests":[{"t":1,"in":2}]}`), &want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
