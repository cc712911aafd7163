package control

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
)

// About is what a server says of itself.
type About struct {
	// Owner is what it calls itself: the owner of the first model that it lists, or the name in its metadata; "" if it
	// does not say.
	Owner string
	// Models are those that it lists, Loaded those of them that it says are in memory; nil where it does not say.
	Models, Loaded []string
}

// The owners of models in the lists of servers that list more than they have in memory.
const (
	ollamaOwner   = "library"
	lmStudioOwner = "organization_owner"
	dynamoOwner   = "nvidia"
)

// AskAbout asks a server what it is. The error is that of the list of models, if nothing else is known.
func (o Options) AskAbout(ctx context.Context, base string) (About, error) {
	origin, err := Origin(base)
	if err != nil {
		return About{}, err
	}
	models, _, err := o.listModels(ctx, base)
	if err != nil {
		if name := o.protocolName(ctx, origin); name != "" {
			return About{Owner: name}, nil
		}
		return About{}, err
	}
	a := About{Models: models.names()}
	if len(models) > 0 {
		a.Owner = models[0].Owner
	}
	switch a.Owner {
	case ollamaOwner:
		var running struct {
			Models []struct {
				Name string `json:"name"`
			} `json:"models"`
		}
		if o.page(ctx, origin+"/api/ps", &running) {
			for _, m := range running.Models {
				a.Loaded = append(a.Loaded, m.Name)
			}
		}
	case lmStudioOwner:
		var known struct {
			Data []struct{ ID, State string } `json:"data"`
		}
		if o.page(ctx, origin+"/api/v0/models", &known) {
			for _, m := range known.Data {
				if m.State == "loaded" {
					a.Loaded = append(a.Loaded, m.ID)
				}
			}
		}
	}
	return a, nil
}

// protocolName is what a server of the open inference protocol calls itself; "" if it is none.
func (o Options) protocolName(ctx context.Context, origin string) string {
	var server struct {
		Name string `json:"name"`
	}
	o.page(ctx, origin+"/v2", &server)
	return server.Name
}

// Worker is a process behind Dynamo's frontend.
type Worker struct {
	// ID is its number, in hexadecimal digits as on its metrics page. Address is host:port of its requests.
	ID, Address string
}

// maxWorkers bounds those that are read of a list.
const maxWorkers = 10_000

// Workers returns the workers that a frontend of Dynamo knows, in its order; none of other servers.
func (o Options) Workers(ctx context.Context, base string) (list []Worker) {
	var health struct {
		Instances []struct {
			Endpoint  string            `json:"endpoint"`
			ID        uint64            `json:"instance_id"`
			Transport map[string]string `json:"transport"`
		} `json:"instances"`
	}
	origin, err := Origin(base)
	if err != nil || !o.page(ctx, origin+"/health", &health) {
		return nil
	}
	for _, i := range health.Instances[:min(len(health.Instances), maxWorkers)] {
		if i.Endpoint == "generate" && i.ID != 0 {
			address, _, _ := strings.Cut(i.Transport["tcp"], "/")
			list = append(list, Worker{ID: strconv.FormatUint(i.ID, 16), Address: address})
		}
	}
	return list
}

// IsTriton reports whether a server calls itself Triton.
func (o Options) IsTriton(ctx context.Context, base string) bool {
	origin, err := Origin(base)
	return err == nil && o.protocolName(ctx, origin) == "triton"
}

// IsRouter reports whether a server is SGLang's router, or one that was made from it: it lists its workers.
func (o Options) IsRouter(ctx context.Context, base string) bool {
	var list struct {
		Workers []struct {
			URL string `json:"url"`
		} `json:"workers"`
	}
	origin, err := Origin(base)
	return err == nil && o.page(ctx, origin+"/workers", &list) && len(list.Workers) > 0 && list.Workers[0].URL != ""
}

// page reads a JSON document of a server; false if there is none.
func (o Options) page(ctx context.Context, address string, to any) bool {
	got := o.get(ctx, address)
	return got.ok() && json.Unmarshal([]byte(got.body), to) == nil
}
