package control

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"aiperf/internal/base/terminal"
	"aiperf/internal/wire/client"
)

// maxListed and maxName bound how many models a message names, and the length of a name in characters.
const (
	maxListed = 20
	maxName   = 100
)

// ListModels asks a server for its models. Base is what a user gives as URL: an origin, the base of an API that ends in
// /v1, or the whole address of a request. The returned address is the one that answered, without secrets.
func (o Options) ListModels(ctx context.Context, base string) (names []string, from string, err error) {
	models, from, err := o.listModels(ctx, base)
	return models.names(), from, err
}

// ModelRoot asks a server where a model comes from that it serves under another name: a path, or a name on the hub; "" if
// it does not say.
func (o Options) ModelRoot(ctx context.Context, base, model string) string {
	models, _, _ := o.listModels(ctx, base)
	for _, m := range models {
		if m.ID == model && m.Root != model {
			return m.Root
		}
	}
	return ""
}

// ModelContext asks a server for the length in tokens of the context of a model; 0 if it does not say.
func (o Options) ModelContext(ctx context.Context, base, model string) (int64, error) {
	models, _, err := o.listModels(ctx, base)
	for _, m := range models {
		if m.ID == model {
			return m.Context, nil
		}
	}
	return 0, err
}

func (o Options) listModels(ctx context.Context, base string) (models modelList, from string, err error) {
	addresses, err := modelLists(base)
	if err != nil {
		return nil, "", err
	}
	for _, address := range addresses {
		got := o.send(ctx, &client.Request{Method: http.MethodGet, URL: address,
			Headers: o.Headers(address, false, "")}, listLimit)
		if models, ok := readModels(got.body); got.ok() && ok {
			return models, shown(address), nil
		}
		if err == nil { // the first address is the likeliest
			err = fmt.Errorf("%s does not list its models: %s", shown(address), unexpectedReply(&got))
		}
		if got.err != nil {
			break // no server answers
		}
	}
	return nil, "", err
}

// unexpectedReply describes a reply that is not a list of models.
func unexpectedReply(got *reply) string {
	switch {
	case got.ok():
		return "it answers " + got.String() + ", which is not a list of models"
	case got.err != nil:
		return terminal.Text(got.String())
	}
	return "it answers " + terminal.Text(got.String())
}

// modelLists are the addresses at which a server may list its models, the likeliest first.
func modelLists(base string) ([]string, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("a URL of the run has no host")
	}
	origin, err := Origin(base)
	if err != nil {
		return nil, err
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	if i := strings.LastIndex(path+"/", "/v1/"); i >= 0 {
		path = path[:i]
	}
	query := ""
	if u.RawQuery != "" {
		query = "?" + u.RawQuery
	}
	list := []string{origin + path + "/v1/models" + query}
	if last := origin + "/v1/models" + query; !slices.Contains(list, last) {
		list = append(list, last)
	}
	return list, nil
}

// Listed names models in a message: some of them, if they are many, and nothing in them that steers a terminal.
func Listed(names []string) string {
	if len(names) == 0 {
		return "no model"
	}
	var list []string
	for _, name := range names[:min(len(names), maxListed)] {
		text := []rune(terminal.Text(name))
		if len(text) > maxName {
			text = append(text[:maxName], '…')
		}
		list = append(list, string(text))
	}
	text := strings.Join(list, ", ")
	if more := len(names) - len(list); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	if len(names) == 1 {
		return "the model " + text
	}
	return fmt.Sprintf("%d models: %s", len(names), text)
}

// modelList is a server's list of its models.
type modelList []struct {
	ID    string `json:"id"`
	Owner string `json:"owned_by"`
	Root  string `json:"root"`
	// Context is named as vLLM and SGLang do.
	Context int64 `json:"max_model_len"`
}

func (l modelList) names() []string {
	if l == nil {
		return nil
	}
	names := make([]string, len(l))
	for i, m := range l {
		names[i] = m.ID
	}
	return names
}

// owner is the owner of a model; "" if the list has none.
func (l modelList) owner(name string) string {
	for i := range l {
		if l[i].ID == name {
			return l[i].Owner
		}
	}
	return ""
}

// readModels reads {"data":[{"id":…}]}; false if the text is nothing of the kind.
func readModels(text string) (modelList, bool) {
	var list struct {
		Data modelList `json:"data"`
	}
	if json.Unmarshal([]byte(text), &list) != nil || list.Data == nil {
		return nil, false
	}
	return list.Data, true
}
