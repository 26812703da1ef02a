# cmake -DCOMPILER=... -DFOLDER=... -P refused.cmake: what must not compile does not, and for the right reason.
cmake_minimum_required(VERSION 3.16)

set(temporary "$ENV{TMPDIR}")
if(NOT temporary)
  set(temporary /tmp)
endif()
string(RANDOM LENGTH 12 name)
set(work "${temporary}/petal-refused-${name}")
set(compile "${COMPILER}" -std=c++17 "-I${FOLDER}/.." "-I${FOLDER}/../../../include")

# gcc and clang take the compiled header that lies next to the header itself.
file(WRITE "${work}/all.hpp" "#include <map>\n#include <sstream>\n#include <petal.hpp>\n")
execute_process(COMMAND ${compile} -x c++-header "${work}/all.hpp" -o "${work}/all.hpp.gch")

# try(REGEX STATEMENT): the statement, with a filter f, is refused with a message that matches; or compiles, if "".
function(try regex statement)
  file(WRITE "${work}/test.cpp" "void test(petal::filter &f) { ${statement} }\n")
  execute_process(COMMAND ${compile} -fsyntax-only -include "${work}/all.hpp" "${work}/test.cpp"
    RESULT_VARIABLE result ERROR_VARIABLE output)
  if(regex STREQUAL "" AND NOT result EQUAL 0)
    message(SEND_ERROR "should compile: ${statement}\n${output}")
  elseif(NOT regex STREQUAL "" AND (result EQUAL 0 OR NOT output MATCHES "${regex}"))
    message(SEND_ERROR "should be refused with \"${regex}\": ${statement}\n${output}")
  endif()
endfunction()

try("" "f.insert(1);")
try("not a key" "f.insert(1.5);")
try("not a key" "f.insert(true);")
try("not a key" "f.insert('a');")
try("not a key" "f.contains(nullptr);")
try("elements of this range are not keys" "f.contains_batch(std::vector<std::nullptr_t>{});")
try("not a key" "struct { int a; } t{1}; f.insert(t);")
try("not a key" "f.contains(std::vector<int>{1});")
try("" "f.insert_batch(std::vector<std::string>{}); f.insert_batch(std::vector<std::uint32_t>{});")
try("not a batch: give a range of keys" "f.insert_batch(5);")
try("not a batch but one key" "f.insert_batch(std::string());")
try("not a batch but one key" "f.contains_batch(std::vector<unsigned char>{});")
try("elements of this range are not keys" "f.insert_batch(std::vector<double>{});")
try("elements of this range are not keys" "f.insert_batch(std::vector<bool>{});")
try("elements of this range are not keys" "f.insert_batch(std::map<int, int>{});")
try("elements of this range are not keys" "petal::builder b; b.add_batch(std::vector<std::vector<int>>{});")
try("can be gone through only once"
  "std::istringstream in; std::istream_iterator<int> first(in), last; f.insert_batch(petal::key_range(first, last));")
try("batches of integers" "petal::key_buffer().add(1);")
try("not a place for answers" "std::vector<bool> found(1); f.contains_batch(std::vector<int>{1}, found);")
try("not a place for answers"
  "const std::vector<unsigned char> found(1); f.contains_batch(std::vector<int>{1}, found);")
try("deleted" "petal::filter other(f);")
try("deleted" "petal::filter other; other = f;")
try("deleted" "petal::builder b; petal::builder other(b);")
try("not a contiguous range" "petal::keys::of_hashes(std::vector<int>{});")
# Older standards get one sentence, and no errors from the rest of the header.
foreach(standard IN ITEMS c++11 c++14)
  foreach(header IN ITEMS petal.hpp petal_view.hpp)
    execute_process(
      COMMAND "${COMPILER}" "-std=${standard}" -fsyntax-only "-I${FOLDER}/.." "-I${FOLDER}/../../../include"
        -x c++ "${FOLDER}/../${header}"
      RESULT_VARIABLE result ERROR_VARIABLE output)
    string(REGEX MATCHALL "error:" errors "${output}")
    if(result EQUAL 0 OR NOT output MATCHES "needs C\\+\\+17 or newer: compile with -std=c\\+\\+17"
        OR NOT errors STREQUAL "error:")
      message(SEND_ERROR "${header} as ${standard} should be refused with one sentence:\n${output}")
    endif()
  endforeach()
endforeach()
file(REMOVE_RECURSE "${work}")
