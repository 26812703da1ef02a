/* KINDS: what a program that offers a choice can ask. */
#include "check.h"

#include <petal_sketch.h>

static bool is_text(const char *text, size_t size) {
  return text[0] != '\0' && memchr(text, '\0', size) != NULL;
}

/* A parameter's numbers agree with each other and with what a spec says of it. */
static void parameter_is_sane(petal_kind kind, size_t index, const petal_parameter_info *info) {
  CHECK(info->id != 0 && is_text(info->name, sizeof info->name) && is_text(info->summary, sizeof info->summary));
  CHECK(info->minimum <= info->default_value && info->default_value <= info->maximum);

  petal_spec spec = {.struct_size = sizeof spec, .kind = kind};
  double value = -1;
  CHECK_OK(petal_spec_get(&spec, info->name, &value, NULL));
  CHECK(value == info->default_value);

  char choice[PETAL_NAME_SIZE];
  for (uint32_t i = 0; i < info->choice_count; i++) {
    CHECK_OK(petal_kind_get_choice(kind, index, i, choice, NULL));
    CHECK(is_text(choice, sizeof choice));
    CHECK_OK(petal_spec_set_choice(&spec, info->name, choice, NULL));
    CHECK_OK(petal_spec_get(&spec, info->name, &value, NULL));
    CHECK(value == i);
  }
  memcpy(choice, "kept", 5);
  CHECK_STATUS(petal_kind_get_choice(kind, index, info->choice_count, choice, NULL), PETAL_ERR_OUT_OF_RANGE);
  CHECK(strcmp(choice, "kept") == 0);
  if (info->choice_count > 0) CHECK(info->minimum == 0 && info->maximum == info->choice_count - 1);
}

/* How many kinds there are, and how many of them a spec without a kind means: of filters, of maps and of sketches. */
static size_t kinds[3], defaults[3];
static size_t foreign;

static void kind_is_sane(size_t index) {
  petal_kind_info info = {.struct_size = sizeof info}, found = {.struct_size = sizeof found};
  CHECK_OK(petal_kind_get_at(index, &info, NULL));
  CHECK_EQUAL(info.struct_size, sizeof info);
  CHECK(info.kind != 0 && is_text(info.name, sizeof info.name) && is_text(info.summary, sizeof info.summary));
  CHECK_OK(petal_kind_find(info.name, &found, NULL));
  CHECK(memcmp(&info, &found, sizeof info) == 0);
  printf("%-16s %s\n", info.name, info.summary);

  petal_parameter_info parameter = {.struct_size = sizeof parameter};
  for (uint32_t i = 0; i < info.parameter_count; i++) {
    CHECK_OK(petal_kind_get_parameter(info.kind, i, &parameter, NULL));
    parameter_is_sane(info.kind, i, &parameter);
  }
  petal_parameter_info before = parameter;
  CHECK_STATUS(petal_kind_get_parameter(info.kind, info.parameter_count, &parameter, NULL), PETAL_ERR_OUT_OF_RANGE);
  CHECK_STATUS(petal_kind_get_parameter(info.kind, SIZE_MAX, &parameter, NULL), PETAL_ERR_OUT_OF_RANGE);
  CHECK(memcmp(&before, &parameter, sizeof before) == 0);

  /* A kind makes filters, which can do what the kind can, or maps, or sketches, and nothing else. */
  petal_spec spec = {.struct_size = sizeof spec, .kind = info.kind, .capacity = 100};
  petal_filter *filter = NULL;
  petal_builder *builder = NULL;
  petal_map_builder *map_builder = NULL;
  const uint32_t flags =
      PETAL_IS_CANONICAL | PETAL_IS_DEFAULT | PETAL_IS_FOREIGN | PETAL_TAKES_INTEGERS | PETAL_MOVES_ENTRIES;
  CHECK(info.handle <= PETAL_HANDLE_SKETCH && (info.flags & ~flags) == 0);
  /* The range of its number says the handle too, also to a version that does not know the kind. */
  CHECK_EQUAL(info.kind >= 256, info.handle == PETAL_HANDLE_SKETCH);
  if (info.handle == PETAL_HANDLE_MAP) {
    CHECK_OK(petal_map_builder_new(&spec, NULL, &map_builder, NULL));
    petal_map_builder_free(map_builder);
    CHECK_STATUS(petal_builder_new(&spec, NULL, &builder, NULL), PETAL_ERR_UNSUPPORTED);
    petal_map *map = NULL;
    bool is_made_empty = (info.capabilities & PETAL_CAN_PUT) != 0;
    CHECK_STATUS(petal_map_new(&spec, &map, NULL), is_made_empty ? PETAL_OK : PETAL_ERR_UNSUPPORTED);
    if (map) CHECK_EQUAL(petal_map_capabilities(map), info.capabilities);
    petal_map_free(map);
  } else if (info.handle == PETAL_HANDLE_SKETCH) {
    CHECK(info.kind < 512);
    petal_sketch *sketch = NULL;
    CHECK_OK(petal_sketch_new(&spec, &sketch, NULL));
    CHECK_EQUAL(petal_sketch_capabilities(sketch), info.capabilities);
    petal_sketch_free(sketch);
    CHECK_STATUS(petal_filter_new(&spec, &filter, NULL), PETAL_ERR_UNSUPPORTED);
    CHECK_STATUS(petal_builder_new(&spec, NULL, &builder, NULL), PETAL_ERR_UNSUPPORTED);
    CHECK_STATUS(petal_map_builder_new(&spec, NULL, &map_builder, NULL), PETAL_ERR_UNSUPPORTED);
  } else if ((info.flags & PETAL_IS_FOREIGN)) {
    /* Its filters come from other systems' bytes: those that take keys whole, or that nobody makes, have no builder. */
    CHECK((info.flags & PETAL_IS_DEFAULT) == 0);
    petal_status built = petal_builder_new(&spec, NULL, &builder, NULL);
    CHECK(built == PETAL_OK || built == PETAL_ERR_UNSUPPORTED);
    petal_builder_free(builder);
    CHECK_STATUS(petal_map_builder_new(&spec, NULL, &map_builder, NULL), PETAL_ERR_UNSUPPORTED);
    foreign++;
    return;
  } else if ((info.flags & PETAL_TAKES_INTEGERS)) {
    uint64_t keys[] = {0, 99};
    filter = check_filled_with(&spec, U64_KEYS(keys, 2));
    CHECK_EQUAL(petal_filter_capabilities(filter), info.capabilities);
    petal_filter_free(filter);
  } else {
    filter = check_filled(&spec, 0, 100);
    CHECK_EQUAL(petal_filter_capabilities(filter), info.capabilities);
    petal_filter_free(filter);
    CHECK_STATUS(petal_map_builder_new(&spec, NULL, &map_builder, NULL), PETAL_ERR_UNSUPPORTED);
  }
  defaults[info.handle] += (info.flags & PETAL_IS_DEFAULT) != 0;
  kinds[info.handle]++;

  /* What it is and what it can do agree. */
  CHECK(info.overfill >= PETAL_OVERFILL_RATE_RISES && info.overfill <= PETAL_OVERFILL_FORGETS);
  CHECK((info.overfill == PETAL_OVERFILL_IS_BUILT) == !(info.capabilities & (PETAL_CAN_INSERT | PETAL_CAN_PUT)));
  CHECK((info.overfill == PETAL_OVERFILL_GROWS) == !!(info.capabilities & PETAL_CAN_GROW));
  /* Exact bits that are no multiple are refused. */
  petal_spec odd = {.struct_size = sizeof odd, .kind = info.kind, .capacity = 100, .bits = info.bits_unit + 1};
  if (info.bits_unit > 1 && info.handle != PETAL_HANDLE_SKETCH) {
    CHECK_STATUS(petal_filter_new(&odd, &filter, NULL), PETAL_ERR_OUT_OF_RANGE);
  }
}

