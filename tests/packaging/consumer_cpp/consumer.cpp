// The smallest C++ program that uses the installed package; it prints the version it was linked with.
#include <petal.hpp>
#include <petal_view.hpp>

int main() {
    petal::filter seen(1000, 0.01);
    seen.insert("apple");
    if (!seen.contains("apple") || !petal::view(seen).contains("apple")) return 1;
    std::printf("%lu\n", static_cast<unsigned long>(petal::version_number()));
    return 0;
}
