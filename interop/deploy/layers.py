"""Unpacks an image: layers.py ARCHIVE ARCHITECTURE TAG FOLDER. The archive has one name and, for each architecture, an image."""

import hashlib
import io
import json
import sys
import tarfile

archive, architecture, tag, folder = sys.argv[1:]
with tarfile.open(archive) as tar:

    def blob(descriptor):
        kind, digest = descriptor["digest"].split(":")
        data = tar.extractfile(f"blobs/{kind}/{digest}").read()
        assert hashlib.new(kind, data).hexdigest() == digest and len(data) == descriptor["size"], descriptor
        return data

    (named,) = json.load(tar.extractfile("index.json"))["manifests"]
    assert named["annotations"]["org.opencontainers.image.ref.name"] == tag, named
    assert named["annotations"]["io.containerd.image.name"] == f"docker.io/library/aiperf:{tag}", named
    (image,) = [m for m in json.loads(blob(named))["manifests"] if m["platform"]["architecture"] == architecture]
    manifest = json.loads(blob(image))
    config = json.loads(blob(manifest["config"]))
    assert config["config"]["User"] == "1000:1000" and config["config"]["Entrypoint"] == ["/usr/bin/aiperf"], config
    for layer in manifest["layers"]:
        with tarfile.open(fileobj=io.BytesIO(blob(layer))) as files:
            files.extractall(folder, **({"filter": "tar"} if hasattr(tarfile, "tar_filter") else {}))
