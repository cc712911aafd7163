package config

import (
	"net/url"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/settings"
)

// Redactor hides every secret of the configuration: see [Run.Secrets]. Members of request bodies that the
// user named as secrets are hidden by name, too.
func (r *Run) Redactor() *artifact.Redactor {
	var names []string
	settings.EachSensitive(r.Endpoint.Extra, func(name string, _ any) { names = append(names, name) })
	return artifact.NewRedactor(r.Secrets()...).WithMembers(names...)
}

// Secrets are the values that must not appear in any file or on the screen: the API key, the values
// under sensitive names in headers, request bodies, tags and addresses, and the credentials in the
// environment that the program reads.
func (r *Run) Secrets() []string {
	var c settings.Secrets
	c.Add(r.Endpoint.APIKey)
	for _, h := range r.Endpoint.Headers {
		c.Header(h.Name, h.Value)
	}
	for _, list := range r.Endpoint.URLHeaders {
		for _, h := range list {
			c.Header(h.Name, h.Value)
		}
	}
	c.Members(r.Endpoint.Extra)
	for _, u := range r.Endpoint.URLs {
		c.Address(u)
	}
	for _, x := range r.GPU.Exporters {
		c.Address(x.URL)
	}
	for _, a := range append(append([]Attribute(nil), r.OTel.Attributes...), r.MLflow.Tags...) {
		if artifact.IsSensitiveName(a.Name) {
			c.Add(a.Value)
		}
	}
	for _, u := range []*url.URL{r.OTel.URL, r.MLflow.URI} {
		if u != nil {
			c.Address(u.String())
		}
	}
	if r.Asked != nil {
		c.Settings(r.Asked)
		c.Add(r.Asked.Hidden...)
		c.Environment(r.Asked.Environ)
	}
	return c.List
}
