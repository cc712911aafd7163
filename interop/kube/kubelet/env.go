package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// environment returns the variables of a container; an error names what they refer to and is missing.
func (p *pod) environment(ctx context.Context, spec *core.Container) ([]string, error) {
	object := p.get()
	env := []string{"PATH=/usr/local/bin:/usr/bin:/bin:/", "HOSTNAME=" + hostname(object),
		"KUBERNETES_SERVICE_HOST=" + p.k.gateway.String(), "KUBERNETES_SERVICE_PORT=" + p.k.apiPort}
	values := map[string]string{}
	set := func(name, value string) {
		values[name] = value
		env = slices.DeleteFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
		env = append(env, name+"="+value)
	}
	for _, from := range spec.EnvFrom {
		var data map[string]string
		var err error
		switch {
		case from.ConfigMapRef != nil:
			data, err = p.configMap(ctx, from.ConfigMapRef.Name)
		case from.SecretRef != nil:
			data, err = p.secret(ctx, from.SecretRef.Name)
		}
		if err != nil {
			return nil, err
		}
		for name, value := range data {
			set(from.Prefix+name, value)
		}
	}
	for _, e := range spec.Env {
		value := expand(e.Value, values)
		if e.ValueFrom != nil {
			var found bool
			var err error
			if value, found, err = p.valueFrom(ctx, e.ValueFrom, spec); err != nil {
				return nil, fmt.Errorf("variable %s: %w", e.Name, err)
			}
			if !found {
				continue
			}
		}
		set(e.Name, value)
	}
	return env, nil
}

func (p *pod) valueFrom(ctx context.Context, from *core.EnvVarSource, spec *core.Container) (string, bool, error) {
	key := func(data map[string]string, err error, key string, optional *bool) (string, bool, error) {
		value, found := data[key]
		switch {
		case optional != nil && *optional && (err != nil || !found):
			return "", false, nil
		case err != nil:
			return "", false, err
		case !found:
			return "", false, fmt.Errorf("couldn't find key %s", key)
		}
		return value, true, nil
	}
	switch {
	case from.SecretKeyRef != nil:
		data, err := p.secret(ctx, from.SecretKeyRef.Name)
		return key(data, err, from.SecretKeyRef.Key, from.SecretKeyRef.Optional)
	case from.ConfigMapKeyRef != nil:
		data, err := p.configMap(ctx, from.ConfigMapKeyRef.Name)
		return key(data, err, from.ConfigMapKeyRef.Key, from.ConfigMapKeyRef.Optional)
	case from.FieldRef != nil:
		value, err := p.field(from.FieldRef.FieldPath)
		return value, true, err
	case from.ResourceFieldRef != nil:
		value, err := resourceField(from.ResourceFieldRef, spec)
		return value, true, err
	}
	return "", false, fmt.Errorf("source is not supported")
}

func (p *pod) field(path string) (string, error) {
	object := p.get()
	for prefix, values := range map[string]map[string]string{
		"metadata.labels['": object.Labels, "metadata.annotations['": object.Annotations,
	} {
		if name, ok := strings.CutPrefix(path, prefix); ok {
			return values[strings.TrimSuffix(name, "']")], nil
		}
	}
	value, known := map[string]string{
		"metadata.name": object.Name, "metadata.namespace": object.Namespace, "metadata.uid": string(object.UID),
		"spec.nodeName": object.Spec.NodeName, "spec.serviceAccountName": object.Spec.ServiceAccountName,
		"status.podIP": p.ip.String(), "status.hostIP": p.k.gateway.String(),
	}[path]
	if !known {
		return "", fmt.Errorf("field %s is not supported", path)
	}
	return value, nil
}

func resourceField(ref *core.ResourceFieldSelector, spec *core.Container) (string, error) {
	kind, name, _ := strings.Cut(ref.Resource, ".")
	list := spec.Resources.Requests
	if kind == "limits" {
		list = spec.Resources.Limits
	}
	quantity := list[core.ResourceName(name)]
	divisor := ref.Divisor
	if divisor.IsZero() {
		return strconv.FormatInt(quantity.Value(), 10), nil
	}
	return strconv.FormatInt(quantity.MilliValue()/divisor.MilliValue(), 10), nil
}

// expand replaces $(NAME) by the variable's value where there is one; $$ is a dollar.
func expand(text string, values map[string]string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '$' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		if text[i+1] == '$' {
			b.WriteByte('$')
			i++
			continue
		}
		end := strings.IndexByte(text[i:], ')')
		if text[i+1] != '(' || end < 0 {
			b.WriteByte('$')
			continue
		}
		value, known := values[text[i+2:i+end]]
		if !known {
			value = text[i : i+end+1]
		}
		b.WriteString(value)
		i += end
	}
	return b.String()
}

func (p *pod) configMap(ctx context.Context, name string) (map[string]string, error) {
	object, err := p.k.client.CoreV1().ConfigMaps(p.get().Namespace).Get(ctx, name, meta.GetOptions{})
	if err != nil {
		return nil, err
	}
	data := map[string]string{}
	for key, value := range object.BinaryData {
		data[key] = string(value)
	}
	for key, value := range object.Data {
		data[key] = value
	}
	return data, nil
}

func (p *pod) secret(ctx context.Context, name string) (map[string]string, error) {
	object, err := p.k.client.CoreV1().Secrets(p.get().Namespace).Get(ctx, name, meta.GetOptions{})
	if err != nil {
		return nil, err
	}
	data := map[string]string{}
	for key, value := range object.Data {
		data[key] = string(value)
	}
	return data, nil
}
