/* ROUTERS: what a small network finds, messages that are refused, and images. */
#include "check.h"

static petal_router *make(uint64_t node, double levels) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = PETAL_KIND_ROUTER, .bits = 1024, .hashes = 4};
  CHECK_OK(petal_spec_set(&spec, "levels", levels, NULL));
  CHECK_OK(petal_spec_set(&spec, "edges", 4, NULL));
  petal_router *router = NULL;
  CHECK_OK(petal_router_new(&spec, node, &router, NULL));
  CHECK_EQUAL(petal_router_get_node(router), node);
  return router;
}

static void join(petal_router *a, petal_router *b) {
  const uint64_t link = 77;
  CHECK_OK(petal_router_add_edge(a, petal_router_get_node(b), link, 0, NULL));
  CHECK_OK(petal_router_add_edge(b, petal_router_get_node(a), link, 0, NULL));
}

/* Carries a message with all levels, or with changes, from one router to another. */
static petal_status carry(petal_router *from, petal_router *to, bool changes, petal_router_received *received) {
  const void *message = NULL;
  size_t length = 0;
  const uint64_t target = petal_router_get_node(to);
  CHECK_OK(changes ? petal_router_advertise_changes(from, target, &message, &length, NULL)
                   : petal_router_advertise(from, target, &message, &length, NULL));
  if (length == 0) return PETAL_OK;
  return petal_router_receive(to, petal_router_get_node(from), message, length, received, NULL);
}

static void check_route(petal_router_route route, petal_router_route_kind kind, uint64_t neighbour, uint32_t level) {
  CHECK_EQUAL(route.kind, kind);
  CHECK_EQUAL(route.neighbour, neighbour);
  CHECK_EQUAL(route.level, level);
}

/* Four nodes in a row, of which the last one has the keys. */
static void row_of_nodes(petal_router *nodes[4]) {
  for (uint64_t i = 0; i < 4; i++) nodes[i] = make(i + 1, 3);
  for (int i = 0; i < 3; i++) join(nodes[i], nodes[i + 1]);
  CHECK_OK(petal_router_insert(nodes[3], "song", 4));
  CHECK_OK(petal_router_insert(nodes[3], NUMBER(5)));
  CHECK_OK(petal_router_insert_hash(nodes[3], 6));
  for (int i = 3; i > 0; i--) CHECK_OK(carry(nodes[i], nodes[i - 1], true, NULL));
}

static void free_all(petal_router *nodes[], int count) {
  for (int i = 0; i < count; i++) petal_router_free(nodes[i]);
}

static void routes_keys(void) {
  petal_router *nodes[4];
  row_of_nodes(nodes);
  petal_router_route route = {0};
  const uint64_t first = 1, third = 3;
  CHECK_OK(petal_router_get_route(nodes[0], "song", 4, NULL, 9, &route));
  check_route(route, PETAL_ROUTER_ROUTE_EDGE, 2, 3);
  CHECK_OK(petal_router_get_route(nodes[1], NUMBER(5), &first, 9, &route));
  check_route(route, PETAL_ROUTER_ROUTE_EDGE, 3, 2);
  CHECK_OK(petal_router_get_route_hash(nodes[2], 6, NULL, 9, &route));
  check_route(route, PETAL_ROUTER_ROUTE_EDGE, 4, 1);
  CHECK_OK(petal_router_get_route(nodes[1], "song", 4, &third, 9, &route));
  check_route(route, PETAL_ROUTER_ROUTE_FALL_BACK, 0, 0);
  CHECK_OK(petal_router_get_route(nodes[1], NUMBER(5), NULL, 0, &route));
  check_route(route, PETAL_ROUTER_ROUTE_FALL_BACK, 0, 0);
  CHECK_OK(petal_router_get_route(nodes[3], NUMBER(5), NULL, 0, &route));
  check_route(route, PETAL_ROUTER_ROUTE_HERE, 0, 0);
  CHECK(petal_router_contains(nodes[3], "song", 4) && petal_router_contains(nodes[3], NUMBER(5)));
  CHECK(petal_router_contains_hash(nodes[3], 6) && !petal_router_contains(nodes[0], "song", 4));
  free_all(nodes, 4);
}

