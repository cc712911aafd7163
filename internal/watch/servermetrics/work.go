package servermetrics

import "slices"

// The requests that a server has, running and waiting; those at the workers of a frontend include those that wait.
var (
	engineWork   = slices.Concat(runningGauges.engines, waitingGauges.engines)
	frontendWork = names{engines: []string{"dynamo_frontend_inflight_requests", "dynamo_frontend_queued_requests"}}
)

// Work returns how many requests the servers have by their newest scrapes, running and waiting, and the instant of the
// last of these; 0 where none of them says so. What engines and the front ends before them show are the same requests:
// the larger number counts. It may be called during the collection.
func (s *Store) Work() (requests float64, atNS int64) {
	var front sums
	s.newest(slices.Concat(engineWork, frontendWork.all()), true, func(series *Series, timestampNS int64, v float64) {
		atNS = max(atNS, timestampNS)
		if name := series.Family.Name; slices.Contains(engineWork, name) {
			requests += v
		} else {
			front.add(series.endpoint, name, v)
		}
	})
	if v := front.total(frontendWork); v != nil {
		requests = max(requests, *v)
	}
	return requests, atNS
}
