package trust

import "testing"

func TestModelOf(t *testing.T) {
	for want, cpuinfo := range map[string]string{
		"Processor X 3.0 GHz": "processor\t: 0\nmodel name\t: Processor X 3.0 GHz\n\nprocessor\t: 1\nmodel " +
			"name\t: Processor Y\n",
		"implementer 0x41 part 0xd0c": "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n",
		"":                            "processor : 0\n",
	} {
		if got := modelOf(cpuinfo); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
