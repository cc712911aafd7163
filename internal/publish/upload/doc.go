// Package upload finds the files of a run that are uploaded, and makes the requests to the services that results are
// uploaded to.
//
// Files are found by patterns, opened, and given a media type; the folder is only read. Requests have JSON bodies or
// files, and are repeated where a service is busy.
//
// The invariant: an error is a [Problem] with a text for users that contains no credentials.
package upload
