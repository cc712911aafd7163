// Package fleet makes one run with several processes, on one machine or on many: a coordinator, which is a run whose
// load is made elsewhere, and agents, each of which makes a share of it. They exchange messages over NATS; the
// coordinator embeds a server unless it is given another one.
//
// The vocabulary: a [Fleet] is the coordinator's side and outlives single runs, a member is an agent as the coordinator
// sees it, an [Agent] is the other side. A share is the part of the plan that a member carries out. A report is the
// whole state of a share, and is sent again and again, so that any of them may be lost; a command is repeated until it
// is answered, and doing it twice changes nothing. Records travel in numbered batches, which the agent keeps until the
// coordinator has acknowledged them.
//
// The protocol: an agent joins with its version, and is admitted or refused. From then on the coordinator sends a
// heartbeat every second, and the agent reports at least once in a heartbeat interval. Whoever does not hear of the
// other for long enough goes on without it: the coordinator counts the agent as lost, the agent ends. A run is a share
// to start; then each phase begins once all shares are ready for it, and where phases overlap, once all have joined;
// finish lets the agent drop what it kept. Leave ends the agent.
//
// Each agent keeps a journal: the number of requests that it has sent, and all records. What a lost agent did is read
// there if it ran on this machine, and reported by the agent if it comes back.
//
// The invariants: single requests are never exchanged, durations never cross clocks, and what a member sent is
// recorded, cut off, or counted as lost under the member's name; where the count is not known, it is named a lower
// bound.
package fleet
