package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	authentication "k8s.io/api/authentication/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// volumes makes the directories of the pod's volumes; those that exist are left as they are.
func (p *pod) volumes(ctx context.Context) error {
	object := p.get()
	for i := range object.Spec.Volumes {
		v := &object.Spec.Volumes[i]
		path := filepath.Join(p.dir, "volumes", v.Name)
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		if err := p.volume(ctx, v, path); err != nil {
			_ = os.RemoveAll(path)
			return fmt.Errorf("MountVolume.SetUp failed for volume %q: %w", v.Name, err)
		}
	}
	return nil
}

func (p *pod) volume(ctx context.Context, v *core.Volume, path string) error {
	object := p.get()
	switch {
	case v.HostPath != nil:
		return link(v.HostPath.Path, path)
	case v.PersistentVolumeClaim != nil:
		claim, err := p.k.client.CoreV1().PersistentVolumeClaims(object.Namespace).
			Get(ctx, v.PersistentVolumeClaim.ClaimName, meta.GetOptions{})
		if err != nil {
			return err
		}
		volume, err := p.k.client.CoreV1().PersistentVolumes().Get(ctx, claim.Spec.VolumeName, meta.GetOptions{})
		if err != nil {
			return err
		}
		if volume.Spec.HostPath == nil {
			return fmt.Errorf("volume %s has no host path", volume.Name)
		}
		if err := os.MkdirAll(volume.Spec.HostPath.Path, 0o777); err != nil {
			return err
		}
		p.own(volume.Spec.HostPath.Path)
		return link(volume.Spec.HostPath.Path, path)
	}
	if err := os.MkdirAll(path, 0o777); err != nil {
		return err
	}
	_ = os.Chmod(path, 0o777)
	files, err := p.contents(ctx, v)
	if err != nil {
		return err
	}
	for name, text := range files {
		file := filepath.Join(path, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	p.own(path)
	return nil
}

// own gives a directory to the group of the pod's volumes.
func (p *pod) own(path string) {
	if sc := p.get().Spec.SecurityContext; sc != nil && sc.FSGroup != nil {
		_ = os.Chown(path, -1, int(*sc.FSGroup))
		_ = os.Chmod(path, 0o2775)
	}
}

func link(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.Symlink(from, to)
}

// contents returns the files of a volume, by their paths.
func (p *pod) contents(ctx context.Context, v *core.Volume) (map[string]string, error) {
	optional := func(o *bool) bool { return o != nil && *o }
	switch {
	case v.EmptyDir != nil:
		return nil, nil
	case v.ConfigMap != nil:
		data, err := p.configMap(ctx, v.ConfigMap.Name)
		if err != nil && optional(v.ConfigMap.Optional) {
			return nil, nil
		}
		return pick(data, v.ConfigMap.Items), err
	case v.Secret != nil:
		data, err := p.secret(ctx, v.Secret.SecretName)
		if err != nil && optional(v.Secret.Optional) {
			return nil, nil
		}
		return pick(data, v.Secret.Items), err
	case v.DownwardAPI != nil:
		return p.downward(v.DownwardAPI.Items)
	case v.Projected != nil:
		all := map[string]string{}
		for _, source := range v.Projected.Sources {
			files, err := p.source(ctx, &source)
			if err != nil {
				return nil, err
			}
			for name, text := range files {
				all[name] = text
			}
		}
		return all, nil
	}
	return nil, fmt.Errorf("the kind of volume is not supported")
}

func pick(data map[string]string, items []core.KeyToPath) map[string]string {
	if len(items) == 0 {
		return data
	}
	files := map[string]string{}
	for _, item := range items {
		files[item.Path] = data[item.Key]
	}
	return files
}

func (p *pod) downward(items []core.DownwardAPIVolumeFile) (map[string]string, error) {
	files := map[string]string{}
	for _, item := range items {
		if item.FieldRef == nil {
			return nil, fmt.Errorf("file %s: only fields are supported", item.Path)
		}
		text, err := p.field(item.FieldRef.FieldPath)
		if err != nil {
			return nil, err
		}
		files[item.Path] = text
	}
	return files, nil
}

func (p *pod) source(ctx context.Context, s *core.VolumeProjection) (map[string]string, error) {
	switch {
	case s.ConfigMap != nil:
		data, err := p.configMap(ctx, s.ConfigMap.Name)
		return pick(data, s.ConfigMap.Items), err
	case s.Secret != nil:
		data, err := p.secret(ctx, s.Secret.Name)
		return pick(data, s.Secret.Items), err
	case s.DownwardAPI != nil:
		return p.downward(s.DownwardAPI.Items)
	case s.ServiceAccountToken != nil:
		object := p.get()
		seconds := int64(86400)
		request := &authentication.TokenRequest{Spec: authentication.TokenRequestSpec{
			ExpirationSeconds: &seconds,
			BoundObjectRef: &authentication.BoundObjectReference{
				Kind: "Pod", APIVersion: "v1", Name: object.Name, UID: object.UID,
			},
		}}
		if s.ServiceAccountToken.Audience != "" {
			request.Spec.Audiences = []string{s.ServiceAccountToken.Audience}
		}
		reply, err := p.k.client.CoreV1().ServiceAccounts(object.Namespace).
			CreateToken(ctx, object.Spec.ServiceAccountName, request, meta.CreateOptions{})
		if err != nil {
			return nil, err
		}
		return map[string]string{s.ServiceAccountToken.Path: reply.Status.Token}, nil
	}
	return nil, fmt.Errorf("the kind of projection is not supported")
}
