// Text that reports, profiles and verifications are put together from.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"

namespace torchtrt {

std::string firstLine(const std::string& text);
// Returns the beginning of a text, at most `bytes` long, without half a character of UTF-8 at its end.
std::string beginning(const std::string& text, size_t bytes);
std::string number(double value);  // three decimals
std::string fixed(double value, int decimals, const char* unit = "");
std::string brief(double value);                             // three digits: "0.25", "1.2e-07", "inf"
double ratio(double part, double whole);                     // 0 of nothing
std::string counted(size_t count, const std::string& what);  // "1 node", "2 nodes"

// Returns the raised message in the text of an error of libtorch's interpreter, which puts a trace before it.
std::string messageOf(const std::string& error);

// A line that is no warning but as visible as one.
void tell(const std::string& line);

// A location whose file is an installed package's, by the package's own name: "torch/nn/modules/conv.py:548".
std::string withoutPackageFolder(const std::string& location);

// Rows of cells: columns of numbers stand at the right, those of text, which follow, at the left.
class Table {
 public:
  explicit Table(size_t numbers) : numbers_(numbers) {}
  void add(std::vector<std::string> cells) {
    rows_.push_back(std::move(cells));
  }
  void print(std::ostream& out) const;

 private:
  size_t numbers_;
  std::vector<std::vector<std::string>> rows_;
};

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
