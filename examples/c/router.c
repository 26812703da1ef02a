/*
 * Nodes in the plane find each other's objects by routers. Each node has some objects, and is linked to at least two
 * nodes nearby. Every fourth node is also linked to a random one. The nodes tell each other what they have, then
 * objects are looked up from random nodes, and the program draws one of the queries.
 *
 *     router [-n NODES] [-l LEVELS] [-q QUERIES] [-o FILE.svg]
 *
 * There are NODES (200) nodes, whose routers know objects up to LEVELS (3) hops away, and QUERIES (1000) queries for
 * objects of nodes that are at most LEVELS hops away. A query has found its object only at the node that has it. The
 * picture goes to FILE.svg (router.svg): the nodes, their links, and the way of the longest query.
 */
#define _XOPEN_SOURCE 700
#include <inttypes.h>
#include <math.h>
#include <petal_router.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OBJECTS = 10, DEGREE = 16, HOPS = 16 };

struct node {
    double x, y;
    petal_router *router;
    size_t neighbours[DEGREE];
    size_t degree;
};

static petal_error error = PETAL_ERROR_INIT;
static struct node *nodes;
static size_t count = 200;
static uint64_t state = 1;

static void must(petal_status status) {
    if (status == PETAL_OK) return;
    fprintf(stderr, "petal: %s\n", error.status == status ? error.message : petal_status_message(status));
    exit(1);
}

/* Numbers that are the same in every run (SplitMix64). */
static uint64_t draw(uint64_t below) {
    uint64_t x = state += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return (x ^ (x >> 31)) % below;
}

static double distance(size_t a, size_t b) {
    return hypot(nodes[a].x - nodes[b].x, nodes[a].y - nodes[b].y);
}

static bool are_linked(size_t a, size_t b) {
    for (size_t i = 0; i < nodes[a].degree; i++) {
        if (nodes[a].neighbours[i] == b) return true;
    }
    return false;
}

/* Links two nodes, if both have room. Both ends give the link the same random number. */
static void join(size_t a, size_t b) {
    if (a == b || are_linked(a, b) || nodes[a].degree == DEGREE || nodes[b].degree == DEGREE) return;
    nodes[a].neighbours[nodes[a].degree++] = b;
    nodes[b].neighbours[nodes[b].degree++] = a;
    const uint64_t link = draw(UINT64_MAX);
    must(petal_router_add_edge(nodes[a].router, b, link, -distance(a, b), &error));
    must(petal_router_add_edge(nodes[b].router, a, link, -distance(a, b), &error));
}

static void make_network(const petal_spec *spec) {
    nodes = calloc(count, sizeof *nodes);
    if (!nodes) perror("memory"), exit(1);
    for (size_t i = 0; i < count; i++) {
        nodes[i].x = (double)draw(1000), nodes[i].y = (double)draw(1000);
        must(petal_router_new(spec, i, &nodes[i].router, &error));
        for (uint64_t object = 0; object < OBJECTS; object++) {
            const uint64_t key = OBJECTS * i + object;
            must(petal_router_insert(nodes[i].router, &key, sizeof key));
        }
    }
    for (size_t i = 0; i < count; i++) {
        for (int link = 0; link < 2; link++) {
            size_t nearest = i;
            for (size_t j = 0; j < count; j++) {
                if (j == i || are_linked(i, j)) continue;
                if (nearest == i || distance(i, j) < distance(i, nearest)) nearest = j;
            }
            join(i, nearest);
        }
        if (i % 4 == 0) join(i, draw(count));
    }
}

/* Carries what changed over every link, until nothing changes. Returns how many bytes the messages had. */
static uint64_t exchange(void) {
    uint64_t bytes = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < count; i++) {
            for (size_t j = 0; j < nodes[i].degree; j++) {
                const size_t to = nodes[i].neighbours[j];
                const void *message = NULL;
                size_t length = 0;
                must(petal_router_advertise_changes(nodes[i].router, to, &message, &length, &error));
                if (length == 0) continue;
                must(petal_router_receive(nodes[to].router, i, message, length, NULL, &error));
                bytes += length;
                changed = true;
            }
        }
    }
    return bytes;
}

/* The number of hops from a node to each other one; `count` if there is no way. */
static void hops_from(size_t from, size_t *hops) {
    size_t *queue = malloc(count * sizeof *queue), first = 0, end = 1;
    if (!queue) perror("memory"), exit(1);
    for (size_t i = 0; i < count; i++) hops[i] = count;
    queue[0] = from, hops[from] = 0;
    while (first < end) {
        const size_t node = queue[first++];
        for (size_t i = 0; i < nodes[node].degree; i++) {
            const size_t next = nodes[node].neighbours[i];
            if (hops[next] < count) continue;
            hops[next] = hops[node] + 1, queue[end++] = next;
        }
    }
    free(queue);
}

/* The way of a query: the nodes where it was, in order. */
struct way {
    size_t nodes[HOPS + 1];
    size_t length;
    bool found;
};

