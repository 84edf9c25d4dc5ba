#include <cmath>

#include "conversion/converters/call.h"
#include "conversion/converters/list.h"

namespace torchtrt::conversion::converters {
namespace {

// A 0-d tensor has no axis to fold, so it is given one, which every reduction then drops or the caller reshapes away.
Tensor& withAxis(const Call& call, Tensor& tensor) {
  return tensor.rank() == 0 ? call.reshape(tensor, {1}) : tensor;
}

// Folds the axes of a tensor of any rank; a 0-d tensor gives a 0-d one.
Tensor& fold(const Call& call, const std::string& op, Tensor& tensor, std::vector<int64_t> axes, bool keep_dims) {
  if (tensor.rank() == 0) {
    return call.reduce(op, withAxis(call, tensor), {0}, false);
  }
  return call.reduce(op, tensor, axes, keep_dims);
}

std::vector<int64_t> allAxes(const Tensor& tensor) {
  std::vector<int64_t> axes(static_cast<size_t>(tensor.rank()));
  for (size_t i = 0; i < axes.size(); ++i) {
    axes[i] = static_cast<int64_t>(i);
  }
  return axes;
}

// The dtype that is asked for, or PyTorch's: sums and products of whole numbers are int64.
DType accumulated(const Call& call, size_t i) {
  const DType dtype = call.tensor(0).getType();
  return call.dtype(i, isFloating(dtype) ? dtype : DType::kInt64);
}

constexpr char kAny[] = "any", kAll[] = "all", kVar[] = "var", kStd[] = "std";

// self, dtype
template <const char* op>
Tensor& accumulateAll(Call& call) {
  Tensor& x = call.cast(call.tensor(0), accumulated(call, 1));
  return fold(call, op, x, allAxes(x), false);
}

// self, dim, keepdim, dtype
template <const char* op>
Tensor& accumulate(Call& call) {
  Tensor& x = call.cast(call.tensor(0), accumulated(call, 3));
  return fold(call, op, x, call.axes(1, x.rank()), call.flag(2));
}

Tensor& meanAll(Call& call) {
  Tensor& x = call.cast(call.tensor(0), call.dtype(1, call.tensor(0).getType()));
  return fold(call, "avg", x, allAxes(x), false);
}

Tensor& mean(Call& call) {
  Tensor& x = call.cast(call.tensor(0), call.dtype(3, call.tensor(0).getType()));
  return fold(call, "avg", x, call.axes(1, x.rank()), call.flag(2));
}

template <const char* op>
Tensor& extremeAll(Call& call) {
  Tensor& x = call.tensor(0);
  return fold(call, op, x, allAxes(x), false);
}

// self, dim, keepdim
template <const char* op>
Tensor& extreme(Call& call) {
  Tensor& x = call.tensor(0);
  return fold(call, op, x, call.axes(1, x.rank()), call.flag(2));
}

// Returns a byte for bytes, else a bool.
Tensor& asTruth(const Call& call, Tensor& truth, const Tensor& asked) {
  return asked.getType() == DType::kUInt8 ? call.cast(truth, DType::kUInt8) : truth;
}

template <const char* op>
Tensor& truthAll(Call& call) {
  Tensor& x = call.tensor(0);
  return asTruth(call, fold(call, op, x, allAxes(x), false), x);
}

template <const char* op>
Tensor& truth(Call& call) {
  Tensor& x = call.tensor(0);
  return asTruth(call, fold(call, op, x, call.axes(1, x.rank()), call.flag(2)), x);
}

Tensor& spread(const Call& call, const std::string& op, Tensor& given, const std::vector<int64_t>& axes, bool keep_dims,
               double correction) {
  Tensor& x = withAxis(call, given);
  return call.add(LayerType::kREDUCE, {&x},
                  attributes({{"op", op},
                              {"axes", given.rank() == 0 ? std::vector<int64_t>{0} : axes},
                              {"keep_dims", given.rank() != 0 && keep_dims},
                              {"correction", correction}}));
}

// self, unbiased
template <const char* op>
Tensor& spreadAll(Call& call) {
  Tensor& x = call.tensor(0);
  return spread(call, op, x, allAxes(x), false, call.flag(1) ? 1 : 0);
}

// self, dim, unbiased, keepdim
template <const char* op>
Tensor& spreadUnbiased(Call& call) {
  Tensor& x = call.tensor(0);
  return spread(call, op, x, call.axes(1, x.rank()), call.flag(3), call.flag(2) ? 1 : 0);
}

// self, dim, correction (None: 1), keepdim
template <const char* op>
Tensor& spreadCorrected(Call& call) {
  Tensor& x = call.tensor(0);
  return spread(call, op, x, call.axes(1, x.rank()), call.flag(3), call.isNone(2) ? 1 : call.real(2));
}

template <const char* op>
std::vector<Tensor*> spreadAndMean(Call& call) {
  Tensor& x = call.tensor(0);
  return {&spreadCorrected<op>(call), &fold(call, "avg", x, call.axes(1, x.rank()), call.flag(3))};
}

// (sum |x|^p)^(1/p) with its limits.
Tensor& norm(const Call& call, Tensor& x, double p, const std::vector<int64_t>& axes, bool keep_dims) {
  if (p == 1 || p == 2) {
    return fold(call, p == 1 ? "norm1" : "norm2", x, axes, keep_dims);
  }
  if (std::isinf(p)) {
    return fold(call, p > 0 ? "max" : "min", call.unary("abs", x), axes, keep_dims);
  }
  if (p == 0) {
    Tensor& counted = call.elementwise("not_equal", x, call.constant(0, x.getType()));
    return fold(call, "sum", call.cast(counted, x.getType()), axes, keep_dims);
  }
  // Powers and their sum may be beyond the range of 16 bits where the norm is not.
  const DType computed = x.getType() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  Tensor& magnitudes = call.unary("abs", call.cast(x, computed));
  Tensor& powers = call.elementwise("pow", magnitudes, call.constant(p, computed));
  Tensor& sum = fold(call, "sum", powers, axes, keep_dims);
  return call.cast(call.elementwise("pow", sum, call.constant(1 / p, computed)), x.getType());
}

// self, p
Tensor& normAll(Call& call) {
  Tensor& x = call.tensor(0);
  return norm(call, x, call.real(1), allAxes(x), false);
}

// self, p (None: 2), dim, keepdim, dtype; linalg_vector_norm has ord in the place of p
Tensor& normDims(Call& call) {
  Tensor& x = call.tensor(0);
  Tensor& typed = call.cast(x, call.count() > 4 ? call.dtype(4, x.getType()) : x.getType());
  return norm(call, typed, call.isNone(1) ? 2 : call.real(1), call.axes(2, x.rank()), call.flag(3));
}

// self, dim, keepdim
Tensor& frobeniusNorm(Call& call) {
  Tensor& x = call.tensor(0);
  return norm(call, x, 2, call.axes(1, x.rank()), call.flag(2));
}

Tensor& logSumExp(Call& call) {
  Tensor& x = call.cast(call.tensor(0), floatingType(call.tensor(0).getType()));
  return fold(call, "logsumexp", x, call.axes(1, x.rank()), call.flag(2));
}

// self, dim, dtype
template <bool log>
Tensor& softmax(Call& call) {
  Tensor& given = call.cast(call.tensor(0), call.dtype(2, call.tensor(0).getType()));
  Tensor& x = withAxis(call, given);
  Tensor& result = *call.net.addSoftMax(x, call.axis(1, given.rank()), log)->getOutput(0);
  return given.rank() == 0 ? call.reshape(result, {}) : result;
}

// self, dim, half_to_float
template <bool log>
Tensor& plainSoftmax(Call& call) {
  Tensor& given = call.flag(2) ? call.cast(call.tensor(0), DType::kFloat32) : call.tensor(0);
  Tensor& x = withAxis(call, given);
  Tensor& result = *call.net.addSoftMax(x, call.axis(1, given.rank()), log)->getOutput(0);
  return given.rank() == 0 ? call.reshape(result, {}) : result;
}

// Values and indices of the k greatest or smallest. TOPK takes NaN as greatest; for the smallest of floating numbers
// PyTorch's min wants NaN first, which the greatest of the negated numbers are. `ties`: whose order those have that are
// equal.
std::vector<Tensor*> topk(const Call& call, Tensor& given, const Dim& k, int64_t axis, bool largest,
                          const char* ties = "first", bool sorted = true) {
  const bool is_bool = given.getType() == DType::kBool;
  // PyTorch has a stable sort of many integers, which bools are none of.
  const DType ordered = std::string_view(ties) == "sort" ? DType::kFloat32 : DType::kUInt8;
  Tensor& x = withAxis(call, is_bool ? call.cast(given, ordered) : given);
  Layer* layer = call.net.addTopK(x, k, axis, largest, sorted);
  layer->setAttribute("ties", std::string(ties));
  Tensor* values = layer->getOutput(0);
  Tensor* indices = layer->getOutput(1);
  if (given.rank() == 0) {
    values = &call.reshape(*values, {});
    indices = &call.reshape(*indices, {});
  }
  return {is_bool ? &call.cast(*values, DType::kBool) : values, indices};
}

std::vector<Tensor*> extremeAlong(const Call& call, Tensor& x, int64_t axis, bool keep_dim, bool largest) {
  const bool negated = !largest && isFloating(x.getType());
  auto result = topk(call, negated ? call.unary("neg", x) : x, 1, axis, largest || negated);
  if (negated) {
    result[0] = &call.unary("neg", *result[0]);
  }
  for (Tensor*& tensor : result) {
    tensor = keep_dim || x.rank() == 0 ? tensor : &call.squeeze(*tensor, axis);
  }
  return result;
}

// self, dim, keepdim. Without indices, which often nobody reads, it is a reduction.
template <bool largest>
std::vector<Tensor*> extremeWithIndex(Call& call) {
  Tensor& x = call.tensor(0);
  return call.node.outputs()[1]->hasUses()
             ? extremeAlong(call, x, call.axis(1, x.rank()), call.flag(2), largest)
             : std::vector<Tensor*>{&fold(call, largest ? kMax : kMin, x, {call.axis(1, x.rank())}, call.flag(2)),
                                    &call.fill(0, Dims{0}, DType::kInt64)};
}

// self, dim (None: of all elements in order), keepdim
template <bool largest>
Tensor& indexOfExtreme(Call& call) {
  Tensor& x = call.tensor(0);
  if (!call.isNone(1)) {
    return *extremeAlong(call, x, call.axis(1, x.rank()), call.flag(2), largest)[1];
  }
  Tensor& flat = call.reshape(x, Dims{x.getDimensions().numel()});
  Tensor& index = *extremeAlong(call, flat, 0, false, largest)[1];
  return call.flag(2) ? call.reshape(index, Dims(std::vector<Dim>(static_cast<size_t>(x.rank()), Dim(1)))) : index;
}

// True if something reads the positions: these alone show the order of equal values, and often nobody reads them.
bool readsPositions(const Call& call) {
  return call.node.outputs().size() < 2 || call.node.outputs()[1]->hasUses();
}

// self, k, dim, largest, sorted
std::vector<Tensor*> topK(Call& call) {
  Tensor& x = call.tensor(0);
  const bool sorted = call.flag(4);
  const char* ties = sorted && !readsPositions(call) ? "first" : "topk";
  return topk(call, x, call.dim(1), call.axis(2, x.rank()), call.flag(3), ties, sorted);
}

// self, k, dim, keepdim
std::vector<Tensor*> kthValue(Call& call) {
  Tensor& x = call.tensor(0);
  const int64_t axis = call.axis(2, x.rank());
  const Dim k = call.dim(1);
  std::vector<Tensor*> result = topk(call, x, k, axis, false, readsPositions(call) ? "kthvalue" : "first");
  for (Tensor*& tensor : result) {
    if (x.rank() > 0) {
      Tensor& last = call.slice(*tensor, axis, k - 1, 1);
      tensor = call.flag(3) ? &last : &call.squeeze(last, axis);
    }
  }
  return result;
}

std::vector<Tensor*> sortAlong(const Call& call, int64_t given_axis, bool descending, bool stable) {
  Tensor& x = call.tensor(0);
  const int64_t axis = call.normalizeAxis(given_axis, x.rank());
  return topk(call, x, x.rank() == 0 ? Dim(1) : x.getDimensions()[static_cast<int>(axis)], axis, descending,
              stable || !readsPositions(call) ? "first" : "sort");
}

// self, dim, descending
std::vector<Tensor*> sort(Call& call) {
  return sortAlong(call, call.integer(1), call.flag(2), false);
}

// self, stable, dim, descending
std::vector<Tensor*> stableSort(Call& call) {
  return sortAlong(call, call.integer(2), call.flag(3), !call.isNone(1) && call.flag(1));
}

Tensor& argsort(Call& call) {
  return *sortAlong(call, call.integer(1), call.flag(2), false)[1];
}

Tensor& countNonzero(Call& call) {
  Tensor& x = call.tensor(0);
  Tensor& counted = call.cast(call.cast(x, DType::kBool), DType::kInt64);
  return fold(call, "sum", counted, call.axes(1, x.rank()), false);
}

void addSums(NodeConverterRegistry& registry) {
  registry.add("aten::sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", one(accumulateAll<kSum>));
  registry.add(
      "aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
      one(accumulate<kSum>));
  registry.add("aten::prod(Tensor self, *, ScalarType? dtype=None) -> Tensor", one(accumulateAll<kProd>));
  registry.add("aten::prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
               one(accumulate<kProd>));
  registry.add("aten::mean(Tensor self, *, ScalarType? dtype=None) -> Tensor", one(meanAll));
  registry.add("aten::mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
               one(mean));
  registry.add("aten::var(Tensor self, bool unbiased=True) -> Tensor", one(spreadAll<kVar>));
  registry.add("aten::var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
               one(spreadUnbiased<kVar>));
  registry.add(
      "aten::var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
      one(spreadCorrected<kVar>));
  registry.add("aten::std(Tensor self, bool unbiased=True) -> Tensor", one(spreadAll<kStd>));
  registry.add("aten::std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
               one(spreadUnbiased<kStd>));
  registry.add(
      "aten::std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
      one(spreadCorrected<kStd>));
  registry.add(
      "aten::var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> "
      "(Tensor, Tensor)",
      many(spreadAndMean<kVar>));
  registry.add(
      "aten::std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> "
      "(Tensor, Tensor)",
      many(spreadAndMean<kStd>));
  registry.add("aten::norm.Scalar(Tensor self, Scalar p=2) -> Tensor", one(normAll));
  registry.add("aten::norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor",
               one(normDims));
  registry.add(
      "aten::norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, ScalarType dtype) -> Tensor",
      one(normDims));
  registry.add(
      "aten::linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? "
      "dtype=None) -> Tensor",
      one(normDims));
  registry.add("aten::frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", one(frobeniusNorm));
  registry.add("aten::logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", one(logSumExp));
  registry.add("aten::count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor", one(countNonzero));
  registry.add("aten::count_nonzero(Tensor self, int? dim=None) -> Tensor", one(countNonzero));
}

void addExtremeReductions(NodeConverterRegistry& registry) {
  registry.add("aten::max(Tensor self) -> Tensor", one(extremeAll<kMax>));
  registry.add("aten::min(Tensor self) -> Tensor", one(extremeAll<kMin>));
  registry.add("aten::amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", one(extreme<kMax>));
  registry.add("aten::amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", one(extreme<kMin>));
  registry.add("aten::max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
               many(extremeWithIndex<true>));
  registry.add("aten::min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
               many(extremeWithIndex<false>));
  registry.add("aten::argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", one(indexOfExtreme<true>));
  registry.add("aten::argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", one(indexOfExtreme<false>));
  registry.add(
      "aten::topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor "
      "indices)",
      many(topK));
  registry.add("aten::sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
               many(sort));
  registry.add(
      "aten::kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
      many(kthValue));
  registry.add(
      "aten::sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor "
      "indices)",
      many(stableSort));
  registry.add("aten::argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor", one(argsort));
}

void addTruths(NodeConverterRegistry& registry) {
  registry.add("aten::any(Tensor self) -> Tensor", one(truthAll<kAny>));
  registry.add("aten::any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", one(truth<kAny>));
  registry.add("aten::any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", one(truth<kAny>));
  registry.add("aten::all(Tensor self) -> Tensor", one(truthAll<kAll>));
  registry.add("aten::all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", one(truth<kAll>));
  registry.add("aten::all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", one(truth<kAll>));
}

}  // namespace

void addReductions(NodeConverterRegistry& registry) {
  addSums(registry);
  addExtremeReductions(registry);
  addTruths(registry);
  registry.add("aten::softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", one(softmax<false>));
  registry.add("aten::log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", one(softmax<true>));
  registry.add("aten::_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", one(plainSoftmax<false>));
  registry.add("aten::_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", one(plainSoftmax<true>));
}

}  // namespace torchtrt::conversion::converters
