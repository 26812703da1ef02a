//go:build !race

package petal

const raceEnabled = false
