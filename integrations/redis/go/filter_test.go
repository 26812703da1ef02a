package petalredis

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// start starts a server with the module that PETAL_REDIS_MODULE names, in its own folder. The channel is closed when
// the server has ended.
func start(t *testing.T, folder string, arguments ...string) <-chan struct{} {
	t.Helper()
	module := os.Getenv("PETAL_REDIS_MODULE")
	if module == "" {
		t.Skip("PETAL_REDIS_MODULE names no module: `make test-redis` sets it")
	}
	arguments = append([]string{"--dir", folder, "--save", "", "--loadmodule", module}, arguments...)
	process := exec.Command("redis-server", arguments...)
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = process.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = process.Process.Kill()
		<-ended
	})
	return ended
}

// until waits for something that comes soon.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 1200 {
		if is() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("waited in vain until ", what)
}

// folder is a new one with a short name, as a socket's path has to be.
func folder(t *testing.T) string {
	t.Helper()
	folder := must[string](t)(os.MkdirTemp("", "petal"))
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	return folder
}

// server is a client of a server without a port.
func server(t *testing.T) redis.UniversalClient {
	t.Helper()
	folder := folder(t)
	socket := filepath.Join(folder, "socket")
	start(t, folder, "--port", "0", "--unixsocket", socket)
	client := redis.NewClient(&redis.Options{Network: "unix", Addr: socket})
	t.Cleanup(func() { _ = client.Close() })
	until(t, "the server answers", func() bool { return client.Ping(t.Context()).Err() == nil })
	return client
}

// cluster is a client of a cluster of three nodes.
func cluster(t *testing.T) redis.UniversalClient {
	t.Helper()
	// Older ones take the port of the cluster's own bus from the other one.
	version := string(must[[]byte](t)(exec.Command("redis-server", "--version").Output()))
	if strings.Contains(version, "v=6.") {
		t.Skip(version)
	}
	ctx := t.Context()
	nodes, addresses, buses := make([]*redis.Client, 3), make([]string, 3), make([]string, 3)
	for i := range nodes {
		nodes[i], buses[i] = clusterNode(t)
		addresses[i] = nodes[i].Options().Addr
		least, most := 16384*i/3, 16384*(i+1)/3-1
		if err := nodes[i].ClusterAddSlotsRange(ctx, least, most).Err(); err != nil {
			t.Fatal(err)
		}
		if err := nodes[i].Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for _, node := range nodes[1:] {
		_, port, _ := net.SplitHostPort(addresses[0])
		if err := node.Do(ctx, "CLUSTER", "MEET", "127.0.0.1", port, buses[0]).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for _, node := range nodes {
		until(t, "the cluster is one", func() bool {
			info := node.ClusterInfo(ctx).Val()
			return strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_known_nodes:3")
		})
	}
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: addresses})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// clusterNode is a client of a new node that knows no other, and the port of its bus.
func clusterNode(t *testing.T) (*redis.Client, string) {
	t.Helper()
	for range 5 {
		// They are free now; where another process is faster, the server ends and others are taken.
		port, bus := freePort(t), freePort(t)
		ended := start(t, folder(t), "--port", port, "--cluster-port", bus, "--cluster-enabled", "yes",
			"--bind", "127.0.0.1")
		client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + port})
		t.Cleanup(func() { _ = client.Close() })
		hasEnded := false
		until(t, "a node answers or has ended", func() bool {
			select {
			case <-ended:
				hasEnded = true
			default:
			}
			return hasEnded || client.Ping(t.Context()).Err() == nil
		})
		if !hasEnded {
			return client, bus
		}
	}
	t.Fatal("no node starts")
	return nil, ""
}

func freePort(t *testing.T) string {
	t.Helper()
	listener := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return port
}

func items(from, to int) []string {
	all := make([]string, 0, to-from)
	for i := from; i < to; i++ {
		all = append(all, fmt.Sprint("item ", i))
	}
	return all
}

func count(values []bool) int {
	sum := 0
	for _, value := range values {
		if value {
			sum++
		}
	}
	return sum
}

