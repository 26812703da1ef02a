/*
 * Two services keep one set of documents equal, each in its own process. Documents come and go at both. In every round
 * the services find out by a session which documents only one of them has, and each takes over what the other changed.
 * The messages are as large as the differences need, however many documents there are.
 *
 *     reconcile [-n DOCUMENTS] [-c CHANGES] [-r ROUNDS]
 *
 * Each service has about half of DOCUMENTS (200000), and makes CHANGES (100) in each of ROUNDS (10). Before the first
 * round one service made fifty times as many, as if the other service had come back from a backup. The services are
 * joined by a socket, and all answers are compared with exact ones.
 */
#define _XOPEN_SOURCE 700
#include <arpa/inet.h>
#include <inttypes.h>
#include <petal_session.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Coded symbols of a sketch: enough for the differences of most rounds. More symbols take a pass over the keys. */
enum { SYMBOLS = 600, LONGEST_MESSAGE = 1 << 26 };

struct service {
    petal_session_role role;
    petal_sketch *sketch;
    bool *has;          /* the documents of this service, by their numbers */
    bool *changed;      /* those that came or went here since both sets were equal */
    uint64_t random;
    FILE *from, *to;    /* the other service */
};

static petal_error error = PETAL_ERROR_INIT;
static uint64_t documents = 200000, changes = 100;

static void must(petal_status status) {
    if (status == PETAL_OK) return;
    fprintf(stderr, "petal: %s\n", error.status == status ? error.message : petal_status_message(status));
    exit(1);
}

static void must_do(bool done, const char *what) {
    if (!done) perror(what), exit(1);
}

static void put(struct service *service, const void *bytes, size_t length) {
    must_do(fwrite(bytes, 1, length, service->to) == length && fflush(service->to) == 0, "send");
}

static void get(struct service *service, void *bytes, size_t length) {
    must_do(fread(bytes, 1, length, service->from) == length, "receive");
}

/* Adds a document, or removes it. */
static void flip(struct service *service, uint64_t document) {
    service->has[document] = !service->has[document];
    must(service->has[document] ? petal_sketch_insert_u64(service->sketch, document)
                                : petal_sketch_remove_u64(service->sketch, document));
}

/* The documents that come and go at one service. */
static void change(struct service *service, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        service->random = service->random * 6364136223846793005u + 1442695040888963407u;
        uint64_t document = (service->random >> 33) % documents;
        flip(service, document);
        service->changed[document] = !service->changed[document];
    }
}

/* A message goes over the socket behind its length. */
static void send_message(struct service *service, petal_session *session) {
    const void *message;
    size_t length;
    must(petal_session_send(session, &message, &length, &error));
    uint32_t head = htonl((uint32_t)length);
    put(service, &head, sizeof head);
    put(service, message, length);
}

static petal_status receive_message(struct service *service, petal_session *session) {
    uint32_t head;
    get(service, &head, sizeof head);
    size_t length = ntohl(head);
    void *message = length <= LONGEST_MESSAGE ? malloc(length) : NULL;
    must_do(message != NULL, "message");
    get(service, message, length);
    petal_status status = petal_session_receive(session, message, length, &error);
    free(message);
    /* The session refused the message and waits for another one. The socket has none. */
    if (petal_session_get_turn(session) == PETAL_SESSION_TURN_RECEIVE) must(status);
    return status;
}

/* Runs a session to its end. A side that fails first tells the other side. */
static void run(struct service *service, petal_session *session) {
    petal_status status = PETAL_OK;
    for (;;) {
        petal_session_turn turn = petal_session_get_turn(session);
        if (turn == PETAL_SESSION_TURN_SEND) send_message(service, session);
        else if (turn == PETAL_SESSION_TURN_RECEIVE) status = receive_message(service, session);
        else break;
    }
    must(status);
}

static void print(int round, const petal_session_statistics *report, size_t differences) {
    printf("%5d %11zu %8" PRIu64 " %8" PRIu64 " %8" PRIu64 "\n", round, differences, report->symbols, report->messages,
           report->sent_bytes + report->received_bytes);
}

/*
 * Makes both sets equal. Since they were equal, only one service changed a document that only one of them has. So the
 * service that did not change the document takes the change over.
 */
