package petalredis

import (
	"context"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Export gives the bytes of a key's image, chunk by chunk and in order: written to a file they are what the command
// petal and every binding open. Whoever opens it notices what was added meanwhile.
func Export(ctx context.Context, client redis.UniversalClient, key string, take func(chunk []byte) error) error {
	for iterator := int64(0); ; {
		reply, err := client.Do(ctx, "PETAL.EXPORT", key, iterator).Slice()
		if err != nil {
			return err
		}
		if len(reply) != 2 {
			return fmt.Errorf("PETAL.EXPORT: %d replies, and not 2", len(reply))
		}
		next, isNumber := reply[0].(int64)
		chunk, isString := reply[1].(string)
		if !isNumber || !isString {
			return fmt.Errorf("PETAL.EXPORT: a reply of %T and %T", reply[0], reply[1])
		}
		if next == 0 {
			return nil
		}
		if err := take([]byte(chunk)); err != nil {
			return err
		}
		iterator = next
	}
}

// Import makes a key of the bytes of an image: the function that it returns takes them in order, in chunks of any size.
// The key is there when all of them were.
func Import(ctx context.Context, client redis.UniversalClient, key string) func(chunk []byte) error {
	end := int64(0)
	return func(chunk []byte) error {
		end += int64(len(chunk))
		return client.Do(ctx, "PETAL.IMPORT", key, end+1, chunk).Err()
	}
}

// Merge brings filters together that are on different nodes, and were made alike. They go over the client in chunks
// to the node of the key `into`. There they are merged with each other and with what that key has. They keep their
// own keys. Not for the shards of a Filter, each of which has room for its share and no more.
func Merge(ctx context.Context, client redis.UniversalClient, into string, from ...string) error {
	if len(from) == 0 {
		return nil
	}
	command := []any{"PETAL.MERGE", into}
	var parts []string
	defer func() {
		if len(parts) > 0 {
			client.Unlink(context.WithoutCancel(ctx), parts...)
		}
	}()
	for i, key := range from {
		part := fmt.Sprintf("{%s}:merging:%d", tag(into), i)
		parts = append(parts, part)
		if err := Export(ctx, client, key, Import(ctx, client, part)); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		command = append(command, part)
	}
	if err := client.Do(ctx, command...).Err(); err != nil {
		return fmt.Errorf("%s: %w", into, err)
	}
	return nil
}

// tag is what decides the slot of a key: what stands between its first brace and the next closing one, or all of it.
func tag(key string) string {
	if _, after, found := strings.Cut(key, "{"); found {
		if inner, _, closed := strings.Cut(after, "}"); closed && inner != "" {
			return inner
		}
	}
	return key
}
