// The header in a second file of one C++ program.
#include <petal.h>
#include <petal.h>

petal_status petal_test_second_file(petal_filter *filter);

petal_status petal_test_second_file(petal_filter *filter) {
  petal_spec spec{};
  spec.struct_size = sizeof spec;
  return petal_filter_get_spec(filter, &spec, nullptr);
}
