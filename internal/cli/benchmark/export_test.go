package benchmark

type (
	ChatArguments = chatArguments
	ChatSession   = chatSession
)

var (
	ChatCounter      = chatCounter
	OpenLivePage     = openLivePage
	AdoptStandardLog = adoptStandardLog
)

// ParseChat reads the arguments of aiperf chat.
func ParseChat(args ...string) (*ChatArguments, error) {
	o := chatOptions{chatArguments: chatArguments{URL: chatDefaultURL}}
	words, err := o.table().Parse(args)
	if err == nil {
		err = o.complete(words)
	}
	return &o.chatArguments, err
}
