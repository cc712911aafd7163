package main

import (
	"context"
	"fmt"
	"log"
	"strings"
	"time"

	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type node struct {
	name        string
	cpu, memory resource.Quantity
}

func parseNode(text string) (n node, err error) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return n, fmt.Errorf("%q is not NAME:CPU:MEMORY", text)
	}
	n.name = parts[0]
	if n.cpu, err = resource.ParseQuantity(parts[1]); err != nil {
		return n, fmt.Errorf("%q: %w", text, err)
	}
	if n.memory, err = resource.ParseQuantity(parts[2]); err != nil {
		return n, fmt.Errorf("%q: %w", text, err)
	}
	return n, nil
}

// register creates the node or brings it up to date, as ready.
func (k *kubelet) register(ctx context.Context, n node) error {
	object := &core.Node{ObjectMeta: meta.ObjectMeta{Name: n.name, Labels: map[string]string{
		"kubernetes.io/hostname": n.name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
	}}}
	if _, err := k.client.CoreV1().Nodes().Create(ctx, object, meta.CreateOptions{}); err != nil &&
		!errors.IsAlreadyExists(err) {
		return err
	}
	return k.report(ctx, n)
}

// report writes the status of the node.
func (k *kubelet) report(ctx context.Context, n node) error {
	object, err := k.client.CoreV1().Nodes().Get(ctx, n.name, meta.GetOptions{})
	if err != nil {
		return err
	}
	now := meta.Now()
	resources := core.ResourceList{
		core.ResourceCPU: n.cpu, core.ResourceMemory: n.memory, core.ResourcePods: resource.MustParse("110"),
		core.ResourceEphemeralStorage: resource.MustParse("20Gi"),
	}
	object.Status.Capacity, object.Status.Allocatable = resources, resources
	object.Status.Addresses = []core.NodeAddress{
		{Type: core.NodeInternalIP, Address: k.gateway.String()}, {Type: core.NodeHostName, Address: n.name},
	}
	object.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(k.port)
	object.Status.NodeInfo.KubeletVersion = "v1.34.0"
	object.Status.Conditions = nil
	for kind, status := range map[core.NodeConditionType]core.ConditionStatus{
		core.NodeReady: core.ConditionTrue, core.NodeMemoryPressure: core.ConditionFalse,
		core.NodeDiskPressure: core.ConditionFalse, core.NodePIDPressure: core.ConditionFalse,
	} {
		object.Status.Conditions = append(object.Status.Conditions, core.NodeCondition{
			Type: kind, Status: status, Reason: "Reported", LastHeartbeatTime: now, LastTransitionTime: now,
		})
	}
	_, err = k.client.CoreV1().Nodes().UpdateStatus(ctx, object, meta.UpdateOptions{})
	return err
}

// renew keeps the node's lease, and its status, until ctx ends.
func (k *kubelet) renew(ctx context.Context, n node) {
	leases := k.client.CoordinationV1().Leases("kube-node-lease")
	seconds := int32(40)
	for {
		now := meta.NowMicro()
		lease, err := leases.Get(ctx, n.name, meta.GetOptions{})
		switch {
		case errors.IsNotFound(err):
			_, err = leases.Create(ctx, &coordination.Lease{
				ObjectMeta: meta.ObjectMeta{Name: n.name},
				Spec: coordination.LeaseSpec{
					HolderIdentity: &n.name, LeaseDurationSeconds: &seconds, RenewTime: &now,
				},
			}, meta.CreateOptions{})
		case err == nil:
			lease.Spec.RenewTime = &now
			_, err = leases.Update(ctx, lease, meta.UpdateOptions{})
		}
		if err == nil {
			err = k.report(ctx, n)
		}
		if err != nil && ctx.Err() == nil {
			log.Printf("node %s: %v", n.name, err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(5 * time.Second):
		}
	}
}