int main(void) {
  size_t count = petal_kind_count();
  CHECK(count >= 2);
  for (size_t i = 0; i < count; i++) kind_is_sane(i);
  CHECK(kinds[0] >= 2 && kinds[1] >= 1 && kinds[2] >= 1 && foreign >= 1);
  CHECK(defaults[0] == 1 && defaults[1] == 1 && defaults[2] == 1);

  petal_kind_info info = {.struct_size = sizeof info}, before = info;
  CHECK_STATUS(petal_kind_get_at(count, &info, NULL), PETAL_ERR_OUT_OF_RANGE);
  CHECK_STATUS(petal_kind_get_at(SIZE_MAX, &info, NULL), PETAL_ERR_OUT_OF_RANGE);
  CHECK_STATUS(petal_kind_find("rose", &info, NULL), PETAL_ERR_UNKNOWN_VALUE);
  CHECK_STATUS(petal_kind_find("", &info, NULL), PETAL_ERR_UNKNOWN_VALUE);
  CHECK_STATUS(petal_kind_find("\xff", &info, NULL), PETAL_ERR_UNKNOWN_VALUE);
  CHECK(memcmp(&before, &info, sizeof info) == 0);
  CHECK_OK(petal_kind_find("bloom", &info, NULL));
  CHECK_EQUAL(info.kind, PETAL_KIND_BLOOM);
  CHECK_EQUAL(info.capabilities, PETAL_CAN_INSERT | PETAL_CAN_CLEAR | PETAL_CAN_MERGE | PETAL_CAN_INTERSECT |
                                     PETAL_CAN_FOLD | PETAL_CAN_ESTIMATE | PETAL_CAN_INSERT_SHARED);
  CHECK_OK(petal_kind_find("split_block", &info, NULL));
  CHECK_EQUAL(info.kind, PETAL_KIND_SPLIT_BLOCK);

  char name[PETAL_NAME_SIZE];
  petal_parameter_info parameter = {.struct_size = sizeof parameter};
  CHECK_OK(petal_kind_get_parameter(PETAL_KIND_BLOOM, 0, &parameter, NULL));
  CHECK(strcmp(parameter.name, "partitioned") == 0);
  CHECK_STATUS(petal_kind_get_parameter(999, 0, &parameter, NULL), PETAL_ERR_UNKNOWN_VALUE);
  CHECK_STATUS(petal_kind_get_choice(999, 0, 0, name, NULL), PETAL_ERR_UNKNOWN_VALUE);
  CHECK_STATUS(petal_kind_get_choice(PETAL_KIND_BLOOM, 99, 0, name, NULL), PETAL_ERR_OUT_OF_RANGE);
  return check_done();
}