// must is a value, or the end of the test.
func must[T any](t *testing.T) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func TestAnItemIsWhereItsHashSays(t *testing.T) {
	filter := must[*Filter](t)(New(nil, "seen", 12))
	// crc32("123456789") is 0xcbf43926, the check value of CRC-32.
	if shard := filter.ShardOf("123456789"); shard != 0xcbf43926%12 {
		t.Error(shard)
	}
	if key := filter.Key(7); key != "seen:{7}" || len(filter.Keys()) != 12 || filter.Keys()[7] != key {
		t.Error(key)
	}
	for _, shards := range []int{-1, 0, 1<<16 + 1} {
		if _, err := New(nil, "seen", shards); err == nil {
			t.Error(shards)
		}
	}
	for key, expected := range map[string]string{"a": "a", "{b}c": "b", "a{b}c": "b", "{}a": "{}a", "a{b": "a{b"} {
		if tag(key) != expected {
			t.Error(key, tag(key))
		}
	}
}

func TestASetOverManyKeysIsOneFilter(t *testing.T) {
	t.Run("on one server", func(t *testing.T) { isOneFilter(t, server(t)) })
	t.Run("in a cluster", func(t *testing.T) { isOneFilter(t, cluster(t)) })
}

func isOneFilter(t *testing.T, client redis.UniversalClient) {
	ctx, booleans := t.Context(), must[[]bool](t)
	const keys = 20_000
	for _, shards := range []int{1, 7} {
		filter := must[*Filter](t)(New(client, "seen", shards))
		if err := filter.Reserve(ctx, "blocked", keys, 0.01); err != nil {
			t.Fatal(err)
		}
		if err := filter.Reserve(ctx, "blocked", keys, 0.01); err == nil {
			t.Error("reserved twice")
		}
		added := items(0, keys)
		if isNew := count(booleans(filter.Add(ctx, added...))); isNew < keys*98/100 {
			t.Errorf("%d of %d were new", isNew, keys)
		}
		// Present and absent ones, by turns: answers are in the order of the items.
		var mixed []string
		for i, absent := range items(keys, 2*keys) {
			mixed = append(mixed, added[i], absent)
		}
		answers := booleans(filter.Exists(ctx, mixed...))
		wrong := 0
		for i, there := range answers {
			if i%2 == 0 && !there {
				t.Fatalf("%s is lost", mixed[i])
			} else if i%2 == 1 && there {
				wrong++
			}
		}
		// 1 % is 200, and 4.5 sigma are 64 more. The items and their hashes are the same each time.
		if wrong > 264 {
			t.Errorf("%d of %d absent ones are found", wrong, keys)
		}
		for _, key := range filter.Keys() {
			if client.Exists(ctx, key).Val() != 1 {
				t.Error(key)
			}
		}
		if err := filter.Delete(ctx); err != nil {
			t.Error(err)
		}
		for _, key := range filter.Keys() {
			if client.Exists(ctx, key).Val() != 0 {
				t.Error(key)
			}
		}
	}
	filter := must[*Filter](t)(New(client, "seen", 3))
	if _, err := filter.Add(ctx, "a"); err == nil {
		t.Error("added to a key that is not there")
	}
	if answers, err := filter.Exists(ctx); err != nil || len(answers) != 0 {
		t.Error(answers, err)
	}
}

func TestCountsAndRemovals(t *testing.T) {
	client, ctx := server(t), t.Context()
	filter := must[*Filter](t)(New(client, "carts", 5))
	if err := filter.Reserve(ctx, "counting", 1000, 1e-6, "SET", "counter_bits", 8); err != nil {
		t.Fatal(err)
	}
	some := items(0, 200)
	must[[]bool](t)(filter.Add(ctx, some...))
	must[[]bool](t)(filter.Add(ctx, some[:50]...))
	counts := must[[]uint64](t)(filter.Count(ctx, some...))
	for i, count := range counts {
		if expected := uint64(1); count != expected && !(i < 50 && count == 2) {
			t.Errorf("%s: %d", some[i], count)
		}
	}
	if removed := must[int](t)(filter.Remove(ctx, some[:100]...)); removed != 100 {
		t.Error(removed)
	}
	if found := count(must[[]bool](t)(filter.Exists(ctx, some...))); found != 150 {
		t.Error(found)
	}
}

