// Package progress is what views and publishers see of a run: what is about to be measured ([Run]), where the run
// stands ([Snapshot]), the changes of its phases ([Phase]), its finished requests and how it ended ([Ending]). They
// implement [Observer]; the run calls each through a [Follower].
//
// The values are plain data, shared by all observers and never changed once they are handed over. They hold no secrets:
// what comes from the user is redacted.
//
// The invariant: an observer never delays a run. A follower calls it on a goroutine of its own and has a mailbox of
// bounded size. An observer that is slow loses snapshots, the oldest first, and one that hangs is left behind.
//
// The package must never know the configuration, the load generator, files, terminals or networks.
package progress
