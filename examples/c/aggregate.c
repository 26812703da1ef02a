/*
 * Sensors gossip, and each one learns the sum of what all of them measure. The sensors meet in random pairs, again and
 * again. Halfway through, a tenth of the sensors begins to measure something else. No sensor has a list of the others:
 * each sensor has a few bytes for each other one, and counts none twice.
 *
 *     aggregate [-n SENSORS] [-r ROUNDS] [-p RATE] [-o PICTURE]
 *
 * There are SENSORS (200), and each meets one other sensor, as its aggregator, in each of ROUNDS (4000). RATE (0.01) is
 * the false-positive rate of the memories. PICTURE (aggregate.svg) shows the magnitudes of the errors of the sums: the
 * mean and the range over all sensors. In the end the program compares the sums with the exact one, and their errors
 * with what the library expects.
 */
#define _XOPEN_SOURCE 700
#include <inttypes.h>
#include <math.h>
#include <petal_aggregate.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { STATES = 8, POINTS = 200 };

struct point {
    double mean, least, greatest;
};

static petal_error error = PETAL_ERROR_INIT;
static uint64_t sensors = 200, rounds = 4000;

static void must(petal_status status) {
    if (status == PETAL_OK) return;
    fprintf(stderr, "petal: %s\n", error.status == status ? error.message : petal_status_message(status));
    exit(1);
}

static void *have(void *memory) {
    if (memory == NULL) {
        fprintf(stderr, "aggregate: out of memory\n");
        exit(1);
    }
    return memory;
}

static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static uint64_t chance(uint64_t below) {
    static uint64_t state;
    state += UINT64_C(0x9e3779b97f4a7c15);
    return mix(state) % below;
}

/* What a sensor measures in a state: 10 to 30 degrees. */
static double value_of(uint64_t sensor, uint32_t state) {
    return 10 + (double)(mix(sensor * STATES + state) % 2000) / 100;
}

/* An aggregator meets a disseminator. What they say to each other would go over a network. */
static petal_aggregate_outcome add(petal_aggregate **all, uint64_t aggregator, uint64_t teller, uint32_t state) {
    uint32_t told[STATES];
    petal_aggregate_state_value previous[STATES];
    petal_aggregate_answer answer;
    size_t count = 0;
    must(petal_aggregate_list_sent(all[teller], &aggregator, sizeof aggregator, told, STATES, &count, &error));
    for (size_t i = 0; i < count; i++) {
        previous[i].state = told[i];
        previous[i].value = value_of(teller, told[i]);
    }
    must(petal_aggregate_add(all[aggregator], &teller, sizeof teller, state, value_of(teller, state), previous, count,
                             &answer, &error));
    must(petal_aggregate_record_sent(all[teller], &aggregator, sizeof aggregator, state, &answer, &error));
    return answer.outcome;
}

static petal_aggregate_statistics results_of(const petal_aggregate *one) {
    petal_aggregate_statistics results = PETAL_AGGREGATE_STATISTICS_INIT;
    must(petal_aggregate_get_statistics(one, &results, &error));
    return results;
}

/* The errors of all sums now, in per cent of the exact sum, with their signs or without. */
static struct point errors_now(petal_aggregate **all, double exact, bool without_sign) {
    struct point point = {0, 0, 0};
    for (uint64_t i = 0; i < sensors; i++) {
        double off = 100 * (results_of(all[i]).sum / exact - 1);
        if (without_sign) off = fabs(off);
        point.mean += off / (double)sensors;
        if (i == 0 || off < point.least) point.least = off;
        if (i == 0 || off > point.greatest) point.greatest = off;
    }
    return point;
}

/* The place of an error on a scale of powers of ten, from 0.001 % below to 100 % above. */
static double height_of(double off) {
    return 350 - 64 * (log10(fmin(fmax(off, 0.001), 100)) + 3);
}

