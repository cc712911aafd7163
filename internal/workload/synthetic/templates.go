package synthetic

// kinds are the kinds of document.
var kinds = []string{
	"python", "pyclass", "training", "pytest", "traceback", "go", "gotest", "panic", "rust", "typescript", "java", "c",
	"shell", "session",
	"build", "json", "yaml", "toml", "sql", "migration", "diff", "dockerfile", "access", "service", "talk", "toolcall",
	"history", "manual",
}

// templates returns the documents and their pieces. Names that a document uses again carry a number (#1).
func templates() map[string][]string {
	return map[string][]string{
		// Python
		"python": {"import «pymodule»\nfrom «module».«noun» import «Pascal#1», «snake#9»\n\n\ndef " +
			"«verb»_«snake#1»(«snake#2», «snake#3»=«literal»):\n    \"\"\"«Verb» the «word»: «why».\"\"\"\n«pyline*3-9»  " +
			"  return «pyexpr»\n\n\n«pyfunc*1-3»"},
		"pyclass": {"class «Pascal#1»(«Pascal#2»):\n    «snake#1»: int = «number»\n    «snake#2»: str | None = None\n\n  " +
			"  def __init__(self, «snake#1», «snake#2», *, «snake#3»=«literal»):\n        self.«snake#1» = «snake#1»\n   " +
			"     self._«snake#2» = «snake#2»\n        self._lock = threading.Lock()\n\n«pymethod*2-5»"},
		"pymethod": {"    def «verb»_«snake»(self, «snake#4»):\n        with self._lock:\n            if «snake#4» is " +
			"None or self.«snake#1» «compare» «number»:\n                raise ValueError(f\"«why»: {«snake#4»!r}\")\n   " +
			"         self._«snake#2»[«snake#4»] = «pyexpr»\n        return self.«snake#1»\n\n",
			"    @property\n    def «snake»(self):\n        return [«short» for «short» in self._«snake#2» if «short» " +
				"«compare» self.«snake#1»]\n\n"},
		"pyfunc": {"async def «verb»_«noun»(«snake#4», timeout=«small»):\n    async with «snake#4».«verb»() as " +
			"«short»:\n        while not «snake#4».«adjective»:\n            await asyncio.sleep(«small» / " +
			"10)\n«pyline*2-5»    return «pyexpr»\n\n\n"},
		"pymodule": words("asyncio json logging os re sys time threading dataclasses itertools functools pathlib random subprocess"),
		"pyexpr": {"«snake#2»", "«snake#3» «math» «number»", "len(«snake#2»)", "«verb»(«snake#2», «literal»)",
			"{\"«noun»\": «snake#3», \"«noun»\": «literal»}", "[«snake» for «snake» in «snake#2»]",
			"sorted(«snake#2», key=lambda «short»: «short».«noun»)"},
		"pyline": {"    «snake» = «pyexpr»\n",
			"    if «snake#3» «compare» «literal»:\n        logger.warning(\"«why»\")\n        return None\n",
			"    for «short» in range(«small»):\n        «snake#2».«verb»(«short»)\n",
			"    # «why»\n", "    try:\n        «snake» = «verb»_«noun»(«snake#3»)\n    except KeyError as error:\n      " +
				"  raise «Pascal»Error(\"«why»\") from error\n"},
		"training": {"model = «Pascal#1»(layers=«small», hidden=«number», heads=«small»).to(device)\noptimizer = " +
			"AdamW(model.parameters(), lr=«small»e-5, weight_decay=0.0«digit»)\nscheduler = cosine(optimizer, " +
			"warmup=«number»)\n\nfor epoch in range(«small»):\n    model.train()\n    for step, («noun#1», «noun#2») in " +
			"enumerate(loader):\n        logits = model(«noun#1».to(device), mask=«noun#2»)\n        loss = " +
			"cross_entropy(logits.view(-1, logits.size(-1)), «noun#2».view(-1), ignore_index=-100)\n        " +
			"loss.backward()\n        clip_grad_norm_(model.parameters(), 1.0)\n        optimizer.step(); " +
			"scheduler.step(); optimizer.zero_grad(set_to_none=True)\n\n«epoch*3-9»"},
		"epoch": {"epoch «small» step «number» loss «digit».«number» lr «digit».«digit»e-05 grad «digit».«digit»«digit» " +
			"«number» tokens/s\n"},
		"pytest": {"============================= test session starts ==============================\ncollected «number» " +
			"items\n\n«dots*3-8»\n=================================== FAILURES " +
			"===================================\n_______________ test_«verb»_«snake#1» _______________\n\n    def " +
			"test_«verb»_«snake#1»():\n        «noun#1» = «Pascal»(«literal»)\n>       assert «noun#1».«verb»() == " +
			"«literal»\nE       AssertionError: assert «literal» == «literal»\n\ntests/test_«noun».py:«line»: " +
			"AssertionError\n=========================== short test summary info ============================\nFAILED " +
			"tests/test_«noun».py::test_«verb»_«snake#1» - AssertionError\n========================= 1 failed, «number» " +
			"passed in «ms»s =========================\n"},
		"dots": {"tests/test_«noun».py ........«dot*1-30» [ «small»%]\n"}, "dot": {".", ".", ".", ".", "s", "F"},
		"traceback": {"Traceback (most recent call last):\n«frame*3-9»«Pascal»Error: «why»\n"},
		"frame": {"  File \"/app/«file».py\", line «line», in «verb»_«noun»\n    «snake» = self.«verb»(«snake», " +
			"«literal»)\n", "  File \"/app/«file».py\", line «line», in <module>\n    main(«snake»)\n"},
		// Go
		"go": {"package «module#1»\n\nimport (\n\t\"context\"\n\t\"errors\"\n\t\"fmt\"\n)\n\n// «Pascal#1» «verb»s " +
			"the «word»; «why».\ntype «Pascal#1» struct {\n«gofield*2-6»}\n\nvar Err«Adjective#1» = " +
			"errors.New(\"«module#1»: «why»\")\n\n«gofunc*2-4»"},
		"gofield": {"\t«camel» «type»\n", "\t«Pascal» map[string]«type» // «why»\n"},
		"gofunc": {"func («short#1» *«Pascal#1») «Verb»«Noun»(ctx context.Context, «camel#1» «type») (int, error) " +
			"{\n«goline*2-6»\treturn len(«short#1».«camel#1»), nil\n}\n\n"},
		"goline": {"\tif «camel#1» «compare» «number» {\n\t\treturn 0, fmt.Errorf(\"«verb» «noun» %v: %w\", «camel#1», " +
			"Err«Adjective#1»)\n\t}\n", "\tfor i, «short» := range «short#1».«camel» {\n\t\tselect {\n\t\tcase «camel» " +
			"<- «short»:\n\t\tcase <-ctx.Done():\n\t\t\treturn i, ctx.Err()\n\t\t}\n\t}\n",
			"\t«camel» := «short#1».«verb»(«literal»)\n", "\t«short#1».mu.Lock()\n\tdefer «short#1».mu.Unlock()\n",
			"\t// «why»\n"},
		"gotest": {"«gorun*5-20»FAIL\nFAIL\t«module»/«noun»\t«ms»s\n«gook*3-9»"},
		"gorun": {"=== RUN   Test«Pascal»/«noun»_«noun»\n", "    «noun»_test.go:«line»: got «number», want «number»\n",
			"--- PASS: Test«Pascal» («ms»s)\n", "--- FAIL: Test«Pascal» («ms»s)\n"},
		"gook": {"ok  \t«module»/«noun»\t«ms»s\n", "?   \t«module»/«noun»\t[no test files]\n"},
		"panic": {"panic: runtime error: index out of range [«number»] with length «number»\n\ngoroutine «number» " +
			"[running]:\n«goframe*4-12»exit status 2\n"},
		"goframe": {"«module»/«noun».(*«Pascal»).«Verb»«Noun»(0xc000«hex», {0x«hex», " +
			"0x«small»})\n\t/src/«file».go:«line» +0x«small»f\n"},
		// Rust, TypeScript, Java, C
		"rust": {"use std::collections::HashMap;\nuse crate::«module»::{«Pascal#2», Result};\n\n#[derive(Debug, " +
			"Clone)]\npub struct «Pascal#1» {\n    «snake#1»: HashMap<String, «Pascal#2»>,\n    «snake#2»: " +
			"Option<u64>,\n}\n\nimpl «Pascal#1» {\n«rustfn*2-5»}\n"},
		"rustfn": {"    /// «why».\n    pub fn «verb»_«noun»(&mut self, «snake#3»: &str) -> Result<u64> {\n        " +
			"let «snake#4» = self.«snake#1».get(«snake#3»).ok_or_else(|| anyhow!(\"«why»\"))?;\n        match " +
			"«snake#4».«noun» {\n            Some(«short#1») if «short#1» «compare» «number» => Ok(«short#1» «math» " +
			"«small»),\n            _ => Err(Error::«Adjective»(«snake#4».clone())),\n        }\n    }\n\n"},
		"typescript": {"import { «Pascal#1», «camel#1» } from \"../«module»/«noun»\";\n\nexport interface «Pascal#2» " +
			"{\n«tsfield*2-6»}\n\nexport async function «verb»«Noun»(«camel#2»: «Pascal#2»[], limit = «number»): " +
			"Promise<«Pascal#1»> {\n  const «camel#3» = «camel#2».filter((«short#1») => «short#1».«camel» !== " +
			"«literal»).slice(0, limit);\n  if («camel#3».length === 0) {\n    throw new Error(`«why»: " +
			"${«camel#2».length}`);\n  }\n  const response = await fetch(`/api/«noun»s/${«camel#3»[0].id}`, { method: " +
			"\"«method»\" });\n  return response.json();\n}\n\n«component*0-2»"},
		"tsfield": {"  «camel»: string;\n", "  «camel»?: number;\n", "  readonly «camel»: Array<«Pascal»>;\n",
			"  «camel»: \"«noun»\" | \"«noun»\" | null; // «why»\n"},
		"component": {"export function «Pascal#3»({ «camel#4», on«Verb» }: Props) {\n  const [«camel#5», set«Noun»] = " +
			"useState(«literal»);\n  return (\n    <section className=\"«noun»-«noun»\">\n      " +
			"{«camel#4».map((«short#2») => (\n        <li key={«short#2».id} onClick={() => " +
			"on«Verb»(«short#2»)}>{«short#2».«camel»}</li>\n      ))}\n    </section>\n  );\n}\n\n"},
		"java": {"package com.example.«module»;\n\npublic final class «Pascal#1» implements «Pascal» {\n    " +
			"private final Map<String, «Pascal#2»> «camel#1» = new ConcurrentHashMap<>();\n    private volatile long " +
			"«camel#2» = «number»L;\n\n«javamethod*2-5»}\n"},
		"javamethod": {"    /** «Verb»s the «word»; «why». */\n    public Optional<«Pascal#2»> «verb»«Noun»(String " +
			"«camel#3», int «camel#4») {\n        if («camel#4» «compare» «number») {\n            throw new " +
			"IllegalStateException(\"«why»\");\n        }\n        return " +
			"Optional.ofNullable(«camel#1».get(«camel#3»));\n    }\n\n"},
		"c": {"#include <stdint.h>\n#include \"«noun#1».h\"\n\n#define MAX_«noun» «number»\n\nstruct «snake#1» {\n   " +
			" uint32_t «snake#2»;\n    const char *«snake#3»;\n};\n\n«cfunc*2-4»"},
		"cfunc": {"/* «why» */\nstatic int «noun#1»_«verb»_«noun»(struct «snake#1» *«short#1», size_t «short#2»)\n{\n    " +
			"for (size_t i = 0; i < «short#2»; i++) {\n        if («short#1»[i].«snake#2» «compare» «number»u)\n         " +
			"   return -«small»;\n        memcpy(buf + i * sizeof(*«short#1»), &«short#1»[i], sizeof(*«short#1»));\n    " +
			"}\n    return 0;\n}\n\n"},
		// Shells, logs, settings
		"shell": {"#!/usr/bin/env bash\nset -euo pipefail\n\n«noun#1»=${1:-«noun»}\nfor «short#1» in $(seq 1 " +
			"«small»); do\n    if ! curl -fsS \"http://localhost:«number»/«noun»/$«short#1»\" -o " +
			"\"/tmp/«noun».$«short#1».json\"; then\n        echo \"«why»\" >&2\n        sleep «small»\n        " +
			"continue\n    fi\n    jq -r '.«noun»[] | select(.«noun» > «number») | .«noun»' " +
			"\"/tmp/«noun».$«short#1».json\" | sort -u >>\"$«noun#1».txt\"\ndone\n"},
		"session": {"«prompt*3-9»"},
		"prompt": {"$ ls -l «file»\n«ls*2-6»", "$ grep -rn \"«snake»\" «module»/\n«grep*2-7»",
			"$ git status --short\n M «file».py\n?? «file».go\n",
			"$ make «verb»\nmake: *** [Makefile:«line»: «verb»] Error «small»\n", "$ cat «file».txt | wc -l\n«number»\n"},
		"ls":    {"-rw-r--r-- 1 app app «number» «date» «noun».«short»«short»\n"},
		"grep":  {"«file».py:«line»:    «snake» = «snake»(«literal»)\n"},
		"build": {"«buildline*6-18»"},
		"buildline": {"[«small»/«number»] Compiling «module»/«noun».cc.o\n",
			"«file».cc:«line»:«small»: warning: unused variable '«snake»' [-Wunused-variable]\n",
			"«file».cc:«line»:«small»: error: no member named '«snake»' in '«Pascal»'\n",
			"[«small»/«number»] Linking lib«noun».so\n"},
		"json": {"{\n  \"id\": \"«hex»-«hex»\",\n  \"«noun»\": «number»,\n  \"«noun»s\": [\n«jsonitem*2-8»    " +
			"{\"«noun»\": null}\n  ],\n  \"«adjective»\": true\n}\n"},
		"jsonitem": {"    {\"«snake»\": «literal», \"«noun»\": {\"«noun»\": «number», \"at\": \"«date»T«time»Z\"}, " +
			"\"tags\": [\"«noun»\", \"«adjective»\"]},\n"},
		"yaml": {"# «why»\napiVersion: v1\nkind: «Noun»\nmetadata:\n  name: «noun»-«noun»\n  labels: {app: «noun», " +
			"tier: «adjective»}\nspec:\n  replicas: «small»\n  «noun»s:\n«yamlitem*2-7»"},
		"yamlitem": {"    - name: «noun»-«small»\n      image: " +
			"registry.local/«module»/«noun»:«small».«digit».«digit»\n      env:\n        - {name: «noun»_limit, value: " +
			"\"«number»\"}\n      ports: [«number»]\n"},
		"toml": {"[«module»]\n«tomline*3-8»\n[«module».«noun»]\n«tomline*3-8»"},
		"tomline": {"«snake» = «literal»\n", "«snake» = [\"«noun»\", \"«noun»\"]  # «why»\n",
			"«snake» = { «noun» = «number», «noun» = true }\n"},
		"service": {"«logline*8-30»"},
		"logline": {"«date»T«time»Z «level» «module».«noun» «why»\n",
			"«date»T«time»Z «level» «module».«noun» «verb» took «ms» ms «noun»=«hex» attempt=«small»\n",
			"«date»T«time»Z «level» «module».«noun» {\"«noun»\": «number», \"«noun»\": \"«hex»\"}\n"},
		"access": {"«accessline*8-25»"},
		"accessline": {"10.«small».«digit».«small» - - [«date» «time»] \"«method» /«module»/«noun»/«number» HTTP/1.1\" " +
			"«status» «number» \"-\" «ms»\n"},
		"dockerfile": {"FROM debian:stable-slim AS «noun#1»\nWORKDIR /«module»\nCOPY «noun».lock «noun».toml ./\nRUN " +
			"apt-get update && apt-get install -y --no-install-recommends «noun»-dev && rm -rf " +
			"/var/lib/apt/lists/*\nCOPY . .\nRUN make «verb» && make test\n\nFROM scratch\nCOPY --from=«noun#1» " +
			"/«module»/bin/«noun» /«noun»\nENV «noun»_LIMIT=«number»\nEXPOSE «number»\nENTRYPOINT [\"/«noun»\", " +
			"\"--«verb»\", \"«noun»\"]\n"},
		// Data bases
		"sql": {"WITH «adjective»_«noun#1» AS (\n  SELECT «short#1».«snake#1», count(*) AS n, " +
			"avg(«short#1».«snake#2») AS mean\n  FROM «noun#1»s «short#1»\n  WHERE «short#1».«snake#3» > «number» AND " +
			"«short#1».created_at >= '«date»'\n  GROUP BY «short#1».«snake#1»\n)\nSELECT «noun#2».name, " +
			"«noun#2».«snake», coalesce(n, 0)\nFROM «noun#2»s AS «noun#2»\nLEFT JOIN «adjective»_«noun#1» USING " +
			"(«snake#1»)\nORDER BY n DESC\nLIMIT «small»;\n\n«sqlrow*3-9»(«number» rows)\n"},
		"sqlrow": {" «noun»-«small» | «number» | «ms» | «date» \n"},
		"migration": {"BEGIN;\nCREATE TABLE «noun#1»s (\n  id BIGSERIAL PRIMARY KEY,\n«sqlcolumn*3-9»  updated_at " +
			"TIMESTAMP\n);\nCREATE INDEX «noun#1»s_«snake#1» ON «noun#1»s («snake#1») WHERE «snake#1» IS NOT " +
			"NULL;\nALTER TABLE «noun»s ADD COLUMN «noun#1»_id BIGINT REFERENCES «noun#1»s (id) ON DELETE CASCADE; -- " +
			"«why»\nCOMMIT;\n"},
		"sqlcolumn": {"  «snake» «sqltype»,\n"},
		// Work on code
		"diff": {"diff --git a/«file#1».py b/«file#1».py\nindex «hex»..«hex» 100644\n--- a/«file#1».py\n+++ " +
			"b/«file#1».py\n«hunk*1-4»"},
		"hunk": {"@@ -«line»,«small» +«line»,«small» @@ def «verb»_«noun»(«snake#2»):\n     «snake#2» = " +
			"«pyexpr»\n«change*2-7»     return «snake#2»\n"},
		"change": {"-    «snake» = «pyexpr»\n", "+    «snake» = «pyexpr»\n", "     «snake» = «pyexpr»\n",
			"+    # «why»\n", "-    if «snake» «compare» «literal»:\n+    if «snake» «compare» «literal» and «snake»:\n"},
		"talk": {"«ask»\n\n«answer*1-3»"},
		"ask": {"The «adjective» «noun» fails when I «verb» a «noun» in `«file».py`: «why». Can you find out why " +
			"and fix it?", "Please «verb» the `«Pascal»` so that it does not «verb» the «noun» twice, and add a test for " +
			"the «adjective» case.", "Why does `«verb»_«noun»` take «ms» ms for «number» «noun»s? It was «small» ms " +
			"before we «verb»ed the «noun»."},
		"answer": {"I will look at `«file».go` first. `«Verb»«Noun»` holds the «noun» while it «verb»s, so " +
			"«why».\n\n```go\n«gofunc»```\n\n",
			"The cause is in line «line»: «why». This change should do:\n\n```python\n«pyfunc»```\n\nAll «number» tests " +
				"pass now.\n\n", "Two things happen here. First, «why». Second, the «word» is «verb»ed before the «noun» " +
				"is «adjective», which explains the «number» «noun»s in the log.\n\n"},
		"toolcall": {"«call*2-5»"},
		"call": {"{\"tool\": \"read_file\", \"arguments\": {\"path\": \"«file».rs\", \"offset\": «line», \"limit\": " +
			"«number»}}\n«rustfn»", "{\"tool\": \"run\", \"arguments\": {\"command\": \"grep -rn «snake» " +
			"«module»\"}}\n«grep*2-6»",
			"{\"tool\": \"edit\", \"arguments\": {\"path\": \"«file».py\", \"old\": \"«snake» = «number»\", \"new\": " +
				"\"«snake» = «number»  # «why»\"}}\nok\n"},
		"history": {"«commit*3-9»"},
		"commit": {"commit «hex»«hex»«hex»\nDate:   «date» «time»\n\n    «module»: «verb» the «word»\n\n    «Why». " +
			"«Why».\n\n «file».go | «small» ++--\n\n"},
		"Why": {"The «noun» is «adjective» now", "A «adjective» «noun» no longer «verb»s the «noun»",
			"This makes «verb»ing a «noun» «small» times faster"},
		"manual": {"# «Adjective» «noun»s\n\nA «noun» is «adjective» until the «noun» «verb»s it. «Why».\n\n| Setting | " +
			"Default | Meaning |\n|---|---|---|\n«setting*3-8»\n## «Verb» a «noun»\n\n    «module» «verb» --«noun» " +
			"«number» --«adjective»\n\n1. «Verb» the «noun».\n2. «Verb» each «adjective» «noun»; «why».\n\n"},
		"setting": {"| `«snake»` | `«literal»` | «why» |\n"},
	}
}
