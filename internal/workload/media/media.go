// Package media makes and reads pictures, sound and video in the form in which requests carry them.
//
// Images and videos are data URLs, sound is "wav,<base64>" or "mp3,<base64>". What is drawn depends on
// the generator handed in and on nothing else: pictures and sound are made with whole numbers only, so
// that a seed gives the same bytes on every machine. Videos are encoded by ffmpeg and are as reproducible
// as its release. The package knows neither conversations nor endpoints, and fetches nothing: an address stays one.
package media

import "encoding/base64"

// DataURL returns data of a media type, such as image/jpeg, as requests carry them.
func DataURL(mime string, data []byte) string {
	return "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(data)
}

// AudioText returns the bytes of a recording, wav or mp3, as requests carry them.
func AudioText(format string, data []byte) string {
	return format + "," + base64.StdEncoding.EncodeToString(data)
}
