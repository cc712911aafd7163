// Package recordbatch packs records into batches of bytes and reads them back, exactly: what a process that makes the
// requests of a run sends to the one that counts them.
//
// A row is written as the differences to the row before it, so that what repeats takes a byte; ids that are UUIDs take
// 16 bytes, other texts are written once in a batch. A row of facts takes about 60 bytes, its two ids 32 more. What few
// records have (a trace, a raw exchange, an error) follows its row. The bytes are for processes of the same build.
package recordbatch
