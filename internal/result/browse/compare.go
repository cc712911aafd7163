package browse

// maxCompared is the number of runs side by side.
const maxCompared = 12
