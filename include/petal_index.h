/*
 * petal_index.h: indexes, which find rows of bits that are similar to a query. It is experimental: functions may still
 * change. petal.h has the conventions, which hold for indexes too.
 *
 * A row is a fixed number of bits, such as the fingerprint of a molecule or the terms of a document, with an id of
 * yours. An index finds the rows that are similar to a query:
 *
 *     petal_spec spec = PETAL_SPEC_INIT;
 *     spec.kind = PETAL_KIND_INDEX;
 *     spec.capacity = 1000;
 *     petal_spec_set(&spec, "width", 64, NULL);
 *     petal_index *index = NULL;
 *     if (petal_index_new(&spec, &index, NULL) != PETAL_OK) return 1;
 *     for (uint64_t i = 0; i < 1000; i++) {
 *         uint64_t row = i * i;
 *         petal_index_add(index, i, &row, sizeof row, NULL, NULL);
 *     }
 *     uint64_t query = 0xff;
 *     petal_index_hit hits[3];
 *     size_t hit_count = 0;
 *     if (petal_index_find_top(index, &query, sizeof query, 3, NULL, hits, &hit_count, NULL) != PETAL_OK) return 1;
 *     for (size_t i = 0; i < hit_count; i++) printf("%d: %.3f\n", (int)hits[i].id, hits[i].similarity);
 *     petal_index_free(index);
 *
 * An index uses these fields of its spec: capacity (the rows that there is room for), hash function, seed, secret and
 * parameters. The kind is `PETAL_KIND_INDEX`, or 0 if you set no parameter. `width` is the number of bits of a row,
 * from 64 to 65536, and 1024 unless you set it. `fold` is the length of the fold that is kept with each row; `store`
 * says whether the index keeps rows, columns or both. docs/index.md explains these parameters.
 *
 * A row is ceil(width / 8) bytes: bit i of the row is bit i % 8 of byte i / 8, and bits after the last one are 0. Rows
 * have numbers, from 0 on in the order in which they came.
 *
 * Answers are exact. With a bits in the query, b in the row, and c in both, a similarity is the double that the
 * comment of its constant says, with each operation rounded once. A row is found if that double is at least the
 * threshold. Of rows that are equally similar, those with the least ids come first, then those with the least numbers.
 */

#ifndef PETAL_INDEX_H
#define PETAL_INDEX_H

#include <petal.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The only kind of its handle. */
/** Rows of bits with ids: finds the rows that are most similar to a query, or that contain all of its bits. */
#define PETAL_KIND_INDEX 1536

/** An index. Free it with `petal_index_free()`. */
typedef struct petal_index petal_index;

/** Makes an empty index. */
petal_status petal_index_new(const petal_spec *spec, petal_index **index, petal_error *error);

/**
 * Frees an index. If you changed an image in place, this function brings the image up to date first. Call
 * `petal_index_sync()` before if you want to know whether that works. NULL is allowed.
 */
void petal_index_free(petal_index *index);

/**
 * Adds a row under an id of yours, and writes the number of the row to `number`, which is nullable. Several rows may
 * have one id. `length` is the number of bytes of a row. Returns `PETAL_ERR_FULL` if the index has as many rows as its
 * capacity.
 */
petal_status petal_index_add(petal_index *index,
                             uint64_t id,
                             const void *row,
                             size_t length,
                             uint64_t *number,
                             petal_error *error);

/**
 * Removes all rows with an id, and writes how many these were to `removed`, which is nullable. Reads all ids. A
 * removed row keeps its number and its place, and is found no more. `petal_index_arrange()` makes an index without
 * such rows.
 */
petal_status petal_index_remove(petal_index *index, uint64_t id, uint64_t *removed, petal_error *error);

/**
 * Removes the row with a number, and writes whether it was there to `removed`, which is nullable. Returns
 * `PETAL_ERR_OUT_OF_RANGE` for a number that no row has.
 */
petal_status petal_index_remove_row(petal_index *index, uint64_t row, bool *removed, petal_error *error);

/**
 * Returns how many rows have numbers, with those that were removed: the number of the next row. Constant time. 0 for
 * NULL.
 */
uint64_t petal_index_next_row(const petal_index *index);

/** Returns how many rows there are, without those that were removed. Reads a bit of each row. 0 for NULL. */
uint64_t petal_index_row_count(const petal_index *index);

/** Returns the number of bits of a row; 0 for NULL. */
uint64_t petal_index_width(const petal_index *index);

