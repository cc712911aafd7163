package config

import "fmt"

func option(name string) Option {
	t := table()
	i, ok := t.byName[name]
	if !ok {
		panic("config: no option " + name)
	}
	return t.options[i]
}

func defaultValue(o Option) any {
	if o.Default == "" {
		return nil
	}
	s, err := parseTokens(o, []string{o.Default})
	if err != nil {
		panic(fmt.Sprintf("config: default of --%s: %v", o.Name, err))
	}
	return s.value
}