static void draw(const char *path, const struct point *points, double rate) {
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    fprintf(file, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"420\" font-family=\"sans-serif\" "
                  "font-size=\"13\">\n<rect width=\"760\" height=\"420\" fill=\"white\"/>\n");
    fprintf(file, "<text x=\"70\" y=\"20\">error of the sums of %" PRIu64 " sensors, memories of rate %g</text>\n",
            sensors, rate);
    for (int power = -3; power <= 2; power++) {
        double y = height_of(pow(10, power));
        fprintf(file, "<path d=\"M70 %.1fH740\" stroke=\"#ddd\"/><text x=\"62\" y=\"%.1f\" text-anchor=\"end\">%g %%"
                      "</text>\n", y, y + 4, pow(10, power));
    }
    fprintf(file, "<path fill=\"#cfe0f5\" d=\"M");
    for (int i = 0; i < POINTS; i++) {
        fprintf(file, "%s%.1f %.1f", i == 0 ? "" : "L", 70 + 670.0 * i / (POINTS - 1), height_of(points[i].least));
    }
    for (int i = POINTS - 1; i >= 0; i--) {
        fprintf(file, "L%.1f %.1f", 70 + 670.0 * i / (POINTS - 1), height_of(points[i].greatest));
    }
    fprintf(file, "Z\"/>\n<path fill=\"none\" stroke=\"#1f4e8c\" stroke-width=\"2\" d=\"M");
    for (int i = 0; i < POINTS; i++) {
        fprintf(file, "%s%.1f %.1f", i == 0 ? "" : "L", 70 + 670.0 * i / (POINTS - 1), height_of(points[i].mean));
    }
    fprintf(file, "\"/>\n<path d=\"M405 30V350\" stroke=\"#b33\" stroke-dasharray=\"4 4\"/>\n"
                  "<text x=\"411\" y=\"44\" fill=\"#b33\">a tenth measures something else</text>\n"
                  "<text x=\"70\" y=\"375\">rounds 0 to %" PRIu64 "; line: mean, band: range over all sensors</text>\n"
                  "</svg>\n", rounds);
    if (fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

int main(int argc, char **argv) {
    const char *picture = "aggregate.svg";
    double rate = 0.01;
    for (int option; (option = getopt(argc, argv, "n:r:p:o:")) != -1;) {
        if (option == 'n') sensors = strtoull(optarg, NULL, 10);
        else if (option == 'r') rounds = strtoull(optarg, NULL, 10);
        else if (option == 'p') rate = strtod(optarg, NULL);
        else if (option == 'o') picture = optarg;
        else return 2;
    }
    if (sensors < 10 || sensors > 10000 || rounds < POINTS || optind != argc) {
        fprintf(stderr, "usage: aggregate [-n 10 to 10000] [-r 200 or more] [-p RATE] [-o PICTURE]\n");
        return 2;
    }

    petal_aggregate **all = have(calloc(sensors, sizeof *all));
    uint32_t *states = have(calloc(sensors, sizeof *states));
    double exact = 0;
    for (uint64_t i = 0; i < sensors; i++) {
        petal_spec spec = PETAL_SPEC_INIT;
        spec.kind = PETAL_KIND_AGGREGATE;
        spec.capacity = sensors;
        spec.false_positive_rate = rate;
        spec.seed = i;
        must(petal_spec_set(&spec, "states", STATES, &error));
        must(petal_aggregate_new(&spec, &all[i], &error));
        states[i] = (uint32_t)chance(STATES);
        exact += value_of(i, states[i]);
    }
    uint64_t size = 0;
    must(petal_aggregate_serialized_size(all[0], &size, &error));
    printf("%" PRIu64 " sensors, each with an image of %" PRIu64 " bytes\n", sensors, size);

    struct point points[POINTS];
    uint64_t outcomes[4] = {0, 0, 0, 0};
    int next = 0;
    for (uint64_t round = 0; round < rounds; round++) {
        if (round == rounds / 2) {
            for (uint64_t i = 0; i < sensors; i += 10) {
                exact -= value_of(i, states[i]);
                states[i] = (states[i] + 1) % STATES;
                exact += value_of(i, states[i]);
            }
        }
        for (uint64_t aggregator = 0; aggregator < sensors; aggregator++) {
            uint64_t teller = chance(sensors);
            outcomes[add(all, aggregator, teller, states[teller])]++;
        }
        if (round == rounds * (uint64_t)next / POINTS && next < POINTS) points[next++] = errors_now(all, exact, true);
    }
    struct point end = errors_now(all, exact, false);
    points[POINTS - 1] = errors_now(all, exact, true);
    draw(picture, points, rate);
    printf("%" PRIu64 " first meetings, %" PRIu64 " changes, %" PRIu64 " duplicates, %" PRIu64 " refusals\n",
           outcomes[PETAL_AGGREGATE_OUTCOME_FIRST], outcomes[PETAL_AGGREGATE_OUTCOME_CHANGED],
            outcomes[PETAL_AGGREGATE_OUTCOME_DUPLICATE],
           outcomes[PETAL_AGGREGATE_OUTCOME_REFUSED]);

    /* A sum lacks those sensors that a memory took for known, and counts no sensor twice. */
    petal_aggregate_expected_errors expected = PETAL_AGGREGATE_EXPECTED_ERRORS_INIT;
    must(petal_aggregate_get_expected_errors(all[0], sensors, &expected, &error));
    double corrected = 0, counted = 0;
    bool is_fine = true;
    for (uint64_t i = 0; i < sensors; i++) {
        petal_aggregate_statistics results = results_of(all[i]);
        corrected += results.mean * results.participants / (double)sensors;
        counted += (double)results.count / (double)sensors;
        is_fine = is_fine && results.count <= sensors;
    }
    double deviation = sqrt(expected.refused_firsts * (double)sensors) / (double)sensors / (double)sensors;
    printf("sums are off by %.3f %% on average (%.3f %% to %.3f %%); expected %.3f %%\n", end.mean, end.least,
           end.greatest, 100 * expected.bias);
    printf("with the estimated number of participants they are off by %.3f %%\n", 100 * (corrected / exact - 1));
    double missing = (double)sensors - counted;
    is_fine = is_fine && fabs(missing / (double)sensors + expected.bias) < 6 * deviation + 1e-3;
    if (!is_fine) fprintf(stderr, "aggregate: %.3f sensors are missing on average\n", missing);

    for (uint64_t i = 0; i < sensors; i++) petal_aggregate_free(all[i]);
    free(all);
    free(states);
    return is_fine ? 0 : 1;
}
