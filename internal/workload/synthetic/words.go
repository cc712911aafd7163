package synthetic

import (
	"maps"
	"strings"
)

func words(list string) []string { return strings.Fields(list) }

// grammar returns what fills a slot: one of the alternatives.
func grammar() map[string][]string {
	return withCapitals(map[string][]string{
		"noun": words(`account alert archive article backup batch block branch bucket buffer build cache chart chunk client cluster column
		commit config contact counter credit cursor customer device digest driver edge entry event export feature feed field file filter frame
		gateway graph group handle header host image index input invoice item job journal key label layer ledger limit link list lock log
		matrix member merge message meter metric model module mount node note object offer offset order owner packet page parcel patch path
		payment payload peer phase pipeline plan player point policy pool port prefix price probe process profile prompt proxy queue quota
		range rank rate reader record region report request result retry review role route row rule sample scan schema scope score search
		section sender sensor series server session shape shard signal site slot socket source span stage state stock store stream string
		table tag target task template tenant test thread ticket tile timer token topic trace track transfer tree trigger type unit update
		upload user value vector version view volume warning window worker zone`),
		"verb": words(`accept add append apply assign attach balance bind build cancel check clear close collect compare compress compute copy
		count create decode delete deliver detach detect drain drop emit encode evict expand export fetch fill filter find flush format
		gather handle hash import init insert join limit list load lock map mark match measure merge move normalize notify open pack parse
		poll predict prepare process prune publish pull push query read rebuild reduce refresh register release remove rename render replace
		report reset resize resolve restore retry rotate route run sample save scan schedule score select send serve shift shrink sort split
		start stop store submit sum swap sync tokenize track train transform trim update upload validate verify wait walk warm watch wrap write`),
		"adjective": words(`active atomic average best closed cold current default dirty empty expired external fast final first fresh full global
		hot idle inner internal invalid last latest lazy local locked max min missing next old open outer pending primary private public random
		raw ready recent remote safe secondary shared single sorted stable stale static strict temporary total unique unknown upper valid warm`),
		"short": words("a b c i j k n m p q r s t v x y"),
		"module": words("api auth billing catalog cli core db events gateway ingest inventory jobs mail media metrics " +
			"notify orders payments planner reports scheduler search storage sync tests tools users web"),
		"snake": {"«noun»", "«adjective»_«noun»", "«noun»_«noun»", "«verb»_«noun»", "«noun»_count", "«noun»_id",
			"is_«adjective»", "max_«noun»_size"},
		"Pascal": {"«Noun»", "«Adjective»«Noun»", "«Noun»«Noun»", "«Noun»Manager", "«Noun»Service", "«Noun»Store"},
		"camel": {"«noun»", "«adjective»«Noun»", "«noun»«Noun»", "«noun»Count", "«noun»Id", "is«Adjective»",
			"«verb»«Noun»"},
		"word": {"«noun»", "«adjective» «noun»", "«noun» «noun»"},
		"file": {"«module»/«noun»", "«module»/«noun»_«noun»", "src/«module»/«noun»", "internal/«module»/«noun»"},
		"why": {"«noun» is «adjective»", "the «noun» may be «adjective»", "no «noun» without a «adjective» «noun»",
			"«verb» the «noun» before the «noun»",
			"cannot «verb» «word»: «noun» «number» is «adjective»",
			"the «adjective» «noun» does not «verb» the «noun» any more", "expected «small» «noun»s, found «number»"},
		"literal": {"«number»", "«small»", "0", "1", "«small».«digit»", `"«noun»"`, `"«noun»/«noun»"`, `"«why»"`},
		"math":    words("+ - * / %"),
		"compare": words("== != < > <= >="),
		"level":   words("DEBUG INFO INFO INFO WARN ERROR"),
		"type":    words("int string bool float64 []byte []string int64 error"),
		"status":  words("200 200 200 201 204 301 304 400 401 404 409 429 500 503"),
		"method":  words("GET GET GET POST PUT DELETE PATCH"),
		"sqltype": {"BIGINT NOT NULL", "TEXT", "VARCHAR(«small»)", "TIMESTAMP DEFAULT now()", "NUMERIC(12, 2)",
			"BOOLEAN DEFAULT false", "JSONB"},
	})
}

// withCapitals adds the documents, and the words with a capital letter.
func withCapitals(rules map[string][]string) map[string][]string {
	maps.Copy(rules, templates())
	for _, rule := range []string{"Noun", "Verb", "Adjective"} {
		for _, word := range rules[strings.ToLower(rule)] {
			rules[rule] = append(rules[rule], strings.ToUpper(word[:1])+word[1:])
		}
	}
	return rules
}
