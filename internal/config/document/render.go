package document

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/suggest"
	"aiperf/internal/config/fault"
	"aiperf/internal/workload/jinja"
)

// Bounds of all templates of a file together.
const (
	maxRendered   = MaxBytes
	maxRenderTime = 10 * time.Second
)

// variablesKey is the key of the values that templates use, bodyKey that of the mapping whose keys they also know
// without its name.
const (
	variablesKey = "variables"
	bodyKey      = "benchmark"
)

// Render returns a copy of a tree in which the texts with {{ }} and {% %} are rendered; f is the file that the tree was
// read from, and is named in faults. A template knows every value of the tree by its path, those of the mapping
// "benchmark" also without that name, entries of a list by index and by their name, and above all the entries of
// "variables", which may use one another; a value that the tree lacks is looked for in the file as it was written. What
// a text becomes has the type that it looks like. Not rendered are values made by flags and the templates for requests
// and for files of the user.
func Render(f *File, root *Node) (*Node, error) {
	r := &renderer{file: f, root: root.Clone(), names: map[string]any{}, pending: map[*Node]bool{},
		started: time.Now()}
	if root != f.Root {
		r.written = f.Root
	}
	r.find()
	if len(r.templates)+len(r.ofVariable) > 0 && len(r.faults) == 0 {
		r.context()
		r.variables()
	}
	if len(r.faults) == 0 { // else the values of variables are missing
		for _, t := range r.templates {
			r.render(t)
		}
	}
	if err := r.faults.Err(); err != nil {
		return nil, err
	}
	return r.root, nil
}

type renderer struct {
	file    *File
	root    *Node
	written *Node // what the file says, if the tree was made of it
	faults  fault.List
	started time.Time
	bytes   int
	// spent reports that the bounds of all templates together are reached.
	spent bool
	// templates are those outside of the variables, ofVariable those within each of them.
	templates  []*template
	ofVariable map[string][]*template
	// names are what templates know.
	names map[string]any
	// pending are the templates that are not rendered yet.
	pending map[*Node]bool
}

// template is a text that has to be rendered.
type template struct {
	node   *Node
	path   string
	parsed *jinja.Template
}

// isTemplate reports whether a text has to be rendered.
func isTemplate(text string) bool {
	return strings.Contains(text, "{{") || strings.Contains(text, "{%")
}

// find parses all templates of the tree.
func (r *renderer) find() {
	r.ofVariable = map[string][]*template{}
	for _, m := range r.root.Members {
		if m.Key != variablesKey || m.Value.Kind != Map {
			r.collect(m.Value, m.Key, m.Key, &r.templates)
			continue
		}
		for _, v := range m.Value.Members {
			var list []*template
			r.collect(v.Value, Path(variablesKey, v.Key), "", &list)
			if list != nil {
				r.ofVariable[v.Key] = list
			}
		}
	}
}

// notRendered are the keys whose texts are templates of something else.
var notRendered = []string{"template", "body", "payload_template", "payloadTemplate"}

// userFiles are the paths of the files of the user, rendered when a run begins.
var userFiles = []string{"artifacts.user_files", "artifacts.userFiles"}

// collect parses the templates of a value.
func (r *renderer) collect(n *Node, path, key string, list *[]*template) {
	if slices.Contains(userFiles, strings.TrimPrefix(path, bodyKey+".")) {
		return
	}
	for i, item := range n.Items {
		r.collect(item, Index(path, i), key, list)
	}
	for _, m := range n.Members {
		r.collect(m.Value, Path(path, m.Key), m.Key, list)
	}
	if n.Kind != Text || n.Data || n.Origin != "" || slices.Contains(notRendered, key) || !isTemplate(n.Scalar.(string)) {
		return
	}
	text := n.Scalar.(string)
	for _, brackets := range [][2]string{{"{{", "}}"}, {"{%", "%}"}} {
		if at := strings.LastIndex(text, brackets[0]); at >= 0 && !strings.Contains(text[at:], brackets[1]) {
			r.fault(n, path, "%s has no closing %s", brackets[0], brackets[1])
			return
		}
	}
	parsed, err := jinja.Compile(text, jinja.Options{Strict: true})
	if err != nil {
		r.fault(n, path, "%v", strings.TrimPrefix(err.Error(), "the template cannot be parsed: "))
		return
	}
	*list = append(*list, &template{n, path, parsed})
	r.pending[n] = true
}

// context collects what templates know; variables are added when they are rendered.
func (r *renderer) context() {
	all := r.root
	if r.written != nil {
		all = r.union(r.root, r.written)
	}
	for _, from := range []*Node{all.Get(bodyKey), all} { // the latter wins
		if from == nil {
			continue
		}
		for _, m := range from.Members {
			r.names[m.Key] = r.known(m.Value)
		}
	}
}

// union is a mapping with the members of both, those of the first before those of the second; what is in both is united
// too.
func (r *renderer) union(first, second *Node) *Node {
	if first.Kind != Map || second.Kind != Map {
		return first
	}
	u := &Node{Kind: Map, Members: slices.Clone(first.Members)}
	places := make(map[string]int, len(u.Members))
	for i, m := range u.Members {
		places[m.Key] = i
	}
	for _, m := range second.Members {
		if i, ok := places[m.Key]; ok {
			u.Members[i].Value = r.union(u.Members[i].Value, m.Value)
		} else {
			r.await(m.Value)
			u.Members = append(u.Members, m)
		}
	}
	return u
}