static void walks(void) {
  petal_router *nodes[4];
  row_of_nodes(nodes);
  petal_router_walk_state walk = {.hops_left = 6};
  petal_router_route route = {0};
  for (int i = 0; i < 3; i++) {
    CHECK_OK(petal_router_walk(nodes[i], "song", 4, &walk, &route));
    check_route(route, PETAL_ROUTER_ROUTE_EDGE, (uint64_t)i + 2, (uint32_t)(3 - i));
  }
  CHECK_OK(petal_router_walk(nodes[3], NUMBER(5), &walk, &route));
  check_route(route, PETAL_ROUTER_ROUTE_HERE, 0, 0);
  /* The node does not have the key after all. */
  CHECK_OK(petal_router_walk_hash(nodes[3], 6, &walk, &route));
  check_route(route, PETAL_ROUTER_ROUTE_BACK, 3, 0);
  CHECK_EQUAL(walk.hops_left, 2);
  CHECK_OK(petal_router_walk(nodes[2], "song", 4, &walk, &route));
  check_route(route, PETAL_ROUTER_ROUTE_BACK, 2, 0);
  CHECK_EQUAL(walk.visited, 4);
  walk.depth = 70;
  CHECK_STATUS(petal_router_walk(nodes[2], "song", 4, &walk, &route), PETAL_ERR_OUT_OF_RANGE);
  free_all(nodes, 4);
}

static void messages(void) {
  petal_router *a = make(1, 3), *b = make(2, 3), *other = make(1, 4);
  join(a, b);
  CHECK_OK(petal_router_add_edge(other, 2, 77, 0, NULL));
  petal_router_received received = 9;
  petal_error error = PETAL_ERROR_INIT;
  uint64_t keys[100];
  for (uint64_t i = 0; i < 100; i++) keys[i] = i;
  CHECK_OK(petal_router_insert_batch(a, U64_KEYS(keys, 100), NULL, NULL));
  CHECK_OK(carry(a, b, false, &received));
  CHECK_EQUAL(received, PETAL_ROUTER_RECEIVED_CHANGED);
  CHECK_OK(carry(a, b, false, &received));
  CHECK_EQUAL(received, PETAL_ROUTER_RECEIVED_UNCHANGED);
  const void *message = NULL;
  size_t length = 1;
  CHECK_OK(petal_router_advertise_changes(a, 2, &message, &length, NULL));
  CHECK_EQUAL(length, 0);
  /* A message is lost, and the next one shows it. */
  CHECK_OK(petal_router_remove_batch(a, U64_KEYS(keys, 50), NULL, NULL));
  CHECK_OK(petal_router_advertise_changes(a, 2, &message, &length, NULL));
  CHECK(length > 0);
  CHECK_OK(petal_router_insert(a, NUMBER(1000)));
  CHECK_OK(carry(a, b, true, &received));
  CHECK_EQUAL(received, PETAL_ROUTER_RECEIVED_NEEDS_ALL);
  CHECK_OK(petal_router_advertise(a, 2, &message, &length, NULL));
  CHECK_OK(petal_router_receive(b, 1, message, length, &received, NULL));
  CHECK_EQUAL(received, PETAL_ROUTER_RECEIVED_CHANGED);
  CHECK_STATUS(petal_router_receive(b, 1, message, length, &received, &error), PETAL_ERR_CORRUPT);
  CHECK_TEXT(error.message, "came again");
  CHECK_STATUS(petal_router_receive(b, 1, message, length - 1, NULL, NULL), PETAL_ERR_CORRUPT);
  CHECK_STATUS(petal_router_receive(b, 1, "PETAL", 5, NULL, NULL), PETAL_ERR_FOREIGN);
  CHECK_STATUS(petal_router_receive(b, 9, message, length, NULL, NULL), PETAL_ERR_OUT_OF_RANGE);
  CHECK_OK(petal_router_advertise(other, 2, &message, &length, NULL));
  CHECK_STATUS(petal_router_receive(b, 1, message, length, NULL, &error), PETAL_ERR_INCOMPATIBLE);
  CHECK_TEXT(error.message, "levels: 4 and 3");
  petal_router_edge edge = PETAL_ROUTER_EDGE_INIT;
  CHECK_OK(petal_router_get_edge(b, 1, &edge, NULL));
  CHECK(edge.neighbour == 1 && edge.link == 77 && edge.received == 5 && edge.sent == 0 && edge.levels == 3);
  CHECK(edge.fill[0] > 0.1 && edge.fill[1] == 0 && edge.ignored == 0);
  free_all((petal_router *[]){a, b, other}, 3);
}

