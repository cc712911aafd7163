package option

import "fmt"

// Named is the option with any of its long names; a name that is not in the table is a programming error and panics.
func Named(name string) Option {
	t := table()
	i, ok := t.byName[name]
	if !ok {
		panic("option: no option " + name)
	}
	return t.options[i]
}

// Find finds the option of a flag as it was typed.
func Find(typed string) (o *Option, ok bool) {
	i, _ := Flags().Find(typed)
	if i < 0 {
		return nil, false
	}
	return &table().options[i], true
}

// DefaultValue is the default as a value, nil without one. It is shared: callers only read it.
func (o *Option) DefaultValue() any { return o.preset }

func (o *Option) parseDefault() any {
	if o.Default == "" {
		return nil
	}
	value, _, err := o.Parse([]string{o.Default})
	if err != nil {
		panic(fmt.Sprintf("option: default of --%s: %v", o.Name, err))
	}
	return value
}
