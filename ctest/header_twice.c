/* The header in a second file of one program: it defines nothing that would be there twice. */
#include <petal.h>
#include <petal.h>

petal_status petal_test_second_file(petal_filter *filter);

petal_status petal_test_second_file(petal_filter *filter) {
  petal_spec spec = {.struct_size = sizeof(petal_spec)};
  return petal_filter_get_spec(filter, &spec, NULL);
}