/**
 * Writes the id of the row with a number, and how many bits the row has set. `is_there` becomes false if the row was
 * removed, and the others are then not written. `is_there`, `id` and `ones` are nullable.
 */
petal_status petal_index_get_row_at(const petal_index *index,
                                    uint64_t row,
                                    bool *is_there,
                                    uint64_t *id,
                                    uint64_t *ones,
                                    petal_error *error);

/**
 * Copies the bits of the row with a number, also of one that was removed. `length` is the number of bytes of a row.
 */
petal_status petal_index_copy_row(const petal_index *index,
                                  uint64_t row,
                                  void *bytes,
                                  size_t length,
                                  petal_error *error);

/**
 * Writes the number of the first row with an id, from the row `from` on, that was not removed. `found` becomes
 * false if there is none, and `row`, nullable, is then not written. Reads ids until then.
 */
petal_status petal_index_find_row(const petal_index *index,
                                  uint64_t id,
                                  uint64_t from,
                                  uint64_t *row,
                                  bool *found,
                                  petal_error *error);

/**
 * Appends all rows of `other` to `index`, without those that were removed. Returns `PETAL_ERR_INCOMPATIBLE` if the
 * indexes differ in `width`, `nesting`, `feature_bits`, hash function, seed or secret. Returns `PETAL_ERR_FULL` if
 * there is no room for all rows.
 */
petal_status petal_index_merge(petal_index *index, const petal_index *other, petal_error *error);

/**
 * Makes an index, in its own memory, with room for `capacity` rows; 0 is as many as there are. Removed rows are left
 * out, and the others are in the order of their numbers of set bits, then of their ids. Searches are fastest that way.
 * Rows get new numbers. To make an index larger, save the result over the old file.
 */
petal_status petal_index_arrange(const petal_index *index,
                                 uint64_t capacity,
                                 petal_index **arranged,
                                 petal_error *error);

/**
 * Makes an arranged index of the rows of two, with room for `capacity` rows; 0 is as many as there are. The attachment
 * is that of `index`.
 */
petal_status petal_index_arrange_both(const petal_index *index,
                                      const petal_index *other,
                                      uint64_t capacity,
                                      petal_index **merged,
                                      petal_error *error);

/**
 * Keeps your own bytes in the image, instead of those that were there before. Returns `PETAL_ERR_TOO_LARGE` if they
 * are more than the parameter `attachment_bytes` has room for.
 */
petal_status petal_index_attach(petal_index *index, const void *bytes, size_t length, petal_error *error);

/**
 * Copies the bytes that `petal_index_attach()` kept, up to `room` of them. `length` becomes the number of all of them.
 * `buffer` may be NULL if `room` is 0.
 */
petal_status petal_index_get_attachment(const petal_index *index,
                                        void *buffer,
                                        size_t room,
                                        size_t *length,
                                        petal_error *error);

/** Removes all rows and the attachment. */
petal_status petal_index_clear(petal_index *index, petal_error *error);

/**
 * Returns what this index can do now: `PETAL_CAN_*`, ORed. An index that is open for reading can do less than its
 * kind. 0 for NULL.
 */
uint64_t petal_index_capabilities(const petal_index *index);


/*
 * INDEXES: BUILDERS
 *
 * A builder takes any number of rows, and makes an index of them whose rows are arranged for searches.
 */

/** A builder of an index. Free it with `petal_index_builder_free()`. */
typedef struct petal_index_builder petal_index_builder;

/**
 * Makes a builder of the index that a spec describes. The index gets room for as many rows as come, and for the
 * capacity of the spec if that is more; the capacity may be 0.
 */
petal_status petal_index_builder_new(const petal_spec *spec, petal_index_builder **builder, petal_error *error);

/** Frees a builder. NULL is allowed. */
void petal_index_builder_free(petal_index_builder *builder);

/** Adds a row under an id of yours. `length` is the number of bytes of a row. */
petal_status petal_index_builder_add(petal_index_builder *builder,
                                     uint64_t id,
                                     const void *row,
                                     size_t length,
                                     petal_error *error);

/** Makes the index of all rows that were added. The builder takes no more rows then, and you free it all the same. */
petal_status petal_index_builder_finish(petal_index_builder *builder, petal_index **index, petal_error *error);


/*
 * INDEXES: IMAGES AND FILES
 *
 * The image of an index has the same parts as that of a filter. It opens in each mode but `PETAL_OPEN_SHARE`.
 */

/** Opens a file that is an image. `options` is nullable. */
petal_status petal_index_open(const char *path,
                              const petal_open_options *options,
                              petal_index **index,
                              petal_error *error);

