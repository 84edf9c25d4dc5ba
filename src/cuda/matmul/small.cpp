// Products of one matrix by another with few results, by the kernel of matmul/small_product.h.
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cuda/launch/activation.h"
#include "cuda/launch/aligned.h"
#include "cuda/launch/for_some.h"
#include "cuda/matmul/matmul.h"
#include "cuda/matmul/small_product.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;

// The layer as a small product; nothing if it is none of one matrix by another, or if a library is faster.
std::optional<SmallProduct> smallOf(const Layer& layer, const ShapeSet& shapes) {
  const std::optional<SmallProduct> single = singleProductOf(layer, shapes);
  // Without a batch of matrices a product of a call's operands is none of one matrix by another by chance alone.
  if (!single || (layer.batch_invariant && !single->b_is_constant)) {
    return std::nullopt;
  }
  const bool has_activation = !layer.attributes.getString("activation", "").empty();
  return isSmall(layer.device, *single, has_activation) ? single : std::nullopt;
}

std::unique_ptr<kernels::Prepared> prepare(const Layer& layer, const ShapeSet& shapes) {
  const std::optional<SmallProduct> small = smallOf(layer, shapes);
  if (!small) {
    return nullptr;
  }
  const auto build = [&](bool copies) {
    auto launches = std::make_unique<Launches>(layer.device);
    addSmallProduct(*launches, layer, *small, copies);
    return launches;
  };
  return whereAligned(build(false), build(true), layer.present);
}

// The operand as it lies at the shape to tune for.
TensorDesc described(const kernels::Operand& operand) {
  return {operand.dtype, operand.opt_dims, kernels::denseStrides(operand.opt_dims, operand.order)};
}

}  // namespace

kernels::CreateResult createSmallMatmul(const kernels::Problem& problem) {
  const DType dtype = problem.outputs.at(0).dtype;
  if (!isFloating(dtype) || sizeOf(dtype) != 2) {
    return Refusal{"dtype", "tensor cores of this kernel take 16 bits"};
  }
  if (std::optional<Refusal> refusal = refuseFusedActivation(*problem.attributes, dtype)) {
    return *refusal;
  }
  // cuBLASLt chooses its kernel by the rows.
  return problem.batch_invariant ? launchedForSome(problem, prepare, {createTiledMatmul})
                                 : launchedForSome(problem, prepare, {createCublasLtMatmul, createTiledMatmul});
}

std::optional<Refusal> leaveLargeMatmul(const kernels::Problem& problem) {
  const auto* const device = dynamic_cast<const CudaDevice*>(problem.device);  // null where somebody only asks
  if (device == nullptr) {
    return Refusal{"slower", "no GPU says what is slow"};
  }
  ShapeSet shapes;
  std::vector<bool> present, constant;
  for (const kernels::Operand& input : problem.inputs) {
    shapes.inputs.push_back(input.present ? described(input) : TensorDesc());
    present.push_back(input.present);
    constant.push_back(input.constant != nullptr);
  }
  shapes.outputs.push_back(described(problem.outputs.at(0)));
  if (!smallOf({*device, *problem.attributes, present, constant, problem.batch_invariant}, shapes)) {
    return Refusal{"slower", "a library computes so many results, or such operands, faster"};
  }
  return std::nullopt;
}

}  // namespace torchtrt::cuda
