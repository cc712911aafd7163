// Package sbom lists what a program was built of, in the format SPDX 2.3.
package sbom

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"aiperf/tools/programs"
)

// licences are those of modules, by "PATH VERSION", as the text that aiperf licenses prints has them.
func licences() (map[string]string, error) {
	text, err := os.ReadFile(filepath.Join(programs.Root, programs.Licences))
	if err != nil {
		return nil, err
	}
	known := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, licence, found := strings.Cut(strings.TrimSpace(line), ": "); found && strings.HasPrefix(line, "  ") {
			known[name] = licence
		}
	}
	return known, nil
}

// Of returns the list of a program: the modules that it was built of, each with its licence.
func Of(code []byte, version string) ([]byte, error) {
	known, err := licences()
	if err != nil {
		return nil, err
	}
	info, err := buildinfo.Read(bytes.NewReader(code))
	if err != nil {
		return nil, err
	}
	type object = map[string]any
	part := func(id, name, version, licence string) object {
		if licence == "" {
			licence = "NOASSERTION"
		}
		return object{"SPDXID": id, "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
			"filesAnalyzed": false, "licenseConcluded": "NOASSERTION", "licenseDeclared": licence,
			"copyrightText": "NOASSERTION", "externalRefs": []any{object{"referenceCategory": "PACKAGE-MANAGER",
				"referenceType": "purl", "referenceLocator": "pkg:golang/" + name + "@" + version}}}
	}
	packages := []any{part("SPDXRef-aiperf", info.Main.Path, version, "Apache-2.0"), part("SPDXRef-go", "stdlib",
		strings.TrimPrefix(info.GoVersion, "go"), known["The Go standard library"])}
	relations := []any{object{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
		"relatedSpdxElement": "SPDXRef-aiperf"}, object{"spdxElementId": "SPDXRef-aiperf",
		"relationshipType": "DEPENDS_ON", "relatedSpdxElement": "SPDXRef-go"}}
	for i, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		id := fmt.Sprintf("SPDXRef-module-%d", i)
		packages = append(packages, part(id, m.Path, m.Version, known[m.Path+" "+m.Version]))
		relations = append(relations, object{"spdxElementId": "SPDXRef-aiperf", "relationshipType": "DEPENDS_ON",
			"relatedSpdxElement": id})
	}
	sum := sha256.Sum256(code)
	return json.MarshalIndent(object{"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
		"name": "aiperf", "documentNamespace": fmt.Sprintf("https://spdx.org/spdxdocs/aiperf-%x", sum[:16]),
		"creationInfo": object{"created": "1970-01-01T00:00:00Z", "creators": []any{"Tool: aiperf-dist"}},
		"hasExtractedLicensingInfos": []any{object{"licenseId": "LicenseRef-public-domain", "name": "Public domain",
			"extractedText": "All these files have been put into the public domain."}},
		"packages": packages, "relationships": relations}, "", " ")
}