static void edges_and_weights(void) {
  petal_router *a = make(1, 2), *b = make(2, 2), *c = make(3, 2);
  join(a, b), join(a, c);
  CHECK_OK(petal_router_insert(b, NUMBER(5)));
  CHECK_OK(petal_router_insert(c, NUMBER(5)));
  CHECK_OK(carry(b, a, true, NULL));
  CHECK_OK(carry(c, a, true, NULL));
  petal_router_route route = {0};
  for (uint64_t best = 2; best <= 3; best++) {
    CHECK_OK(petal_router_set_edge_weight(a, best, (double)best, NULL));
    CHECK_OK(petal_router_get_route(a, NUMBER(5), NULL, 9, &route));
    check_route(route, PETAL_ROUTER_ROUTE_EDGE, best, 1);
  }
  const double weights[3] = {1, 0.5, 0};
  CHECK_OK(petal_router_set_level_weights(a, weights, 2, NULL));
  CHECK_STATUS(petal_router_set_level_weights(a, weights, 3, NULL), PETAL_ERR_OUT_OF_RANGE);
  CHECK_STATUS(petal_router_add_edge(a, 2, 0, 0, NULL), PETAL_ERR_CONTRADICTION);
  CHECK_STATUS(petal_router_set_node(a, 5, NULL), PETAL_ERR_CONTRADICTION);
  uint64_t neighbours[2] = {0};
  size_t count = 0;
  CHECK_OK(petal_router_get_neighbours(a, neighbours, 2, &count, NULL));
  CHECK(count == 2 && neighbours[0] + neighbours[1] == 5);
  CHECK_OK(petal_router_remove_edge(a, 3, NULL));
  CHECK_STATUS(petal_router_remove_edge(a, 3, NULL), PETAL_ERR_OUT_OF_RANGE);
  CHECK_OK(petal_router_get_neighbours(a, NULL, 0, &count, NULL));
  CHECK_EQUAL(count, 1);
  CHECK_OK(petal_router_clear(b, NULL));
  CHECK(!petal_router_contains(b, NUMBER(5)));
  CHECK_OK(petal_router_remove_edge(b, 1, NULL));
  CHECK_OK(petal_router_set_node(b, 9, NULL));
  CHECK_EQUAL(petal_router_get_node(b), 9);
  CHECK_OK(petal_router_insert(c, "x", 1));
  CHECK_OK(petal_router_remove(c, "x", 1));
  CHECK_OK(petal_router_remove(c, NUMBER(5)));
  CHECK_OK(petal_router_insert_hash(c, 5));
  CHECK_OK(petal_router_remove_hash(c, 5));
  CHECK(!petal_router_contains(c, "x", 1) && !petal_router_contains(c, NUMBER(5)) && !petal_router_contains_hash(c, 5));
  free_all((petal_router *[]){a, b, c}, 3);
}

