package option

import "fmt"

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