static void reconcile(struct service *service, int round) {
    /* The services trust each other, and nobody else chooses documents. So the session uses the kept symbols. */
    petal_session *session;
    must(petal_session_new(service->sketch, service->role, PETAL_SESSION_KEPT_SYMBOLS, &session, &error));
    run(service, session);
    size_t count;
    must(petal_session_get_differences(session, NULL, 0, &count, &error));
    petal_sketch_listed *listed = calloc(count + 1, sizeof *listed);
    must_do(listed != NULL, "differences");
    must(petal_session_get_differences(session, listed, count, &count, &error));
    for (size_t i = 0; i < count; i++) {
        must_do(listed[i].number < documents, "a document of the other side");
        if (!service->changed[listed[i].number]) flip(service, listed[i].number);
    }
    memset(service->changed, 0, documents);
    petal_session_statistics report = PETAL_SESSION_STATISTICS_INIT;
    must(petal_session_get_statistics(session, &report, &error));
    if (service->role == PETAL_SESSION_ROLE_INITIATOR) print(round, &report, count);
    free(listed);
    petal_session_free(session);
}

static void begin(struct service *service, petal_session_role role, int end) {
    petal_spec spec = PETAL_SPEC_INIT;
    spec.kind = PETAL_KIND_RIBLT;
    spec.bits = 192 * SYMBOLS;
    *service = (struct service){.role = role, .random = role, .from = fdopen(end, "r"), .to = fdopen(dup(end), "w")};
    service->has = calloc(documents, 1), service->changed = calloc(documents, 1);
    must_do(service->from && service->to && service->has && service->changed, "service");
    must(petal_sketch_new(&spec, &service->sketch, &error));
    must(petal_sketch_keep_keys(service->sketch, &error));
    for (uint64_t document = 0; document < documents; document += 2) flip(service, document);
}

static int end(struct service *service, int status) {
    fclose(service->from), fclose(service->to);
    free(service->has), free(service->changed);
    petal_sketch_free(service->sketch);
    return status;
}

/* The service that answers. Before and after each round it also says what it has, so that this can be compared. */
static int answer(int socket_end, int rounds) {
    struct service service;
    begin(&service, PETAL_SESSION_ROLE_RESPONDER, socket_end);
    for (int round = 0; round < rounds; round++) {
        if (round > 0) change(&service, changes);
        put(&service, service.has, documents);
        reconcile(&service, round);
        put(&service, service.has, documents);
    }
    return end(&service, 0);
}

/* The service that begins, and compares both sets with what they have to be. */
static int begin_rounds(int socket_end, int rounds) {
    struct service service;
    begin(&service, PETAL_SESSION_ROLE_INITIATOR, socket_end);
    bool *wanted = calloc(documents, 1), *theirs = calloc(documents, 1);
    must_do(wanted && theirs, "memory");
    printf("round differences  symbols messages    bytes\n");
    int status = 0;
    for (int round = 0; round < rounds; round++) {
        change(&service, round > 0 ? changes : 50 * changes);
        get(&service, wanted, documents);
        for (uint64_t i = 0; i < documents; i++) {
            if (service.changed[i]) wanted[i] = service.has[i];
        }
        reconcile(&service, round);
        get(&service, theirs, documents);
        if (memcmp(service.has, wanted, documents) != 0 || memcmp(theirs, wanted, documents) != 0) status = 1;
    }
    printf("the sets are %s; their numbers have %" PRIu64 " bytes\n", status ? "not equal" : "equal", 4 * documents);
    free(wanted), free(theirs);
    return end(&service, status);
}

int main(int argc, char **argv) {
    int option, ends[2], rounds = 10, answered;
    while ((option = getopt(argc, argv, "n:c:r:")) != -1) {
        switch (option) {
            case 'n': documents = strtoull(optarg, NULL, 10); break;
            case 'c': changes = strtoull(optarg, NULL, 10); break;
            case 'r': rounds = atoi(optarg); break;
            default: return 2;
        }
    }
    if (documents == 0) return 2;
    must_do(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
    pid_t child = fork();
    must_do(child >= 0, "fork");
    close(ends[child == 0 ? 0 : 1]);
    if (child == 0) return answer(ends[1], rounds);
    int status = begin_rounds(ends[0], rounds);
    must_do(waitpid(child, &answered, 0) == child, "wait");
    return status != 0 || answered != 0;
}
