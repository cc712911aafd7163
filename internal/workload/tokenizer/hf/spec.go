package hf

// file is the top of a tokenizer.json.
type file struct {
	AddedTokens   []addedToken `json:"added_tokens"`
	Normalizer    *spec        `json:"normalizer"`
	PreTokenizer  *spec        `json:"pre_tokenizer"`
	PostProcessor *spec        `json:"post_processor"`
	Decoder       *spec        `json:"decoder"`
	Model         string       `json:"-"` // as it is spelled
}

// spec is any component: its type and the fields of all types.
type spec struct {
	Type string `json:"type"`

	Normalizers   []spec `json:"normalizers"`
	Pretokenizers []spec `json:"pretokenizers"`
	Processors    []spec `json:"processors"`
	Decoders      []spec `json:"decoders"`

	Pattern  *patternSpec `json:"pattern"`
	Content  string       `json:"content"`
	Behavior string       `json:"behavior"`
	Invert   bool         `json:"invert"`

	StripLeft          bool   `json:"strip_left"`
	StripRight         bool   `json:"strip_right"`
	Prepend            string `json:"prepend"`
	Charsmap           string `json:"precompiled_charsmap"`
	CleanText          *bool  `json:"clean_text"`
	HandleChineseChars *bool  `json:"handle_chinese_chars"`
	StripAccents       *bool  `json:"strip_accents"`
	Lowercase          *bool  `json:"lowercase"`

	AddPrefixSpace   *bool  `json:"add_prefix_space"`
	UseRegex         *bool  `json:"use_regex"`
	Replacement      string `json:"replacement"`
	PrependScheme    string `json:"prepend_scheme"`
	Split            *bool  `json:"split"`
	IndividualDigits bool   `json:"individual_digits"`
	Delimiter        string `json:"delimiter"`
	Length           *int   `json:"length"`

	Single        []templatePiece          `json:"single"`
	SpecialTokens map[string]templateToken `json:"special_tokens"`

	Prefix             *string `json:"prefix"`
	Suffix             *string `json:"suffix"`
	Cleanup            *bool   `json:"cleanup"`
	PadToken           *string `json:"pad_token"`
	WordDelimiterToken *string `json:"word_delimiter_token"`
	Start              int     `json:"start"`
	Stop               int     `json:"stop"`
}

// patternSpec is text or a regular expression.
type patternSpec struct {
	String *string `json:"String"`
	Regex  *string `json:"Regex"`
	slow   *expression
}

type templatePiece struct {
	SpecialToken *struct {
		ID string `json:"id"`
	} `json:"SpecialToken"`
}

type templateToken struct {
	IDs []int `json:"ids"`
}

// or returns the value of an optional flag.
func or[T any](p *T, def T) T {
	if p == nil {
		return def
	}
	return *p
}

// addedCount returns the number of special tokens that a post-processor puts around a single sequence.
func addedCount(s *spec) int {
	if s == nil {
		return 0
	}
	n := 0
	switch s.Type {
	case "BertProcessing", "RobertaProcessing":
		return 2
	case "Sequence":
		for i := range s.Processors {
			n += addedCount(&s.Processors[i])
		}
	case "TemplateProcessing":
		for _, p := range s.Single {
			if p.SpecialToken != nil {
				n += len(s.SpecialTokens[p.SpecialToken.ID].IDs)
			}
		}
	}
	return n
}