func TestImagesGoBetweenKeys(t *testing.T) {
	client, ctx, from := cluster(t), t.Context(), []string{"a", "b", "c"}
	for i := range from {
		// Under keys without hash tags: they lie on different nodes.
		if err := client.Do(ctx, "PETAL.RESERVE", from[i], "blocked", 30_000, 0.001).Err(); err != nil {
			t.Fatal(err)
		}
		command := []any{"PETAL.MADD", from[i]}
		for _, item := range items(10_000*i, 10_000*(i+1)) {
			command = append(command, item)
		}
		if err := client.Do(ctx, command...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if err := Merge(ctx, client, "all:{0}", from...); err != nil {
		t.Fatal(err)
	}
	for i := range from {
		if client.Exists(ctx, from[i]).Val() != 1 || client.Exists(ctx, fmt.Sprintf("{0}:merging:%d", i)).Val() != 0 {
			t.Error(from[i])
		}
	}
	all := must[*Filter](t)(New(client, "all", 1))
	if found := count(must[[]bool](t)(all.Exists(ctx, items(0, 30_000)...))); found != 30_000 {
		t.Error(found)
	}
	var image []byte
	take := func(chunk []byte) error { image = append(image, chunk...); return nil }
	if err := Export(ctx, client, "all:{0}", take); err != nil {
		t.Fatal(err)
	}
	// In chunks of other sizes than they came in.
	put := Import(ctx, client, "copy")
	for chunk := range slices.Chunk(image, 10_001) {
		if err := put(chunk); err != nil {
			t.Fatal(err)
		}
	}
	again := image
	image = nil
	if err := Export(ctx, client, "copy", take); err != nil || !slices.Equal(image, again) {
		t.Error(err, len(image), len(again))
	}
	if err := Merge(ctx, client, "all:{0}", "missing"); err == nil {
		t.Error("a missing key was merged")
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := Merge(cancelled, client, "all:{0}", from...); err == nil {
		t.Error("merged after it was cancelled")
	}
}

// Keys that the command petal adds are found here, and the other way round.
func TestTheCommandKeepsToTheRecipe(t *testing.T) {
	command := os.Getenv("PETAL_COMMAND")
	if command == "" {
		t.Skip("PETAL_COMMAND names no command: `make test-redis` sets it")
	}
	ctx, client := t.Context(), cluster(t)
	address := client.(*redis.ClusterClient).Options().Addrs[0]
	run := func(what string, keys []string, arguments ...string) {
		t.Helper()
		words := append([]string{"redis", what, "--url", address, "--shards", "7"}, arguments...)
		process := exec.CommandContext(ctx, command, append(words, "seen")...)
		process.Stdin = strings.NewReader(strings.Join(keys, "\n"))
		if output, err := process.CombinedOutput(); err != nil {
			t.Fatalf("%s: %s", err, output)
		}
	}
	filter := must[*Filter](t)(New(client, "seen", 7))
	run("build", items(0, 10_000), "--capacity", "20000", "--fpr", "0.001")
	if found := count(must[[]bool](t)(filter.Exists(ctx, items(0, 10_000)...))); found != 10_000 {
		t.Error(found)
	}
	if found := count(must[[]bool](t)(filter.Exists(ctx, items(10_000, 20_000)...))); found > 100 {
		t.Error(found)
	}
	must[[]bool](t)(filter.Add(ctx, items(10_000, 20_000)...))
	run("check", items(0, 20_000))
	// The shards are made as Reserve makes them.
	again := must[*Filter](t)(New(client, "again", 7))
	if err := again.Reserve(ctx, "blocked", 20_000, 0.001); err != nil {
		t.Fatal(err)
	}
	for shard := range 7 {
		capacity := func(filter *Filter) any {
			info := must[any](t)(client.Do(ctx, "PETAL.INFO", filter.Key(shard)).Result())
			return info.(map[any]any)["capacity"]
		}
		if capacity(filter) != capacity(again) {
			t.Error(shard, capacity(filter), capacity(again))
		}
	}
}
