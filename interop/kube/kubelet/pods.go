package main

import (
	"context"
	"log"
	"sync"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"
)

// watch runs the pods that are bound to a node, until ctx ends.
func (k *kubelet) watch(ctx context.Context) {
	pods := cache.NewListWatchFromClient(k.client.CoreV1().RESTClient(), "pods", "", fields.ParseSelectorOrDie("spec.nodeName!="))
	services := cache.NewListWatchFromClient(k.client.CoreV1().RESTClient(), "services", "", fields.Everything())
	var running sync.WaitGroup
	seen := func(object any) {
		p := object.(*core.Pod)
		k.names.Lock()
		k.names.pods[p.Namespace+"/"+p.Name] = p
		k.names.Unlock()
		k.mu.Lock()
		defer k.mu.Unlock()
		known := k.pods[string(p.UID)]
		if known == nil {
			if p.Status.Phase == core.PodSucceeded || p.Status.Phase == core.PodFailed {
				if p.DeletionTimestamp != nil {
					go k.remove(ctx, p)
				}
				return
			}
			known = newPod(k, p)
			k.pods[known.uid] = known
			running.Go(func() { known.run(ctx) })
		}
		known.update(p)
	}
	_, podController := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: pods, ObjectType: &core.Pod{}, ResyncPeriod: 30 * time.Second,
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc: seen, UpdateFunc: func(_, object any) { seen(object) },
			DeleteFunc: func(object any) {
				if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
					object = unknown.Obj
				}
				p := object.(*core.Pod)
				k.names.Lock()
				delete(k.names.pods, p.Namespace+"/"+p.Name)
				k.names.Unlock()
				k.mu.Lock()
				defer k.mu.Unlock()
				if known := k.pods[string(p.UID)]; known != nil {
					known.kill()
				}
			},
		},
	})
	service := func(object any) {
		s := object.(*core.Service)
		k.names.Lock()
		defer k.names.Unlock()
		k.names.services[s.Namespace+"/"+s.Name] = s
	}
	_, serviceController := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: services, ObjectType: &core.Service{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc: service, UpdateFunc: func(_, object any) { service(object) },
			DeleteFunc: func(object any) {
				if s, ok := object.(*core.Service); ok {
					k.names.Lock()
					defer k.names.Unlock()
					delete(k.names.services, s.Namespace+"/"+s.Name)
				}
			},
		},
	})
	running.Go(func() { podController.RunWithContext(ctx) })
	running.Go(func() { serviceController.RunWithContext(ctx) })
	<-ctx.Done()
	log.Printf("stopping")
	running.Wait()
}

// forget drops a pod that has ended.
func (k *kubelet) forget(p *pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.pods, p.uid)
}

func (k *kubelet) killAll() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range k.pods {
		p.kill()
	}
}
