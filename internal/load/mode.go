package load

// modeKind names how the sessions of a phase begin.
type modeKind uint8

// The kinds. Only asBurst is a closed loop, in which a session begins when another one is over; the others are open
// loops, whose arrivals do not wait for the service, and lanes replay the waits of a recording.
const (
	asBurst modeKind = iota
	bySchedule
	byUsers
	byLanes
	atRate
)

// modes returns the kinds that a phase asks for: at most one in a valid phase, none in a burst.
func (p *Phase) modes() (asked []modeKind) {
	for kind, given := range [...]bool{
		bySchedule: p.Schedule != nil, byUsers: p.Users != nil, byLanes: p.Lanes != nil,
		atRate: p.Arrivals.Pattern != Burst,
	} {
		if given {
			asked = append(asked, modeKind(kind))
		}
	}
	return asked
}

// mode returns the kind of a valid phase.
func (p *Phase) mode() modeKind {
	if asked := p.modes(); len(asked) > 0 {
		return asked[0]
	}
	return asBurst
}
