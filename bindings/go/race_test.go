//go:build race

package petal

// Under the race detector pools forget on purpose.
const raceEnabled = true
