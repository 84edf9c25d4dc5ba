#include "conversion/converters/call.h"
#include "conversion/converters/list.h"

namespace torchtrt::conversion::converters {
namespace {

// Along argument 1; a 0-d tensor is a vector of one for the while.
Layer* cumulate(const Call& call, const std::string& op, Tensor& x) {
  Tensor& vector = x.rank() == 0 ? call.reshape(x, {1}) : x;
  return call.net.addLayer(LayerType::kCUMULATIVE, {&vector},
                           attributes({{"op", op}, {"axis", call.axis(1, x.rank())}}));
}

// self, dim, dtype; whole numbers become int64 where no dtype is asked for
template <const char* op>
Tensor& cumulated(Call& call) {
  const DType given = call.tensor(0).getType();
  const DType dtype = call.dtype(2, isFloating(given) ? given : DType::kInt64);
  Tensor& x = call.cast(call.tensor(0), dtype == DType::kBool ? DType::kInt64 : dtype);
  return call.cast(call.reshape(*cumulate(call, op, x)->getOutput(0), x.getDimensions()), dtype);
}

// self, dim
template <const char* op>
std::vector<Tensor*> extremes(Call& call) {
  Tensor& given = call.tensor(0);
  Tensor& x = given.getType() == DType::kBool ? call.cast(given, DType::kUInt8) : given;
  const Layer* layer = cumulate(call, op, x);
  return {&call.cast(call.reshape(*layer->getOutput(0), x.getDimensions()), given.getType()),
          &call.reshape(*layer->getOutput(1), x.getDimensions())};
}

Tensor& logCumSumExp(Call& call) {
  Tensor& x = call.tensor(0);
  return call.reshape(*cumulate(call, "logsumexp", x)->getOutput(0), x.getDimensions());
}

}  // namespace

void addCumulatives(NodeConverterRegistry& registry) {
  registry.add("aten::cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", one(cumulated<kSum>));
  registry.add("aten::cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", one(cumulated<kProd>));
  registry.add("aten::cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)", many(extremes<kMax>));
  registry.add("aten::cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)", many(extremes<kMin>));
  registry.add("aten::logcumsumexp(Tensor self, int dim) -> Tensor", one(logCumSumExp));
}

}  // namespace torchtrt::conversion::converters
