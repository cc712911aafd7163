package artifact

import "io/fs"

// ownFile reports whether a file belongs to the user of this process: each user has temporary files of their own.
func ownFile(fs.FileInfo) bool { return true }
