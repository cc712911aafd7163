package config

import (
	"fmt"
	"math"
	"net/netip"
	"net/url"
	"time"

	"aiperf/internal/base/artifact"
)

// checkConnections looks at where connections start from and how many workers share them.
func (d *draft) checkConnections() {
	if least, most := d.p.Int("workers-min"), d.p.Int("workers-max"); least != nil && most != nil && *least > *most {
		d.fault("", "%s %d is more than %s %d", d.flag("workers-min"), *least, d.flag("workers-max"), *most)
	}
	if d.given("network-latency-ping-interval") && !d.p.Bool("network-latency-automatic") {
		d.warn("%s has no effect without --network-latency-automatic", d.flag("network-latency-ping-interval"))
	}
	if !d.given("source-address") {
		return
	}
	flag := d.flag("source-address")
	sources, err := sourceAddresses(d.p.Texts("source-address"))
	if err != nil {
		d.fault("", "%s: %v", flag, err)
		return
	}
	for _, text := range d.p.Texts("url") {
		if four, six := d.families(text); !reaches(sources, four, six) {
			d.fault("", "%s: connections to %s need an address of IP version %s, none is given", flag,
				shorten(artifact.RedactAddress(text)), version(four, six))
		}
	}
}

// families reports which IP versions the address of a URL can be: that of a literal address, or those
// that AIPERF_HTTP_IP_VERSION lets names have.
func (d *draft) families(text string) (four, six bool) {
	if u, err := url.Parse(withScheme(text)); err == nil {
		if a, err := netip.ParseAddr(u.Hostname()); err == nil {
			four = a.Unmap().Is4()
			return four, !four
		}
	}
	v := d.p.Env.HTTP.IPVersion
	return v != "6", v != "4"
}

// reaches reports whether one of the sources is of one of the versions.
func reaches(sources []netip.Addr, four, six bool) bool {
	for _, a := range sources {
		if a.Is4() && four || !a.Is4() && six {
			return true
		}
	}
	return false
}

func version(four, six bool) string {
	switch {
	case four && six:
		return "4 or 6"
	case four:
		return "4"
	}
	return "6"
}

// sourceAddresses reads the items of --source-address.
func sourceAddresses(items []string) ([]netip.Addr, error) {
	var list []netip.Addr
	seen := map[netip.Addr]bool{}
	for _, item := range items {
		a, err := netip.ParseAddr(item)
		a = a.Unmap()
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s is not an IP address; write for example 192.0.2.10", shorten(item))
		case a.IsUnspecified() || a.IsMulticast():
			return nil, fmt.Errorf("%s is not the address of a machine", a)
		case seen[a]:
			return nil, fmt.Errorf("%s is given twice", a)
		}
		seen[a] = true
		list = append(list, a)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("it needs at least one IP address of this machine")
	}
	return list, nil
}

func (d *draft) network() Network {
	n := Network{Automatic: d.p.Bool("network-latency-automatic"),
		Interval: secondsDuration(*d.p.Float("network-latency-ping-interval"))}
	if mean := d.p.Float("network-latency-mean"); mean != nil {
		rtt := time.Duration(min(math.Round(*mean*1e6), math.MaxInt64/2))
		n.Mean = &rtt
	}
	return n
}
