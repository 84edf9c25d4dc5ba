#include "conversion/converters/call.h"
#include "conversion/converters/list.h"
#include "conversion/converters/plugin_layer.h"

// Places of values in sorted ones.

namespace torchtrt::conversion::converters {
namespace {

// Counts the boundaries before each value.
Tensor& placesAmong(const Call& call, Tensor& bounds, Tensor& values, bool int32, bool right) {
  if (bounds.rank() != 1 && (bounds.rank() == 0 || bounds.rank() != values.rank())) {
    call.refuse("argument", "expected boundaries of one dimension or of as many as the values have");
  }
  const DType dtype = resultType({{&bounds, false, {}}, {&values, false, {}}});
  return *addPlugin(call, "Search", {&call.cast(bounds, dtype), &call.cast(values, dtype)},
                    attributes({{"int32", int32}, {"right", right}}))
              ->getOutput(0);
}

// self, boundaries, out_int32, right
Tensor& bucketize(Call& call) {
  return placesAmong(call, call.tensor(1), call.tensor(0), call.flag(2), call.flag(3));
}

// sorted_sequence, self, out_int32, right, side, sorter
Tensor& searchSorted(Call& call) {
  Tensor* bounds = &call.tensor(0);
  if (Tensor* sorter = call.tensorOrNull(5)) {
    bounds = &call.add(LayerType::kGATHER, {bounds, sorter},
                       attributes({{"mode", std::string("element")}, {"axis", int64_t{bounds->rank() - 1}}}));
  }
  return placesAmong(call, *bounds, call.tensor(1), call.flag(2),
                     call.isNone(4) ? call.flag(3) : call.text(4) == "right");
}

}  // namespace

void addSearches(NodeConverterRegistry& registry) {
  registry.add(
      "aten::bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
      one(bucketize));
  registry.add(
      "aten::searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str? "
      "side=None, Tensor? sorter=None) -> Tensor",
      one(searchSorted));
}

}  // namespace torchtrt::conversion::converters
