package metrics

import "aiperf/internal/base/artifact"

// Object returns the configuration as the state file of a run has it.
func (c *Config) Object() artifact.Object {
	o, err := artifact.StructObject(*c)
	if err != nil {
		panic("metrics: configuration: " + err.Error()) // its types can all be written
	}
	return o
}

// ParseConfig reads a configuration back. What it does not name is as in DefaultConfig.
func ParseConfig(data []byte) (Config, error) {
	c := DefaultConfig()
	err := artifact.ParseStruct(data, &c)
	return c, err
}
