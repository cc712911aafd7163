// Package analysis shows finished runs in ways of their own, for the commands that do only that. It never computes
// metrics and never changes a run.
//
//   - [Swimlane]: the sessions of a run over time, a lane for each session, a bar in it for each request, and below them
//     the numbers of requests and sessions in flight. [ReadSwimlane] makes it from the per-request file; PNG and HTML
//     show the same chart. Times are nanoseconds since the first request was sent.
//   - [Matrix]: the results of a benchmark that was run once for each category of SPEED-Bench, a row for each model, a
//     column for each category. Figures come from the JSON summary and the server metrics next to it, of this program or
//     of the original one. The server does the speculative decoding, so acceptance lengths and rates come from its
//     metrics.
//   - [Book]: the conversations of a run as a page that works without a network: session by session, turn by turn,
//     message by message. [ReadBook] takes the raw export. A text that many requests repeat, such as a history, is in the
//     page once. All texts are untrusted: they are escaped and bounded by [BookLimits].
//   - [Card]: a finished result as what one pastes into an issue or a post, a block of Markdown and a picture: title, key
//     figures, findings such as the client's verdict, a table, the command that measured it. The result is a run,
//     repeats, a sweep, a search, the search for a capacity, or two systems that are compared. Both forms show the same;
//     texts of runs stay texts; the command has no secret; nothing is written.
package analysis
