// Text that reports and profiles are put together from.
#pragma once

#include <cstddef>
#include <string>

namespace torchtrt {

std::string quoted(const std::string& text);                 // as JSON wants it
std::string number(double value);                            // three decimals
double ratio(double part, double whole);                     // 0 of nothing
std::string counted(size_t count, const std::string& what);  // "1 node", "2 nodes"

// A location whose file is an installed package's, by the package's own name: "torch/nn/modules/conv.py:548".
std::string withoutPackageFolder(const std::string& location);

// "[a, b]" of what `print` makes of every element.
template <typename Elements, typename Print>
std::string list(const Elements& elements, Print print) {
  std::string text = "[";
  for (const auto& element : elements) {
    text += (text.size() > 1 ? ", " : "") + print(element);
  }
  return text + "]";
}

}  // namespace torchtrt
