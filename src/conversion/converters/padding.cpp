#include "conversion/converters/call.h"
#include "conversion/converters/list.h"

namespace torchtrt::conversion::converters {
namespace {

// The pad argument lists pairs (before, after) from the last dimension on.
Tensor& pad(const Call& call, const std::string& mode, double value) {
  Tensor& x = call.tensor(0);
  const std::vector<Dim> pairs = call.dims(1);
  if (pairs.size() % 2 != 0 || pairs.size() / 2 > static_cast<size_t>(x.rank())) {
    call.refuse("argument", "argument 'pad' has to hold a pair for each of the last dimensions, got " +
                                std::to_string(pairs.size()) + " numbers for rank " + std::to_string(x.rank()));
  }
  std::vector<Dim> pre(static_cast<size_t>(x.rank())), post = pre;
  for (size_t i = 0; 2 * i < pairs.size(); ++i) {
    pre[pre.size() - 1 - i] = pairs[2 * i];
    post[post.size() - 1 - i] = pairs[2 * i + 1];
  }
  return call.add(LayerType::kPADDING, {&x},
                  attributes({{"pre", Dims(pre)}, {"post", Dims(post)}, {"mode", mode}, {"value", value}}));
}

// self, pad, value
Tensor& constantPad(Call& call) {
  return pad(call, "constant", call.number(2).toDouble());
}

Tensor& reflectionPad(Call& call) {
  return pad(call, "reflect", 0);
}

Tensor& replicationPad(Call& call) {
  return pad(call, "replicate", 0);
}

Tensor& circularPad(Call& call) {
  return pad(call, "circular", 0);
}

// self, pad, mode, value
Tensor& anyPad(Call& call) {
  return pad(call, call.text(2), call.isNone(3) ? 0 : call.real(3));
}

}  // namespace

void addPaddings(NodeConverterRegistry& registry) {
  registry.add("aten::constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor", one(constantPad));
  registry.add("aten::pad(Tensor self, SymInt[] pad, str mode=\"constant\", float? value=None) -> Tensor", one(anyPad));
  registry.add("aten::_pad_circular(Tensor self, SymInt[] pad) -> Tensor", one(circularPad));
  registry.add("aten::reflection_pad1d(Tensor self, SymInt[2] padding) -> Tensor", one(reflectionPad));
  registry.add("aten::reflection_pad2d(Tensor self, SymInt[4] padding) -> Tensor", one(reflectionPad));
  registry.add("aten::reflection_pad3d(Tensor self, SymInt[6] padding) -> Tensor", one(reflectionPad));
  registry.add("aten::replication_pad1d(Tensor self, SymInt[2] padding) -> Tensor", one(replicationPad));
  registry.add("aten::replication_pad2d(Tensor self, SymInt[4] padding) -> Tensor", one(replicationPad));
  registry.add("aten::replication_pad3d(Tensor self, SymInt[6] padding) -> Tensor", one(replicationPad));
}

}  // namespace torchtrt::conversion::converters
