package fleet

import (
	"reflect"
	"sync"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/recordfile"
	"aiperf/internal/watch/trust"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/recipe"
)

// protocol numbers the messages below and what they mean. Processes with another number do not work together: the
// coordinator refuses an agent of another version or layout when it joins. So that the refusal reaches it, the keys of
// the handshake and the subjects stay as they are, whatever the Go names.
const protocol = 1

// codec carries configurations and all messages but the two of the handshake, which other builds must be able to read.
var codec = recordfile.Codec{Types: []reflect.Type{reflect.TypeFor[recipe.Distribution](), reflect.TypeFor[recipe.Normal]()}}

// layout is a hash of the types that are carried: builds of one version may differ in them.
var layout = sync.OnceValue(func() string {
	return recordfile.Layout(reflect.TypeFor[command](), reflect.TypeFor[report](), reflect.TypeFor[work](),
		reflect.TypeFor[config.Run](), reflect.TypeFor[record.Record](), reflect.TypeFor[dataset.Conversation](),
		reflect.TypeFor[manifest]())
})

// joinRequest is what an agent asks to join with, as JSON: the names of the fields are the keys.
type joinRequest struct {
	// ID is the agent's own, for the time of its process; Name is how reports call it.
	ID, Name string
	// Local agents were started by the coordinator.
	Local    bool
	Version  string
	Protocol int
	Layout   string
	Cores    int
}

// joinReply is the coordinator's answer, as JSON: the names of the fields are the keys.
type joinReply struct {
	// Refusal says why the agent is not admitted; empty if it is.
	Refusal string
	// Coordinator is the id of the coordinator's process.
	Coordinator string
	// Heartbeat is the longest time between two reports of the agent.
	Heartbeat time.Duration
}

// The subjects of a fleet, behind its name.
const (
	joinSubject      = "join"
	heartbeatSubject = "beat"
	commandSubject   = "agent."   // and the id: commands to an agent, each answered
	ackSuffix        = ".confirm" // behind that: acknowledgements of batches
	reportSubject    = "report."  // and the id: state of an agent
	recordSubject    = "rows."    // and the id: records
)

// subjects returns the beginning of all subjects of a fleet.
func subjects(name string) string { return "aiperf." + name + "." }

// commandKind is what a command asks for. Each may come twice: the coordinator repeats a command until it is answered.
type commandKind uint8

const (
	readClock    commandKind = iota + 1 // answer at once with the time
	startShare                          // make a share of a run ready
	beginPhase                          // let a phase begin at an instant
	joinPhase                           // what all shares have used before a phase
	endPhase                            // let a phase end now, with a grace for its replies
	stopShare                           // send nothing more, cut off what is in flight
	finishShare                         // all that was reported has come: the run is over
	abandonShare                        // the share was counted as lost: end it, nothing of it is wanted any more
	leaveFleet                          // there will be no further run
)

// command is what the coordinator asks of an agent.
type command struct {
	Kind  commandKind
	Run   string
	Work  *work
	Phase int
	// AtNS is when a phase begins, on the agent's clock.
	AtNS   int64
	Grace  time.Duration
	Used   load.Used
	Reason string
}

// commandReply is what an agent says to a command: the time on its clock, wall epoch ns, and what is wrong with the
// command.
type commandReply struct {
	ClockNS int64
	Error   string
}

// work is a share of a run, as its agent gets it.
type work struct {
	ID    string
	Share load.Share
	// Config is the configuration of the whole run. Secrets are all values of it that must not be shown.
	Config  config.Run
	Secrets []string
	// Content names the manifest of what requests say, in the store.
	Content string
	// Bucket is the store of the run.
	Bucket string
	// Residues: the sessions of a share are those whose number is its index modulo the number of shares.
	Residues bool
	// WithoutIDs leaves the ids of requests and sessions out of the records.
	WithoutIDs bool
	// RawStays leaves the raw exchanges in files of the agent.
	RawStays bool
}

// report is the state of an agent and its share.
type report struct {
	// Number rises with each report of an agent.
	Number uint64
	// Run is the run that the rest is about; empty for none.
	Run string
	// Ready and Joined count the phases that may begin, and those that wait to hear what all shares have used.
	Ready, Joined int
	Used          load.Used
	// Phases are the numbers of all phases so far, with instants on the agent's clock.
	Phases []load.Stats
	// Batches and Records count what was handed over for sending.
	Batches uint64
	Records int64
	// Notes are what went wrong on the agent's side without ending the share.
	Notes []string
	// Ended is set once the share is over.
	Ended *ended
}

// ended is how a share ended.
type ended struct {
	// Error is why it ended itself; empty if it did not.
	Error    string
	Verdict  trust.Verdict
	Findings []finding
	// Dir is the folder of files that stay with the agent; empty for none.
	Dir string
	// Journal is what the journal of the share says.
	Journal *ledger
}

// finding is a reason of a verdict.
type finding struct {
	Code            string
	Leads           trust.Verdict
	Message, Advice string
}

func findingsOf(list []trust.Reason) (out []finding) {
	for _, r := range list {
		out = append(out, finding{r.Code, r.Leads, r.Message, r.Advice})
	}
	return out
}

// reasons returns the findings as a part of a run has them.
func (e *ended) reasons() (out []trust.Reason) {
	for _, f := range e.Findings {
		out = append(out, trust.Reason{Code: f.Code, Leads: f.Leads, Message: f.Message, Advice: f.Advice})
	}
	return out
}