/**
 * Opens the image at `offset`, a multiple of 8, of an open file, as `petal_filter_open_descriptor()` does. `options`
 * is nullable.
 */
petal_status petal_index_open_descriptor(intptr_t descriptor,
                                         uint64_t offset,
                                         const petal_open_options *options,
                                         petal_index **index,
                                         petal_error *error);

/**
 * Opens the image at the start of a buffer, aligned to 8. If the image opens in place, the buffer must outlive the
 * handle. The library writes to the buffer only with `PETAL_OPEN_WRITE`. `options` is nullable.
 */
petal_status petal_index_open_in_buffer(void *buffer,
                                        size_t length,
                                        const petal_open_options *options,
                                        petal_index **index,
                                        petal_error *error);

/**
 * Copies the image at the start of `image`, of any alignment, into new memory and compares the checksums. The function
 * ignores the mode in `options`, which is nullable.
 */
petal_status petal_index_load(const void *image,
                              size_t length,
                              const petal_open_options *options,
                              petal_index **index,
                              petal_error *error);

/** Copies an index into new memory, wherever the index lives. */
petal_status petal_index_copy(const petal_index *index, petal_index **copy, petal_error *error);

/** The size of the image in bytes. */
petal_status petal_index_serialized_size(const petal_index *index, uint64_t *size, petal_error *error);

/** Writes the image into a buffer of at least `petal_index_serialized_size()` bytes. `written` is nullable. */
petal_status petal_index_serialize(const petal_index *index,
                                   void *buffer,
                                   size_t length,
                                   size_t *written,
                                   petal_error *error);

/**
 * Gives the image to `write`, piece by piece and in order, and passes `context`, which may be NULL, to it. Returns
 * `PETAL_ERR_CALLBACK` if `write` returns false.
 */
petal_status petal_index_serialize_to(const petal_index *index,
                                      petal_write_callback write,
                                      void *context,
                                      petal_error *error);

/** Writes the image to a file, atomically, as `petal_filter_save()` does. */
petal_status petal_index_save(const petal_index *index, const char *path, petal_error *error);

/**
 * Reads and checks all bytes as they are now. Returns `PETAL_ERR_CORRUPT`, naming the bytes, if they do not match
 * their checksums, or if no index can have such a payload.
 */
petal_status petal_index_verify(const petal_index *index, petal_error *error);

/**
 * Describes an index by its header, in constant time. `bits` is the number of bits that there is room for in rows.
 * `capacity` counts rows, and `insertions` counts the rows that were not removed.
 */
petal_status petal_index_describe(const petal_index *index, petal_description *description, petal_error *error);

/** Brings an image that was changed in place up to date on its disk, as `petal_filter_sync()` does. */
petal_status petal_index_sync(petal_index *index, petal_error *error);

/** Declares that the bytes are right as they are now, as `petal_filter_mark_clean()` does. */
petal_status petal_index_mark_clean(petal_index *index, petal_error *error);


/*
 * INDEXES: SEARCHES
 *
 * Similarities need rows. If the parameter `store` is `columns`, these functions return
 * `PETAL_ERR_UNSUPPORTED_BY_HANDLE`.
 */

/** How similarity is measured: one of `PETAL_INDEX_SIMILARITY_*`. */
typedef uint32_t petal_index_similarity;

/** c / (a + b - c), and 1 for two empty rows. */
#define PETAL_INDEX_SIMILARITY_TANIMOTO 0
/** 2c / (a + b), and 1 for two empty rows. */
#define PETAL_INDEX_SIMILARITY_DICE 1
/** c / ((alpha * (a - c) + beta * (b - c)) + c), and 1 if the denominator is 0. */
#define PETAL_INDEX_SIMILARITY_TVERSKY 2
/** c / sqrt(a * b), 1 for two empty rows, and 0 if only one is empty. */
#define PETAL_INDEX_SIMILARITY_COSINE 3
/** (width - (a + b - 2c)) / width: the share of bits in which query and row are equal. */
#define PETAL_INDEX_SIMILARITY_HAMMING 4

