package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
	core "k8s.io/api/core/v1"
)

// box says what a process becomes: its namespaces, its files, its user, its program.
type box struct {
	Root, Hostname, Network, Dir string
	Mounts                       []mount
	ReadOnly                     bool
	UID, GID                     int
	Groups                       []int
	Args, Env                    []string
}

type mount struct {
	From, To string
	ReadOnly bool
}

// box makes the container's root and returns what its process becomes.
func (c *container) box(env []string) (*box, error) {
	object := c.pod.get()
	b := &box{
		Root: filepath.Join(c.dir(), "root"), Hostname: hostname(object), Dir: c.spec.WorkingDir, Env: env,
		Network: "/var/run/netns/" + c.pod.netns,
	}
	if b.Dir == "" {
		b.Dir = "/"
	}
	image := c.pod.k.images[c.spec.Image]
	if err := copyTree(image, b.Root); err != nil {
		return nil, err
	}
	b.user(object.Spec.SecurityContext, c.spec.SecurityContext)
	etc := filepath.Join(c.dir(), "etc")
	if err := os.MkdirAll(etc, 0o755); err != nil {
		return nil, err
	}
	hosts := fmt.Sprintf("127.0.0.1 localhost\n%s %s\n", c.pod.ip, b.Hostname)
	for _, alias := range object.Spec.HostAliases {
		hosts += alias.IP + " " + strings.Join(alias.Hostnames, " ") + "\n"
	}
	resolve := fmt.Sprintf("nameserver %s\nsearch %s.svc.cluster.local svc.cluster.local cluster.local\noptions ndots:5\n",
		c.pod.k.gateway, object.Namespace)
	for name, text := range map[string]string{"hosts": hosts, "resolv.conf": resolve} {
		if err := os.WriteFile(filepath.Join(etc, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
		b.Mounts = append(b.Mounts, mount{filepath.Join(etc, name), "/etc/" + name, true})
	}
	for _, m := range c.spec.VolumeMounts {
		from := filepath.Join(c.pod.dir, "volumes", m.Name)
		if target, err := os.Readlink(from); err == nil {
			from = target
		}
		b.Mounts = append(b.Mounts, mount{filepath.Join(from, m.SubPath), m.MountPath, m.ReadOnly})
	}
	if c.spec.SecurityContext != nil && c.spec.SecurityContext.ReadOnlyRootFilesystem != nil {
		b.ReadOnly = *c.spec.SecurityContext.ReadOnlyRootFilesystem
	}
	values := map[string]string{}
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		values[name] = value
	}
	b.Args = c.spec.Command
	if len(b.Args) == 0 {
		b.Args = c.pod.k.entrypoint[c.spec.Image]
	}
	b.Args = append([]string{}, append(b.Args, c.spec.Args...)...)
	for i := range b.Args {
		b.Args[i] = expand(b.Args[i], values)
	}
	if len(b.Args) == 0 {
		return nil, errors.New("no command specified")
	}
	return b, nil
}

func (b *box) user(pod *core.PodSecurityContext, own *core.SecurityContext) {
	if pod != nil {
		if pod.RunAsUser != nil {
			b.UID = int(*pod.RunAsUser)
		}
		if pod.RunAsGroup != nil {
			b.GID = int(*pod.RunAsGroup)
		}
		if pod.FSGroup != nil {
			b.Groups = append(b.Groups, int(*pod.FSGroup))
		}
	}
	if own != nil {
		if own.RunAsUser != nil {
			b.UID = int(*own.RunAsUser)
		}
		if own.RunAsGroup != nil {
			b.GID = int(*own.RunAsGroup)
		}
	}
}

func hostname(object *core.Pod) string {
	if object.Spec.Hostname != "" {
		return object.Spec.Hostname
	}
	return object.Name
}

// copyTree makes to a copy of from whose files are links to the same ones.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, relative)
		if entry.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		err = os.Link(path, target)
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		if errors.Is(err, syscall.EXDEV) {
			return exec.Command("cp", "-a", path, target).Run()
		}
		return err
	})
}

// becomeContainer turns this process, the first one in namespaces of its own, into the container of the file.
func becomeContainer(file string) error {
	runtime.LockOSThread()
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var b box
	if err := json.Unmarshal(text, &b); err != nil {
		return err
	}
	network, err := os.Open(b.Network)
	if err != nil {
		return err
	}
	if err := unix.Setns(int(network.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("network namespace: %w", err)
	}
	_ = network.Close()
	if err := unix.Sethostname([]byte(b.Hostname)); err != nil {
		return err
	}
	if err := b.files(); err != nil {
		return err
	}
	if err := unix.Chroot(b.Root); err != nil {
		return err
	}
	if err := unix.Chdir(b.Dir); err != nil {
		return fmt.Errorf("working directory %s: %w", b.Dir, err)
	}
	for _, err := range []error{syscall.Setgroups(b.Groups), syscall.Setgid(b.GID), syscall.Setuid(b.UID)} {
		if err != nil && b.UID != 0 {
			fmt.Fprintln(os.Stderr, "the user of the container cannot be set here:", err)
			break
		}
	}
	program := b.Args[0]
	if !strings.Contains(program, "/") {
		for dir := range strings.SplitSeq("/usr/local/bin:/usr/bin:/bin:/", ":") {
			if _, err := os.Stat(filepath.Join(dir, program)); err == nil {
				program = filepath.Join(dir, program)
				break
			}
		}
	}
	return fmt.Errorf("exec %s: %w", program, unix.Exec(program, b.Args, b.Env))
}

// files mounts what the container sees below its root.
func (b *box) files() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private mounts: %w", err)
	}
	bind := func(from, to string, readOnly bool) error {
		target := filepath.Join(b.Root, to)
		info, err := os.Stat(from)
		if err != nil {
			return err
		}
		if info.IsDir() {
			err = os.MkdirAll(target, 0o755)
		} else if err = os.MkdirAll(filepath.Dir(target), 0o755); err == nil {
			var file *os.File
			if file, err = os.OpenFile(target, os.O_CREATE, 0o644); err == nil {
				_ = file.Close()
			}
		}
		if err != nil {
			return err
		}
		if err := unix.Mount(from, target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("mount %s: %w", to, err)
		}
		if readOnly {
			if err := unix.Mount("", target, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
				return fmt.Errorf("mount %s: %w", to, err)
			}
		}
		return nil
	}
	if err := bind(b.Root, "/", false); err != nil {
		return err
	}
	for _, device := range []string{"null", "zero", "random", "urandom"} {
		if err := bind("/dev/"+device, "/dev/"+device, false); err != nil {
			return err
		}
	}
	for _, m := range b.Mounts {
		if err := bind(m.From, m.To, m.ReadOnly); err != nil {
			return err
		}
	}
	proc := filepath.Join(b.Root, "proc")
	if err := os.MkdirAll(proc, 0o755); err != nil {
		return err
	}
	if err := unix.Mount("proc", proc, "proc", 0, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	if b.ReadOnly {
		if err := unix.Mount("", b.Root, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
			return fmt.Errorf("read-only root: %w", err)
		}
	}
	return nil
}
