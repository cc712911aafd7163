package artifact

import (
	"slices"
	"strings"
	"unicode"
)

// The words of a name that decide whether its value is a secret.
var (
	// secretWords make any name sensitive that has one of them as a word.
	secretWords = words("auth authentication bearer jwt oauth oauth2 passphrase private pwd sas sig signature xauth")
	// secretParts make any name sensitive that contains one of them: they occur in no ordinary word.
	secretParts = []string{
		"secret", "passw", "credential", "apikey", "accesskey", "privatekey", "subscriptionkey", "cookie", "authoriz",
		"accesstoken", "authtoken", "bearertoken", "refreshtoken", "sessiontoken",
	}
	// keyWords before "key" say that the key finds something and opens nothing.
	keyWords = words("cache foreign group hash header idempotency message partition primary public routing sort")
	// tokenWords before or after "token" say that it is a piece of text or a number of them.
	tokenWordsBefore = words("added audio begin bos cls completion draft each end eos eot first ignore image input " +
		"last mask max min " +
		"multi new next one output pad per prev previous prompt reasoning sep single special start stop text think " +
		"thinking unk video")
	tokenWordsAfter = words("budget count counts healing id ids index latency length level limit limits logprob " +
		"logprobs position " +
		"probability rate size strategy throughput time type usage")
)

func words(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

// IsSensitiveName reports whether what is given under a name is a secret: the name of a header, of a
// member of a request body, of a parameter of a URL, of an environment variable. Case, dashes,
// underscores and camel case make no difference.
//
// Sensitive are names with the words auth, bearer, cookie, credential, password, private, secret and
// signature and their kin, with the words key and token in the singular, and the bare session. Names of
// tokens as pieces of text (max_tokens, eos_token, stop_token_ids), of keys that only find something
// (prompt_cache_key, X-SMG-Routing-Key) and of ids (session_id, X-Session-ID) are not.
func IsSensitiveName(name string) bool {
	list := wordsOf(name)
	for i, w := range list {
		if secretWords[w] || slices.ContainsFunc(secretParts,
			func(part string) bool { return strings.Contains(w, part) }) {
			return true
		}
		before, after := "", ""
		if i > 0 {
			before = list[i-1]
		}
		if i+1 < len(list) {
			after = list[i+1]
		}
		switch {
		case w == "key" || w == "keys" && before == "api":
			if !keyWords[before] {
				return true
			}
		case w == "token":
			if !tokenWordsBefore[before] && !tokenWordsAfter[after] {
				return true
			}
		case w == "session":
			if after == "" && (before == "" || before == "x") {
				return true
			}
		}
	}
	return false
}

// wordsOf returns the words of a name, in lower case: parts between characters that are neither letters nor
// digits, and between a small letter and a capital.
func wordsOf(name string) []string {
	var list []string
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			list = append(list, word.String())
			word.Reset()
		}
	}
	small := false
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			end()
			small = false
			continue
		}
		if small && unicode.IsUpper(r) {
			end()
		}
		small = unicode.IsLower(r)
		word.WriteRune(unicode.ToLower(r))
	}
	end()
	return list
}
