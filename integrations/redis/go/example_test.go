package petalredis_test

import (
	"context"
	"log"

	petalredis "github.com/petal-filter/petal/integrations/redis/go"
	"github.com/redis/go-redis/v9"
)

// A set of a billion URLs over the nodes of a cluster.
func Example() {
	ctx := context.Background()
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"10.0.0.1:6379"}})
	filter, err := petalredis.New(client, "seen", 64)
	if err != nil {
		log.Fatal(err)
	}
	if err := filter.Reserve(ctx, "blocked", 1_000_000_000, 0.001); err != nil {
		log.Fatal(err)
	}
	isNew, err := filter.Add(ctx, "https://example.org/", "https://example.org/a")
	if err != nil {
		log.Fatal(err)
	}
	found, err := filter.Exists(ctx, "https://example.org/a", "https://example.org/b")
	if err != nil {
		log.Fatal(err)
	}
	log.Print(isNew, found)
}