static struct way look_up(size_t from, uint64_t object) {
    struct way way = {.nodes = {from}, .length = 1};
    petal_router_walk_state walk = {.hops_left = HOPS};
    for (;;) {
        const size_t at = way.nodes[way.length - 1];
        petal_router_route route = {0};
        must(petal_router_walk(nodes[at].router, &object, sizeof object, &walk, &route));
        /* The node knows exactly what it has. If it does not have the object after all, the query goes on. */
        if (route.kind == PETAL_ROUTER_ROUTE_HERE && at == object / OBJECTS) way.found = true;
        if (way.found || route.kind == PETAL_ROUTER_ROUTE_FALL_BACK) return way;
        if (route.kind != PETAL_ROUTER_ROUTE_HERE) way.nodes[way.length++] = (size_t)route.neighbour;
    }
}

static void draw_picture(const char *path, const struct way *way) {
    FILE *file = fopen(path, "w");
    if (!file) perror(path), exit(1);
    fputs("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-20 -20 1040 1040\">\n"
          "<rect x=\"-20\" y=\"-20\" width=\"1040\" height=\"1040\" fill=\"white\"/>\n",
          file);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < nodes[i].degree; j++) {
            const struct node *other = &nodes[nodes[i].neighbours[j]];
            if (nodes[i].neighbours[j] < i) continue;
            fprintf(file, "<path d=\"M%.0f %.0fL%.0f %.0f\" stroke=\"#bbb\"/>\n", nodes[i].x, nodes[i].y, other->x,
                    other->y);
        }
    }
    fputs("<path fill=\"none\" stroke=\"#d33\" stroke-width=\"5\" d=\"M", file);
    for (size_t i = 0; i < way->length; i++) {
        fprintf(file, "%s%.0f %.0f", i > 0 ? "L" : "", nodes[way->nodes[i]].x, nodes[way->nodes[i]].y);
    }
    fputs("\"/>\n", file);
    for (size_t i = 0; i < count; i++) {
        const bool is_start = i == way->nodes[0], is_end = i == way->nodes[way->length - 1];
        fprintf(file, "<circle cx=\"%.0f\" cy=\"%.0f\" r=\"%d\" fill=\"%s\"/>\n", nodes[i].x, nodes[i].y,
                is_start || is_end ? 12 : 5, is_start ? "#36c" : is_end ? "#d33" : "#444");
    }
    fputs("</svg>\n", file);
    if (fclose(file) != 0) perror(path), exit(1);
}

int main(int argc, char **argv) {
    const char *picture = "router.svg";
    size_t levels = 3, queries = 1000;
    for (int option; (option = getopt(argc, argv, "n:l:q:o:")) != -1;) {
        if (option == 'o') picture = optarg;
        else if (option == 'n') count = strtoul(optarg, NULL, 10);
        else if (option == 'l') levels = strtoul(optarg, NULL, 10);
        else if (option == 'q') queries = strtoul(optarg, NULL, 10);
        else return 2;
    }
    if (count < 10 || levels < 1 || queries < 1) {
        fputs("router: at least 10 nodes, 1 level and 1 query\n", stderr);
        return 2;
    }
    petal_spec spec = PETAL_SPEC_INIT;
    spec.kind = PETAL_KIND_ROUTER;
    spec.capacity = OBJECTS;
    must(petal_spec_set(&spec, "levels", (double)levels, &error));
    must(petal_spec_set(&spec, "edges", DEGREE, &error));
    /* A node has some 4.5 neighbours, and more where nodes are dense. */
    must(petal_spec_set(&spec, "fan_out", 5, &error));
    make_network(&spec);
    const uint64_t bytes = exchange();
    petal_description description = PETAL_DESCRIPTION_INIT;
    must(petal_router_describe(nodes[0].router, &description, &error));
    printf("%zu nodes, levels of %" PRIu64 " bits, %" PRIu64 " bytes of messages\n", count, description.bits, bytes);

    size_t *hops = malloc(count * sizeof *hops), found = 0, made = 0, shortest = 0, asked = 0;
    struct way longest = {.length = 0};
    if (!hops) perror("memory"), exit(1);
    for (size_t i = 0; asked < queries && i < 100 * queries; i++) {
        const size_t from = draw(count);
        const uint64_t object = draw(OBJECTS * count);
        const size_t has = (size_t)object / OBJECTS;
        hops_from(from, hops);
        if (has == from || hops[has] > levels) continue;
        const struct way way = look_up(from, object);
        asked++;
        if (!way.found) continue;
        found++, made += way.length - 1, shortest += hops[has];
        if (way.length > longest.length) longest = way;
    }
    double fill = 0;
    size_t overfull = 0;
    for (size_t i = 0; i < count; i++) {
        petal_router_statistics rates = PETAL_ROUTER_STATISTICS_INIT;
        must(petal_router_get_statistics(nodes[i].router, &rates, &error));
        fill = fmax(fill, rates.level[levels - 1].greatest_fill);
        overfull += rates.is_overfull;
    }
    printf("%zu of %zu queries found their object, in %.3f times the fewest hops\n", found, asked,
           shortest > 0 ? (double)made / (double)shortest : 0);
    printf("the fill of the last level is at most %.2f; that of %zu nodes is above 0.3\n", fill, overfull);
    draw_picture(picture, &longest);
    for (size_t i = 0; i < count; i++) petal_router_free(nodes[i].router);
    free(nodes), free(hops);
    /* A query may take a wrong way at a false positive, but rarely uses up its hops. */
    return asked > 0 && 100 * found >= 98 * asked ? 0 : 1;
}
