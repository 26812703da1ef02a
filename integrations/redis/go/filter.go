// Package petalredis has filters in Redis or Valkey that may be larger than a node of a cluster. Such a filter is a
// set over n keys, each of which is a filter of Petal's module with an n-th of the items. The key of an item is
// chosen by a hash of it, CRC-32, as any client in any language can; docs/redis.md has the recipe, and the module its
// commands.
//
// Items are grouped by their keys, and what belongs to a key is one command; all commands of a call go out in one
// pipeline. Many goroutines may use one Filter at once, like the client that it is made from.
package petalredis

import (
	"context"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/redis/go-redis/v9"
)

// Filter is a set over several keys.
type Filter struct {
	client redis.UniversalClient
	name   string
	shards int
}

// New is the set with this name over this many keys, from 1 to 65,536. It asks nothing of the server. All clients of a
// set have to give the same number, which cannot change while the set has items.
func New(client redis.UniversalClient, name string, shards int) (*Filter, error) {
	if shards < 1 || shards > 1<<16 {
		return nil, fmt.Errorf("shards = %d: it must be from 1 to %d", shards, 1<<16)
	}
	return &Filter{client: client, name: name, shards: shards}, nil
}

// Key is the key of a shard. Its hash tag is the shard's number, so that shards are spread over the nodes of a cluster.
func (f *Filter) Key(shard int) string { return fmt.Sprintf("%s:{%d}", f.name, shard) }

// Keys are those of all shards.
func (f *Filter) Keys() []string {
	keys := make([]string, f.shards)
	for shard := range keys {
		keys[shard] = f.Key(shard)
	}
	return keys
}

// ShardOf is the shard of an item: its CRC-32 (IEEE 802.3) modulo their number.
func (f *Filter) ShardOf(item string) int {
	return int(crc32.ChecksumIEEE([]byte(item)) % uint32(f.shards))
}

// Reserve makes the filters of all shards, of a kind by its name, for capacity items in all at this false-positive
// rate. Further arguments are those of PETAL.RESERVE after the rate, as in "SET", "counter_bits", 8. Shares of a hash
// are never quite alike, so each has room for an n-th and five standard deviations more. Where one key is there
// already, an error says so, and the others are made.
func (f *Filter) Reserve(ctx context.Context, kind string, capacity uint64, rate float64, arguments ...any) error {
	share := float64(capacity) / float64(f.shards)
	if f.shards > 1 {
		share += 5 * math.Sqrt(share)
	}
	_, err := f.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for _, key := range f.Keys() {
			command := []any{"PETAL.RESERVE", key, kind, uint64(math.Ceil(share)), rate}
			pipe.Do(ctx, append(command, arguments...)...)
		}
		return nil
	})
	return err
}

// Add adds items, and says of each whether it certainly was not there before, in their order.
func (f *Filter) Add(ctx context.Context, items ...string) ([]bool, error) {
	return ask(ctx, f, "PETAL.MADD", items, (*redis.Cmd).BoolSlice)
}

// Exists says of each item whether it may be there, in their order.
func (f *Filter) Exists(ctx context.Context, items ...string) ([]bool, error) {
	return ask(ctx, f, "PETAL.MEXISTS", items, (*redis.Cmd).BoolSlice)
}

// Count says how often each item is there, in their order; the kind says how exact that is.
func (f *Filter) Count(ctx context.Context, items ...string) ([]uint64, error) {
	return ask(ctx, f, "PETAL.MCOUNT", items, (*redis.Cmd).Uint64Slice)
}

// Remove removes items, each of them once, and says how many were there. Only items that were added may be removed.
func (f *Filter) Remove(ctx context.Context, items ...string) (int, error) {
	removed := 0
	err := f.each(ctx, "PETAL.REMOVE", items, func(_ []int, reply *redis.Cmd) error {
		count, err := reply.Int()
		removed += count
		return err
	})
	return removed, err
}

// Delete deletes the keys of all shards; the server frees them in a separate thread.
func (f *Filter) Delete(ctx context.Context) error {
	_, err := f.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for _, key := range f.Keys() {
			pipe.Unlink(ctx, key)
		}
		return nil
	})
	return err
}

// each sends one command for each shard that items belong to, and gives its reply with the places of these items.
func (f *Filter) each(ctx context.Context, name string, items []string, take func([]int, *redis.Cmd) error) error {
	if len(items) == 0 {
		return nil
	}
	places := make(map[int][]int)
	for i, item := range items {
		shard := f.ShardOf(item)
		places[shard] = append(places[shard], i)
	}
	replies := make(map[int]*redis.Cmd, len(places))
	_, err := f.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for shard, of := range places {
			command := make([]any, 0, 2+len(of))
			command = append(command, name, f.Key(shard))
			for _, i := range of {
				command = append(command, items[i])
			}
			replies[shard] = pipe.Do(ctx, command...)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for shard, reply := range replies {
		if err := take(places[shard], reply); err != nil {
			return err
		}
	}
	return nil
}

// ask brings what is replied of each item into the order of the items.
func ask[T any](
	ctx context.Context, f *Filter, name string, items []string, read func(*redis.Cmd) ([]T, error),
) ([]T, error) {
	answers := make([]T, len(items))
	err := f.each(ctx, name, items, func(places []int, reply *redis.Cmd) error {
		values, err := read(reply)
		if err == nil && len(values) != len(places) {
			err = fmt.Errorf("%s: %d replies to %d items", name, len(values), len(places))
		}
		for i, value := range values {
			if err == nil {
				answers[places[i]] = value
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return answers, nil
}