static void rates(void) {
  petal_spec spec = {.struct_size = sizeof spec, .capacity = 100, .false_positive_rate = 0.01};
  petal_router *a = NULL, *b = NULL;
  CHECK_OK(petal_router_new(&spec, 1, &a, NULL));
  CHECK_OK(petal_router_new(&spec, 2, &b, NULL));
  join(a, b);
  uint64_t keys[100];
  for (uint64_t i = 0; i < 100; i++) keys[i] = i;
  CHECK_OK(petal_router_insert_batch(b, U64_KEYS(keys, 100), NULL, NULL));
  CHECK_OK(carry(b, a, true, NULL));
  petal_router_statistics rates = PETAL_ROUTER_STATISTICS_INIT;
  CHECK_OK(petal_router_get_statistics(a, &rates, NULL));
  CHECK(rates.levels == 3 && rates.is_overfull == 0 && rates.ignored == 0 && rates.own_fill == 0);
  CHECK_CLOSE(rates.level[2].expected_keys, 900, 0);
  CHECK(rates.level[2].expected_rate <= 0.01 && rates.level[2].expected_fill <= 0.3);
  CHECK_CLOSE(rates.level[0].mean_fill, rates.level[0].expected_fill, 0.01);
  CHECK(rates.level[1].greatest_fill == 0 && rates.false_route_rate < 0.001);
  petal_description description = PETAL_DESCRIPTION_INIT;
  CHECK_OK(petal_router_describe(b, &description, NULL));
  CHECK(description.kind == PETAL_KIND_ROUTER && description.insertions == 100 && description.capacity == 100);
  CHECK(petal_router_capabilities(b) & PETAL_CAN_REMOVE);
  free_all((petal_router *[]){a, b}, 2);
}

static bool append(void *context, const void *bytes, size_t length) {
  unsigned char **end = context;
  memcpy(*end, bytes, length);
  *end += length;
  return true;
}

static void check_opened(petal_router *router) {
  petal_router_route route = {0};
  CHECK_OK(petal_router_verify(router, NULL));
  CHECK_OK(petal_router_get_route(router, "song", 4, NULL, 9, &route));
  check_route(route, PETAL_ROUTER_ROUTE_EDGE, 3, 2);
  petal_router_free(router);
}

static void images(void) {
  petal_router *nodes[4], *other = NULL;
  row_of_nodes(nodes);
  CHECK_OK(petal_router_copy(nodes[1], &other, NULL));
  check_opened(other);
  uint64_t size = 0;
  size_t written = 0;
  CHECK_OK(petal_router_serialized_size(nodes[1], &size, NULL));
  uint64_t *image = malloc(size), *again = malloc(size);
  unsigned char *end = (unsigned char *)again;
  CHECK_OK(petal_router_serialize(nodes[1], image, size, &written, NULL));
  CHECK_EQUAL(written, size);
  CHECK_OK(petal_router_serialize_to(nodes[1], append, &end, NULL));
  CHECK(memcmp(image, again, size) == 0);
  CHECK_OK(petal_router_load(image, size, NULL, &other, NULL));
  check_opened(other);
  petal_open_options options = {.struct_size = sizeof options, .mode = PETAL_OPEN_WRITE};
  CHECK_OK(petal_router_open_in_buffer(image, size, &options, &other, NULL));
  CHECK_OK(petal_router_insert(other, NUMBER(8)));
  CHECK_OK(petal_router_sync(other, NULL));
  CHECK_OK(petal_router_mark_clean(other, NULL));
  check_opened(other);
  CHECK_STATUS(petal_router_load(image, size - 1, NULL, &other, NULL), PETAL_ERR_TRUNCATED);
  ((unsigned char *)image)[400] ^= 1;
  CHECK_STATUS(petal_router_load(image, size, NULL, &other, NULL), PETAL_ERR_CORRUPT);
  const char *path = check_path("router.petal");
  CHECK_OK(petal_router_save(nodes[1], path, NULL));
  CHECK_OK(petal_router_open(path, NULL, &other, NULL));
  CHECK_STATUS(petal_router_insert(other, NUMBER(8)), PETAL_ERR_UNSUPPORTED_BY_HANDLE);
  check_opened(other);
  FILE *file = fopen(path, "rb");
  CHECK_OK(petal_router_open_descriptor(check_descriptor(fileno(file)), 0, NULL, &other, NULL));
  fclose(file);
  check_opened(other);
  petal_filter *filter = NULL;
  CHECK_STATUS(petal_filter_open(path, NULL, &filter, NULL), PETAL_ERR_UNSUPPORTED);
  remove(path);
  free(image), free(again);
  free_all(nodes, 4);
}

int main(void) {
  routes_keys();
  walks();
  messages();
  edges_and_weights();
  rates();
  images();
  return check_done();
}
