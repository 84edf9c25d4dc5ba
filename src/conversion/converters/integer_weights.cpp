#include <ATen/Functions.h>

#include "conversion/converters/call.h"
#include "conversion/converters/list.h"

namespace torchtrt::conversion::converters {
namespace {

void checkOperand(const Call& call, const Tensor& x, int64_t depth) {
  if (x.rank() != 2 || !isFloating(x.getType()) || x.getType() == DType::kFloat64) {
    call.refuse("dtype", "of other than a matrix of float32, float16 or bfloat16");
  }
  if (!(x.getDimensions()[1] == Dim(depth))) {
    call.refuse("argument",
                "of " + x.getDimensions().toString() + " and weights of " + std::to_string(depth) + " columns");
  }
}

// A float32 matrix of the values, all of which have to be finite.
Tensor& floats(const Call& call, const at::Tensor& values) {
  if (!at::isfinite(values).all().item<bool>()) {
    call.refuse("weights", "of scales or zero points that are not finite");
  }
  return *call.ctx.constant(values.to(at::kFloat).contiguous());
}

at::Tensor constantOf(const Call& call, size_t argument, const char* what) {
  if (!call.arg(argument).isIValue()) {
    call.refuse("weights", std::string("of ") + what + " that are no constants");
  }
  const at::Tensor tensor = call.arg(argument).unwrapToTensor();
  if (!tensor.is_contiguous()) {
    call.refuse("weights", std::string("of ") + what + " that are not contiguous, which PyTorch reads as if they were");
  }
  return tensor;
}

// self [M,K], mat2 int8 [N,K], scales [N]: a scale for each row of the weights.
Tensor& int8Product(Call& call) {
  const at::Tensor weights = constantOf(call, 1, "weights");
  const at::Tensor scales = constantOf(call, 2, "scales");
  Tensor& x = call.tensor(0);
  if (weights.dim() != 2 || weights.scalar_type() != at::kChar || scales.dim() != 1) {
    call.refuse("argument", "of other weights than a matrix of int8 with a vector of scales");
  }
  checkOperand(call, x, weights.size(1));
  return call.add(LayerType::kINTEGER_WEIGHT_MATRIX_MULTIPLY,
                  {&x, call.ctx.constant(weights), &floats(call, scales.unsqueeze(1))},
                  attributes({{"bits", int64_t{8}}, {"group_size", weights.size(1)}}));
}

at::Tensor halvesOf(const at::Tensor& bytes) {
  const at::Tensor flat = bytes.flatten();
  return at::stack({at::bitwise_and(flat, 15), at::bitwise_right_shift(flat, 4)}, 1).flatten();
}

// The numbers from 0 to 15 that PyTorch packed, as [N,K]. Their order depends on the CPU's instructions: PyTorch packs
// the digits of each place, and so tells where it put what.
at::Tensor unpacked(const at::Tensor& packed) {
  constexpr int64_t kBits = 4;  // of a digit
  const int64_t rows = packed.size(0);
  const int64_t depth = packed.size(1) * 2;
  const at::Tensor places = at::arange(rows * depth, at::kLong).reshape({rows, depth});
  at::Tensor origins = at::zeros({rows * depth}, at::kLong);
  for (int64_t shift = 0; (rows * depth - 1) >> shift > 0; shift += kBits) {
    const at::Tensor digits = at::bitwise_and(at::bitwise_right_shift(places, shift), 15).to(at::kInt);
    const at::Tensor halves = halvesOf(at::_convert_weight_to_int4pack_for_cpu(digits, /*innerKTiles=*/1));
    origins = at::bitwise_or(origins, at::bitwise_left_shift(halves.to(at::kLong), shift));
  }
  const at::Tensor halves = halvesOf(packed);
  return at::empty_like(halves).scatter_(0, origins, halves).reshape({rows, depth});
}

// self [M,K], mat2 uint8 [N,K/2], qGroupSize, qScaleAndZeros [K/qGroupSize,N,2]: a number q stands for
// (q - 8) * scale + zero.
Tensor& int4Product(Call& call) {
  const at::Tensor packed = constantOf(call, 1, "weights");
  const at::Tensor groups = constantOf(call, 3, "scales");
  const int64_t group_size = call.integer(2);
  Tensor& x = call.tensor(0);
  if (packed.dim() != 2 || packed.scalar_type() != at::kByte || packed.numel() == 0 || groups.dim() != 3 ||
      groups.size(2) != 2 || groups.size(0) * group_size != packed.size(1) * 2 || groups.size(1) != packed.size(0)) {
    call.refuse("argument", "of other weights than two of 4 bits in a byte, with a scale and a zero for each group");
  }
  checkOperand(call, x, packed.size(1) * 2);
  const at::Tensor halves = at::bitwise_xor(unpacked(packed), 8).reshape({packed.size(0), -1, 2});  // q - 8
  const at::Tensor bytes =
      at::bitwise_or(halves.select(2, 0), at::bitwise_left_shift(halves.select(2, 1), 4)).contiguous();
  const at::Tensor zeros = groups.select(2, 1).t();
  Tensor* offset = at::count_nonzero(zeros).item<int64_t>() == 0 ? nullptr : &floats(call, zeros);
  return call.add(LayerType::kINTEGER_WEIGHT_MATRIX_MULTIPLY,
                  {&x, call.ctx.constant(bytes), &floats(call, groups.select(2, 0).t()), offset},
                  attributes({{"bits", int64_t{4}}, {"group_size", group_size}}));
}

}  // namespace

void addIntegerWeights(NodeConverterRegistry& registry) {
  registry.add("aten::_weight_int8pack_mm(Tensor self, Tensor mat2, Tensor scales) -> Tensor", one(int8Product));
  registry.add(
      "aten::_weight_int4pack_mm_for_cpu(Tensor self, Tensor mat2, int qGroupSize, Tensor qScaleAndZeros) -> Tensor",
      one(int4Product));
}

}  // namespace torchtrt::conversion::converters
