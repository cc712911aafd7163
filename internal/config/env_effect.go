package config

import "sync"

// effective are the names of the variables that something reads: [Env], an option, or the commands themselves.
var effective = sync.OnceValue(func() map[string]bool {
	v := variables{values: map[string]any{}, read: map[string]bool{}}
	newEnv(v)
	for _, o := range Options() {
		if o.Env != "" && o.Built() {
			v.read[o.Env[len(EnvPrefix):]] = true
		}
	}
	return v.read
})

// HasEffect reports whether this program does anything with the variable but check it.
func (v Variable) HasEffect() bool { return effective()[v.Name] }
