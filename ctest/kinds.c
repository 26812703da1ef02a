/* KINDS: what a program that offers a choice can ask. */
#include "check.h"

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
    CHECK_OK(petal_kind_choice(kind, index, i, choice));
    CHECK(is_text(choice, sizeof choice));
    CHECK_OK(petal_spec_set_choice(&spec, info->name, choice, NULL));
    CHECK_OK(petal_spec_get(&spec, info->name, &value, NULL));
    CHECK(value == i);
  }
  memcpy(choice, "kept", 5);
  CHECK_STATUS(petal_kind_choice(kind, index, info->choice_count, choice), PETAL_ERR_OUT_OF_RANGE);
  CHECK(strcmp(choice, "kept") == 0);
  if (info->choice_count > 0) CHECK(info->minimum == 0 && info->maximum == info->choice_count - 1);
}

/* How many kinds there are, and how many of them a spec without a kind means: of filters, and of maps. */
static size_t kinds[2], defaults[2];
static size_t foreign;

static void kind_is_sane(size_t index) {
  petal_kind_info info = {.struct_size = sizeof info}, found = {.struct_size = sizeof found};
  CHECK_OK(petal_kind_at(index, &info));
  CHECK_EQUAL(info.struct_size, sizeof info);
  CHECK(info.kind != 0 && is_text(info.name, sizeof info.name) && is_text(info.summary, sizeof info.summary));
  CHECK_OK(petal_kind_find(info.name, &found));
  CHECK(memcmp(&info, &found, sizeof info) == 0);
  printf("%-16s %s\n", info.name, info.summary);

  petal_parameter_info parameter = {.struct_size = sizeof parameter};
  for (uint32_t i = 0; i < info.parameter_count; i++) {
    CHECK_OK(petal_kind_parameter(info.kind, i, &parameter));
    parameter_is_sane(info.kind, i, &parameter);
  }
  petal_parameter_info before = parameter;
  CHECK_STATUS(petal_kind_parameter(info.kind, info.parameter_count, &parameter), PETAL_ERR_OUT_OF_RANGE);
  CHECK_STATUS(petal_kind_parameter(info.kind, SIZE_MAX, &parameter), PETAL_ERR_OUT_OF_RANGE);
  CHECK(memcmp(&before, &parameter, sizeof before) == 0);

  /* It makes filters, which can do what the kind can, or maps; nobody makes the other of it. */
  petal_spec spec = {.struct_size = sizeof spec, .kind = info.kind, .capacity = 100};
  petal_filter *filter = NULL;
  petal_builder *builder = NULL;
  petal_map_builder *map_builder = NULL;
  CHECK(info.is_map <= 1 && info.is_default <= 1 && info.is_foreign <= 1 && info.takes_integers <= 1);
  if (info.is_map) {
    CHECK_OK(petal_map_builder_new(&spec, NULL, &map_builder, NULL));
    petal_map_builder_free(map_builder);
    CHECK_STATUS(petal_builder_new(&spec, NULL, &builder, NULL), PETAL_ERR_UNSUPPORTED);
    petal_map *map = NULL;
    bool is_made_empty = (info.capabilities & PETAL_CAN_PUT) != 0;
    CHECK_STATUS(petal_map_new(&spec, &map, NULL), is_made_empty ? PETAL_OK : PETAL_ERR_UNSUPPORTED);
    if (map) CHECK_EQUAL(petal_map_capabilities(map), info.capabilities);
    petal_map_free(map);
  } else if (info.is_foreign) {
    /* Its filters come from other systems' bytes: those that take keys whole, or that nobody makes, have no builder. */
    CHECK(info.is_default == 0 && info.is_map == 0);
    petal_status built = petal_builder_new(&spec, NULL, &builder, NULL);
    CHECK(built == PETAL_OK || built == PETAL_ERR_UNSUPPORTED);
    petal_builder_free(builder);
    CHECK_STATUS(petal_map_builder_new(&spec, NULL, &map_builder, NULL), PETAL_ERR_UNSUPPORTED);
    foreign++;
    return;
  } else if (info.takes_integers) {
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
  defaults[info.is_map] += info.is_default;
  kinds[info.is_map]++;

  /* What it is and what it can do agree. */
  CHECK(info.overfill >= PETAL_OVERFILL_RATE_RISES && info.overfill <= PETAL_OVERFILL_FORGETS);
  CHECK((info.overfill == PETAL_OVERFILL_IS_BUILT) == !(info.capabilities & (PETAL_CAN_INSERT | PETAL_CAN_PUT)));
  CHECK((info.overfill == PETAL_OVERFILL_GROWS) == !!(info.capabilities & PETAL_CAN_GROW));
  CHECK(info.is_canonical <= 1 && info.moves_entries <= 1);
  /* Exact bits that are no multiple are refused. */
  petal_spec odd = {.struct_size = sizeof odd, .kind = info.kind, .capacity = 100, .bits = info.bits_unit + 1};
  if (info.bits_unit > 1) CHECK_STATUS(petal_filter_new(&odd, &filter, NULL), PETAL_ERR_OUT_OF_RANGE);
}

int main(void) {
  size_t count = petal_kind_count();
  CHECK(count >= 2);
  for (size_t i = 0; i < count; i++) kind_is_sane(i);
  CHECK(kinds[0] >= 2 && kinds[1] >= 1 && foreign >= 1);
  CHECK(defaults[0] == 1 && defaults[1] == 1);

  petal_kind_info info = {.struct_size = sizeof info}, before = info;
  CHECK_STATUS(petal_kind_at(count, &info), PETAL_ERR_OUT_OF_RANGE);
  CHECK_STATUS(petal_kind_at(SIZE_MAX, &info), PETAL_ERR_OUT_OF_RANGE);
  CHECK_STATUS(petal_kind_find("rose", &info), PETAL_ERR_UNKNOWN_VALUE);
  CHECK_STATUS(petal_kind_find("", &info), PETAL_ERR_UNKNOWN_VALUE);
  CHECK_STATUS(petal_kind_find("\xff", &info), PETAL_ERR_UNKNOWN_VALUE);
  CHECK(memcmp(&before, &info, sizeof info) == 0);
  CHECK_OK(petal_kind_find("bloom", &info));
  CHECK_EQUAL(info.kind, PETAL_KIND_BLOOM);
  CHECK_EQUAL(info.capabilities, PETAL_CAN_INSERT | PETAL_CAN_CLEAR | PETAL_CAN_MERGE | PETAL_CAN_INTERSECT |
                                     PETAL_CAN_FOLD | PETAL_CAN_ESTIMATE | PETAL_CAN_INSERT_SHARED);
  CHECK_OK(petal_kind_find("split_block", &info));
  CHECK_EQUAL(info.kind, PETAL_KIND_SPLIT_BLOCK);

  char name[PETAL_NAME_SIZE];
  petal_parameter_info parameter = {.struct_size = sizeof parameter};
  CHECK_OK(petal_kind_parameter(PETAL_KIND_BLOOM, 0, &parameter));
  CHECK(strcmp(parameter.name, "partitioned") == 0);
  CHECK_STATUS(petal_kind_parameter(999, 0, &parameter), PETAL_ERR_UNKNOWN_VALUE);
  CHECK_STATUS(petal_kind_choice(999, 0, 0, name), PETAL_ERR_UNKNOWN_VALUE);
  CHECK_STATUS(petal_kind_choice(PETAL_KIND_BLOOM, 99, 0, name), PETAL_ERR_OUT_OF_RANGE);
  return check_done();
}