/** How to search. NULL stands for all zeros. */
typedef struct petal_index_search_options {
  /** sizeof(petal_index_search_options), or 0 for its size in the first release. */
  size_t struct_size;
  /**
   * How many threads search, the caller's included; 0 and 1 mean the caller's only. Other threads run only during
   * the call. The answer is the same.
   */
  size_t threads;
  /**
   * Nullable. The caller's thread calls it with the rows that are done and those in all; with many queries it counts
   * queries. If it returns false, the call returns `PETAL_ERR_CANCELLED`.
   */
  petal_progress_callback progress;
  /** The function passes this pointer to `progress`. */
  void *progress_context;
  /** The weight of bits that only the query has, from 0 to 1e9. Only for `PETAL_INDEX_SIMILARITY_TVERSKY`. */
  double alpha;
  /** The weight of bits that only the row has, from 0 to 1e9. Only for `PETAL_INDEX_SIMILARITY_TVERSKY`. */
  double beta;
  /** How similarity is measured; 0 is Tanimoto. */
  petal_index_similarity similarity;
  /** 0. */
  uint32_t reserved;
} petal_index_search_options;
/** A `petal_index_search_options` of this header's size, all else 0. */
#define PETAL_INDEX_SEARCH_OPTIONS_INIT PETAL_INIT(petal_index_search_options)

/** A row that a search found. */
typedef struct petal_index_hit {
  /** The id of the row. */
  uint64_t id;
  /** The number of the row. */
  uint64_t row;
  /** How similar the row is to the query. */
  double similarity;
} petal_index_hit;

/**
 * Takes a row that a search found. Return false to end the search. The callback must not unwind (throw) through the
 * library.
 */
typedef bool (*petal_index_hit_callback)(void *context, const petal_index_hit *hit);

/**
 * Finds the `k` rows that are most similar to a query, or all rows if there are fewer. `length` is the number of bytes
 * of a row. The function writes the rows to `hits`, which has room for `k` and may be NULL if `k` is 0. `hit_count`
 * becomes their number. `options` is nullable.
 */
petal_status petal_index_find_top(const petal_index *index,
                                  const void *query,
                                  size_t length,
                                  size_t k,
                                  const petal_index_search_options *options,
                                  petal_index_hit *hits,
                                  size_t *hit_count,
                                  petal_error *error);

/**
 * Finds all rows whose similarity to a query is at least `threshold`, from 0 to 1. The function writes the `room` most
 * similar ones to `hits`, which may be NULL if `room` is 0. `hit_count` becomes the number of all such rows. `options`
 * is nullable.
 */
petal_status petal_index_find_similar(const petal_index *index,
                                      const void *query,
                                      size_t length,
                                      double threshold,
                                      const petal_index_search_options *options,
                                      petal_index_hit *hits,
                                      size_t room,
                                      size_t *hit_count,
                                      petal_error *error);

/**
 * Gives the rows that `petal_index_find_similar()` finds to `each`, in the order of their numbers and while the search
 * goes on. The function passes `context`, which may be NULL, to `each`. `hit_count`, nullable, becomes the number of
 * rows that `each` got. The search runs on the caller's thread alone. `options` is nullable.
 */
petal_status petal_index_visit_similar(const petal_index *index,
                                       const void *query,
                                       size_t length,
                                       double threshold,
                                       const petal_index_search_options *options,
                                       petal_index_hit_callback each,
                                       void *context,
                                       uint64_t *hit_count,
                                       petal_error *error);

/**
 * `petal_index_find_top()` for `count` queries, which follow each other in `queries`. Query i gets `hit_counts[i]`
 * hits from `hits[i * k]` on, so `hits` has room for `count` times `k`. Threads share the queries. `options` is
 * nullable. Returns `PETAL_ERR_TOO_LARGE` if no array can have that much room.
 */
petal_status petal_index_find_top_batch(const petal_index *index,
                                        const void *queries,
                                        size_t count,
                                        size_t k,
                                        const petal_index_search_options *options,
                                        petal_index_hit *hits,
                                        size_t *hit_counts,
                                        petal_error *error);

/**
 * `petal_index_find_similar()` for `count` queries, which follow each other in `queries`. Query i gets the `room` most
 * similar rows from `hits[i * room]` on, and `hit_counts[i]` becomes the number of all such rows. Threads share the
 * queries. `options` is nullable. Returns `PETAL_ERR_TOO_LARGE` if no array has room for `count` times `room` hits.
 */
petal_status petal_index_find_similar_batch(const petal_index *index,
                                            const void *queries,
                                            size_t count,
                                            double threshold,
                                            const petal_index_search_options *options,
                                            petal_index_hit *hits,
                                            size_t room,
                                            size_t *hit_counts,
                                            petal_error *error);


/*
 * INDEXES: ROWS THAT CONTAIN A QUERY, AND FEATURES
 */

