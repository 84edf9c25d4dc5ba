// Reads the locations of layers from the text's comments.
#include "network/text/location.h"

#include <limits>
#include <optional>
#include <vector>

#include "network/text/numbers.h"

namespace torchtrt::network {

Location parseLocation(std::string text) {
  Location location;
  if (const size_t open = text.rfind(" ("); open != std::string::npos && text.back() == ')') {
    location.scope = text.substr(open + 2, text.size() - open - 3);
    text.resize(open);
  }
  std::vector<int> numbers;
  for (int i = 0; i < 2; ++i) {
    const size_t colon = text.rfind(':');
    const std::optional<int64_t> number =
        colon == std::string::npos ? std::nullopt : parseInt(std::string_view(text).substr(colon + 1));
    if (!number || *number < 1 || *number > std::numeric_limits<int>::max()) {
      break;
    }
    numbers.insert(numbers.begin(), static_cast<int>(*number));
    text.resize(colon);
  }
  if (numbers.empty() || text.empty()) {
    return {};
  }
  location.file = text;
  location.line = numbers[0];
  location.column = numbers.size() > 1 ? numbers[1] : 0;
  return location;
}

}  // namespace torchtrt::network
