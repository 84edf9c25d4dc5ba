#include "cpu/topk/ties.h"

#include <string>

#include "base/check.h"

namespace torchtrt::kernels::topk {
namespace {

Ties parseTies(const std::string& text) {
  static constexpr const char* kNames[] = {"first", "sort", "topk", "kthvalue"};
  const auto* found = std::find(std::begin(kNames), std::end(kNames), text);
  TORCHTRT_CHECK(found != std::end(kNames), "topk has no ties \"" << text << "\"");
  return static_cast<Ties>(found - std::begin(kNames));
}

}  // namespace

Order readOrder(const Attributes& attributes) {
  return {static_cast<size_t>(attributes.getInt("axis")), attributes.getBool("largest", true),
          attributes.getBool("sorted", true), parseTies(attributes.getString("ties", "first"))};
}

// Integers of one dimension are sorted upwards by their digits where they are many.
Order orderFor(const Order& order, const TensorDesc& input) {
  constexpr int64_t kMany = 32768;
  Order result = order;
  const bool by_digits = !order.largest && !isFloating(input.dtype) && input.dtype != DType::kBool &&
                         input.dims.size() == 1 && input.dims[0] >= kMany;
  if (order.ties == Ties::kSort && by_digits) {
    result.ties = Ties::kFirst;
  }
  return result;
}

}  // namespace torchtrt::kernels::topk