/**
 * Finds all rows that have every bit of a query. `length` is the number of bytes of a row. The function writes the ids
 * of the first `room` such rows to `ids`, which may be NULL if `room` is 0, in the order of their numbers. `hit_count`
 * becomes the number of all such rows, which may be greater than `room`. A query without bits finds all rows.
 *
 * An index whose parameter `store` is `columns` or `both` reads only the bits of the query. Any other reads all rows.
 * `options` is nullable; its similarity has no meaning here. Returns `PETAL_ERR_UNSUPPORTED` if the parameter
 * `nesting` is `no`.
 */
petal_status petal_index_find_containing(const petal_index *index,
                                         const void *query,
                                         size_t length,
                                         const petal_index_search_options *options,
                                         uint64_t *ids,
                                         size_t room,
                                         size_t *hit_count,
                                         petal_error *error);

/**
 * Takes the number and the id of a row that a search found. Return false to end the search. The callback must not
 * unwind (throw) through the library.
 */
typedef bool (*petal_index_row_callback)(void *context, uint64_t row, uint64_t id);

/**
 * Gives the rows that `petal_index_find_containing()` finds to `each`, in the order of their numbers. The caller's
 * thread alone calls `each`: while the search goes on, or after the search if the options ask for several threads. The
 * function passes `context`, which may be NULL, to `each`. `hit_count`, nullable, becomes the number of rows that
 * `each` got. `options` is nullable.
 */
petal_status petal_index_visit_containing(const petal_index *index,
                                          const void *query,
                                          size_t length,
                                          const petal_index_search_options *options,
                                          petal_index_row_callback each,
                                          void *context,
                                          uint64_t *hit_count,
                                          petal_error *error);

/**
 * Writes the share of rows that have every bit of a query by chance: the false-positive rate of
 * `petal_index_find_containing()` for rows that have none of the query's features. The rate is that of the rows as
 * they are. A row that has some of the features is found with the rate of the others: ask for a query of these.
 */
petal_status petal_index_expected_false_positive_rate(const petal_index *index,
                                                      const void *query,
                                                      size_t length,
                                                      double *rate,
                                                      petal_error *error);

/**
 * Sets the bits of a feature in a row of `length` bytes. A feature is any bytes, such as a term of a document. It sets
 * `bits` bits, 64 at most, or with 0 as many as the parameter `feature_bits` says. Add rows with `petal_index_add()`,
 * and ask for rows that have all features of a query with `petal_index_find_containing()`.
 */
petal_status petal_index_add_feature(const petal_index *index,
                                     void *row,
                                     size_t length,
                                     const void *feature,
                                     size_t feature_length,
                                     uint32_t bits,
                                     petal_error *error);

/** `petal_index_add_feature()` for the hash of a feature. */
petal_status petal_index_add_feature_hash(const petal_index *index,
                                          void *row,
                                          size_t length,
                                          uint64_t hash,
                                          uint32_t bits,
                                          petal_error *error);

/** Which bits of a row become one bit of a narrower row: one of `PETAL_INDEX_FOLD_*`. */
typedef uint32_t petal_index_fold;

/**
 * Bits that lie side by side: with d bits of the row for each bit of the folded row, bit i becomes bit i / d. The
 * folded row of some features is the row that they give at the smaller width.
 */
#define PETAL_INDEX_FOLD_ADJACENT 0
/** Bit i becomes bit i modulo the smaller width. Most fingerprints of chemistry fold so. */
#define PETAL_INDEX_FOLD_MODULO 1

/**
 * Folds a row of `length` bytes to one of `width` bits. `width` has to divide the width of the index. A bit of the
 * folded row is set if one of its bits of the row is. `folded_length` is (width + 7) / 8.
 */
petal_status petal_index_fold_row(const petal_index *index,
                                  const void *row,
                                  size_t length,
                                  petal_index_fold fold,
                                  uint64_t width,
                                  void *folded,
                                  size_t folded_length,
                                  petal_error *error);

/**
 * Estimates Tanimoto's coefficient of two sets of features from their rows of `length` bytes each, without the bits
 * that features share by chance. `margin`, nullable, becomes the standard error of the estimate. All features have to
 * set the same number of bits. Returns `PETAL_ERR_OUT_OF_RANGE` if the rows together have no bit or all bits.
 */
petal_status petal_index_estimate_similarity(const petal_index *index,
                                             const void *first,
                                             const void *second,
                                             size_t length,
                                             double *similarity,
                                             double *margin,
                                             petal_error *error);

#ifdef __cplusplus
}
#endif

#endif  /* PETAL_INDEX_H */