// await makes the templates of a value unknown; they are not rendered.
func (r *renderer) await(n *Node) {
	for _, item := range n.Items {
		r.await(item)
	}
	for _, m := range n.Members {
		r.await(m.Value)
	}
	if n.Kind == Text && !n.Data && isTemplate(n.Scalar.(string)) {
		r.pending[n] = true
	}
}

// errTemplate is what templates know in place of another template.
var errTemplate = errors.New("the value is a template itself: put what both need under variables")

// known is a value as templates know it.
func (r *renderer) known(n *Node) any {
	switch n.Kind {
	case Null:
		return jinja.None
	case Int:
		return int(n.Scalar.(int64))
	case Text:
		if r.pending[n] {
			return errTemplate
		}
	case List:
		items := make([]any, len(n.Items))
		for i, item := range n.Items {
			items[i] = r.known(item)
		}
		return jinja.Named(items)
	case Map:
		keys, values := make([]string, len(n.Members)), make([]any, len(n.Members))
		for i, m := range n.Members {
			keys[i], values[i] = m.Key, r.known(m.Value)
		}
		return jinja.Dict(keys, values)
	}
	return n.Scalar
}

// variables renders the variables, each after those that it uses.
func (r *renderer) variables() {
	all := r.root.Get(variablesKey)
	if all == nil || all.Kind != Map {
		return
	}
	members := make(map[string]*Member, len(all.Members))
	for i := range all.Members {
		members[all.Members[i].Key] = &all.Members[i]
	}
	const (
		begun = 1
		done  = 2
	)
	state := make(map[string]int, len(members))
	var above []string
	var visit func(m *Member)
	visit = func(m *Member) {
		state[m.Key] = begun
		above = append(above, m.Key)
		whole := false
		for _, t := range r.ofVariable[m.Key] {
			for _, name := range t.parsed.Names() {
				if rest, ok := strings.CutPrefix(name, variablesKey+"."); ok {
					name, whole = rest, true
				}
				other := members[name]
				switch {
				case other == nil:
				case state[name] == begun:
					if cycle := above[slices.Index(above, name):]; len(r.faults) == 0 {
						r.fault(t.node, t.path, "circular reference among variables: %s", list(cycle))
					}
				case state[name] == 0:
					visit(other)
				}
			}
		}
		if whole && len(r.faults) == 0 {
			r.names[variablesKey] = r.known(all)
		}
		if len(r.faults) == 0 {
			for _, t := range r.ofVariable[m.Key] {
				r.render(t)
			}
		}
		r.names[m.Key] = r.known(m.Value)
		above = above[:len(above)-1]
		state[m.Key] = done
	}
	for i := range all.Members {
		if state[all.Members[i].Key] == 0 {
			visit(&all.Members[i])
		}
	}
	r.names[variablesKey] = r.known(all)
}

// list joins names in alphabetical order.
func list(names []string) string {
	return strings.Join(slices.Sorted(slices.Values(names)), ", ")
}

// render replaces a template by what it becomes.
func (r *renderer) render(t *template) {
	if r.spent {
		return
	}
	used := map[string]any{} // the engine copies what it gets
	for _, name := range t.parsed.Names() {
		if v, ok := r.names[name]; ok {
			used[name] = v
		}
	}
	text, err := t.parsed.Render(used)
	r.bytes += len(text)
	switch {
	case err != nil:
		r.fault(t.node, t.path, "%s", r.reason(err))
	case r.bytes > maxRendered:
		r.spent = true
		r.fault(t.node, t.path, "the texts that templates make have more than %d bytes together", maxRendered)
	case time.Since(r.started) > maxRenderTime:
		r.spent = true
		r.fault(t.node, t.path, "all templates together take more than %s", maxRenderTime)
	default:
		delete(r.pending, t.node)
		t.node.coerce(text)
	}
}

// undefined is the end of the engine's messages about an unknown name.
const undefined = " is not defined"

// reason is an error of the engine, with what an unknown name may have meant.
func (r *renderer) reason(err error) string {
	text := strings.TrimPrefix(err.Error(), "line 1: ")
	if expression, rest, ok := strings.Cut(text, ": "); ok && rest == expression+undefined {
		text = rest
	}
	before, unknown := strings.CutSuffix(text, undefined)
	if !unknown {
		return text
	}
	name := before[strings.LastIndexAny(before, " :")+1:]
	if near := suggest.Nearest(name, slices.Sorted(maps.Keys(r.names))); near != "" {
		return text + "; did you mean " + near + "?"
	}
	return text + "; names are the keys of variables and the paths of the file's values"
}

// fault adds a fault about a template.
func (r *renderer) fault(n *Node, path, format string, args ...any) {
	if len(r.faults) >= maxFaults {
		r.spent = true
		return
	}
	text := artifact.Redacted
	if !secretPath(path) {
		text = fault.Shorten((*artifact.Redactor)(nil).Text(n.Scalar.(string)))
	}
	r.file.FaultOf(&r.faults, n, path, "the template %q: "+format, append([]any{text}, args...)...)
}
