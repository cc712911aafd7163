package file

import "aiperf/internal/base/artifact"

// Object is a JSON object that keeps the order of its keys, Member one of them.
type (
	Object = artifact.Object
	Member = artifact.Member
)
