"""The replies of internal/wire/endpoint/testdata/conversations are replies of the APIs that they name as their source:
each must be an object of that class of the official package. Usage: conversations.py DIR"""
import glob
import importlib
import json
import os
import re
import sys

import pydantic

checked, failed = 0, 0
for path in sorted(glob.glob(f"{sys.argv[1]}/*.txtar")):
    text = open(path, encoding="utf-8", errors="surrogateescape").read()
    named = re.search(r"\(PyPI\), ([a-z_.]+)\.([A-Z]\w+)|\b(openai\.types\.chat)\.([A-Z]\w+)$", text.splitlines()[0])
    if not named:
        continue  # an API without a package: the page of its description is named
    module, cls = named.group(1) or named.group(3), named.group(2) or named.group(4)
    shape = getattr(importlib.import_module(module), cls)
    reply = re.search(r"^-- reply --\n(.*?)(?=^-- |\Z)", text, re.S | re.M).group(1)
    if "streaming: true" in text:
        data = [line[len("data: "):] for line in reply.splitlines() if line.startswith("data: ")]
        documents = [json.loads(d) for d in data if d != "[DONE]"]
    else:
        documents = [json.loads(reply)]
    for document in documents:
        try:
            if hasattr(shape, "parse_obj_as_instance"):
                missing = [f for f in ("token", "generated_text") if f not in document and f in shape.__dataclass_fields__]
                if missing:
                    raise ValueError(f"lacks {missing}")
                shape.parse_obj_as_instance(document)
            else:
                pydantic.TypeAdapter(shape).validate_python(document)
            checked += 1
        except (ValueError, TypeError) as e:
            failed += 1
            print("FAIL", os.path.basename(path), json.dumps(document)[:200], "\n", str(e)[:800])
print(f"{checked:3d} replies and events of golden conversations")
sys.exit(failed > 0 or checked == 0)
