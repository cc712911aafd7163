// Package config turns what the user wrote into what will happen.
//
// One table (Options) holds every flag of "aiperf profile": names, value grammar, default, limits,
// environment variable, YAML path, help and whether the capability is built. Parse reads an argument
// vector against it and remembers the Origin of every value; Resolve derives every default, checks the
// flags against one another and yields a Run, the resolved configuration that all other rooms read.
// ReadEnv does the same for the AIPERF_* environment variables.
//
// Vocabulary: an option is a row of the table, a flag is one of its spellings, a value is given when a
// flag or a file set it (an environment variable or a default does not count as given), a fault is one
// line about something the user has to change.
//
// Invariant: a Run holds no open question. Whatever depends on another value has been decided, and
// nothing below this package knows about flags.
package config
