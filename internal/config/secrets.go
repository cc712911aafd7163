package config

import (
	"net/url"

	"aiperf/internal/base/artifact"
)

// Redactor hides every secret of the configuration: see [Run.Secrets]. Members of request bodies that the
// user named as secrets are hidden by name, too.
func (r *Run) Redactor() *artifact.Redactor {
	var names []string
	eachSensitive(r.Endpoint.Extra, func(name string, _ any) { names = append(names, name) })
	return artifact.NewRedactor(r.Secrets()...).WithMembers(names...)
}

// Secrets are the values that must not appear in any file or on the screen: the API key, what stands
// under sensitive names in headers, request bodies, tags and addresses, and the credentials in the
// environment that the program reads.
func (r *Run) Secrets() []string {
	var c collector
	c.add(r.Endpoint.APIKey)
	for _, h := range r.Endpoint.Headers {
		c.header(h.Name, h.Value)
	}
	c.members(r.Endpoint.Extra)
	for _, u := range r.Endpoint.URLs {
		c.address(u)
	}
	for _, x := range r.GPU.Exporters {
		c.address(x.URL)
	}
	for _, a := range append(append([]Attribute(nil), r.OTel.Attributes...), r.MLflow.Tags...) {
		if artifact.IsSensitiveName(a.Name) {
			c.add(a.Value)
		}
	}
	for _, u := range []*url.URL{r.OTel.URL, r.MLflow.URI} {
		if u != nil {
			c.address(u.String())
		}
	}
	if r.parsed != nil {
		c.settings(r.parsed)
		c.environment(r.parsed.lookup)
	}
	return c.list
}
