// Kubelet is a small kubelet for checks: one process plays several nodes of a cluster and runs the containers of the
// pods that are bound to them as processes on this machine.
//
// Every pod has a network namespace with an address of its own on one bridge, and every container a mount and process
// namespace, a root made of its image and its volumes, and its user. An image is a directory given by -image; images
// that are not given cannot be pulled. Names of services and pods are resolved by a DNS server on the bridge. Logs and
// ports of pods are served as the API server expects them.
//
// It must run as root in a network namespace of its own (a user namespace is enough): interop/kube/up does that.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// kubelet is what all nodes share.
type kubelet struct {
	client     kubernetes.Interface
	root       string
	gateway    net.IP
	apiPort    string
	backoff    time.Duration
	images     map[string]string
	entrypoint map[string][]string
	port       int
	noForward  string

	mu        sync.Mutex
	pods      map[string]*pod // by UID
	addresses map[string]bool
	next      int
	names     names
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "container" {
		log.Fatal(becomeContainer(os.Args[2]))
	}
	kubeconfig := flag.String("kubeconfig", "", "file with the address of the API server and the credentials")
	root := flag.String("root", "", "directory of the pods, removed by whoever gave it")
	nodes := flag.String("nodes", "node-1:4:8Gi,node-2:4:8Gi", "nodes: NAME:CPU:MEMORY, separated by commas")
	gateway := flag.String("gateway", "10.244.0.1", "address of this machine on the bridge, whose /16 the pods get")
	port := flag.Int("port", 10250, "port of the server of logs and ports")
	noForward := flag.String("no-forward", "", "while this file exists, ports of pods are not forwarded")
	backoff := flag.Duration("backoff", 10*time.Second, "pause before a container is started again; it doubles")
	images := map[string]string{}
	entrypoint := map[string][]string{}
	flag.Func("image", "NAME=DIRECTORY[=ENTRYPOINT]: an image that can be pulled, and its root", func(s string) error {
		parts := strings.SplitN(s, "=", 3)
		if len(parts) < 2 {
			return fmt.Errorf("%q is not NAME=DIRECTORY", s)
		}
		images[parts[0]] = parts[1]
		if len(parts) == 3 {
			entrypoint[parts[0]] = []string{parts[2]}
		}
		return nil
	})
	flag.Parse()

	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		log.Fatal(err)
	}
	config.QPS, config.Burst = 200, 400
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		log.Fatal(err)
	}
	absolute, err := filepath.Abs(*root)
	if err != nil {
		log.Fatal(err)
	}
	k := &kubelet{
		client: client, root: absolute, gateway: net.ParseIP(*gateway).To4(), backoff: *backoff, images: images,
		entrypoint: entrypoint, port: *port, noForward: *noForward, pods: map[string]*pod{}, addresses: map[string]bool{}, next: 10,
	}
	_, k.apiPort, _ = strings.Cut(strings.TrimPrefix(config.Host, "https://"), ":")

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := k.bridge(); err != nil {
		log.Fatal(err)
	}
	if err := k.serveNames(); err != nil {
		log.Fatal(err)
	}
	if err := k.serve(); err != nil {
		log.Fatal(err)
	}
	var running sync.WaitGroup
	for text := range strings.SplitSeq(*nodes, ",") {
		n, err := parseNode(text)
		if err != nil {
			log.Fatal(err)
		}
		if err := k.register(ctx, n); err != nil {
			log.Fatal(err)
		}
		running.Go(func() { k.renew(ctx, n) })
	}
	log.Printf("nodes are registered")
	k.watch(ctx)
	running.Wait()
	k.killAll()
}
