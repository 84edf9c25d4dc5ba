// Attention by cuDNN, on tensor cores. Scores and sums are in float32; what they weigh values with has the 16 bits of
// the operands.
#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/logging.h"
#include "cuda/attention/attention.h"
#include "cuda/attention/operands.h"
#include "cuda/launch/dnn.h"
#include "cuda/launch/plugin.h"
#include "cuda/launch/ways.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;

enum : int64_t { kPointerQ, kPointerK, kPointerV, kPointerOut, kPointers, kScale = 50 };

// [batch, heads, rows, size]
struct FourDims {
  Ints dims, strides;
};

class AttentionGraph final : DnnGraph {
 public:
  AttentionGraph(DnnLibrary& library, DType dtype) : DnnGraph(library, "attention", dtype, kPointers), dtype_(dtype) {}

  std::shared_ptr<const DnnPlan> build(const std::vector<FourDims>& operands, double scale) {
    constexpr int kAttributes[] = {dnn::kAttentionQ, dnn::kAttentionK, dnn::kAttentionV, dnn::kAttentionOut};
    Owned operation = create(dnn::kAttention);
    for (size_t i = 0; i < operands.size(); ++i) {
      set(operation.get(), kAttributes[i], dnn::kObject,
          tensor(static_cast<int64_t>(i), typeOf(dtype_), operands[i].dims, operands[i].strides));
    }
    set(operation.get(), dnn::kAttentionScale, dnn::kObject, number(kScale, static_cast<float>(scale), 4));
    return plan({finished(std::move(operation))});
  }

 private:
  DType dtype_;
};

// The operands with two dims of heads; none where no two dims lead through them, or the library could not read them.
std::vector<FourDims> fourDimsOf(const AttentionOperands& operands) {
  const HeadMatrices* const all[] = {&operands.q, &operands.k, &operands.v, &operands.out};
  const auto headsOf = [](const Ints& values) { return Ints(values.begin(), values.end() - 2); };
  std::vector<Ints> strides;
  for (const HeadMatrices* const each : all) {
    if (headsOf(each->dims) != headsOf(operands.q.dims)) {
      return {};
    }
    strides.push_back(headsOf(each->strides));
  }
  Layout heads = collapsed(headsOf(operands.q.dims), strides);
  if (heads.rank() > 2) {
    return {};
  }
  std::vector<FourDims> result;
  for (size_t i = 0; i < std::size(all); ++i) {
    FourDims four{heads.dims, heads.strides[i]};
    while (four.dims.size() < 2) {
      const size_t rows = all[i]->dims.size() - 2;
      four.strides.insert(four.strides.begin(), four.dims.empty() ? all[i]->dims[rows] * all[i]->strides[rows]
                                                                  : four.dims[0] * four.strides[0]);
      four.dims.insert(four.dims.begin(), 1);
    }
    four.dims.insert(four.dims.end(), all[i]->dims.end() - 2, all[i]->dims.end());
    four.strides.insert(four.strides.end(), all[i]->strides.end() - 2, all[i]->strides.end());
    constexpr int64_t kElements = DnnPlan::kAlignment / 2;  // of 16 bits
    const bool is_even = std::all_of(four.strides.begin(), four.strides.end() - 1,
                                     [](int64_t stride) { return stride % kElements == 0; });
    if (countOf(four.dims) == 0 || four.strides.back() != 1 || !is_even || all[i]->offset % DnnPlan::kAlignment != 0) {
      return {};
    }
    result.push_back(std::move(four));
  }
  return result;
}

std::shared_ptr<const DnnPlan> planOf(const Layer& layer, const ShapeSet& shapes, const Cudnn& api,
                                      const AttentionOperands& operands) {
  const std::vector<FourDims> four = fourDimsOf(operands);
  const ContextScope scope(layer.device);
  DnnLibrary* const library = four.empty() ? nullptr : DnnLibrary::of(layer.device, api);
  if (library == nullptr) {
    return nullptr;
  }
  const DType dtype = shapes.inputs[kQ].dtype;
  const double scale = layer.attributes.getDouble("scale");
  std::ostringstream text;
  text << std::hexfloat << "attention " << toString(dtype) << ' ' << scale;
  for (const FourDims& each : four) {
    for (size_t axis = 0; axis < each.dims.size(); ++axis) {
      text << ' ' << each.dims[axis] << ':' << each.strides[axis];
    }
  }
  return library->plan(text.str(), [&] { return AttentionGraph(*library, dtype).build(four, scale); });
}

std::unique_ptr<kernels::Prepared> prepare(const Layer& layer, const ShapeSet& shapes, const Cudnn& api) {
  std::unique_ptr<kernels::Prepared> other = prepareAttention(layer, shapes);
  if (!layer.device.isHere()) {
    return other;
  }
  const AttentionOperands operands = attentionOperands(layer.attributes, shapes);
  const std::shared_ptr<const DnnPlan> plan = planOf(layer, shapes, api, operands);
  if (plan == nullptr) {
    TORCHTRT_LOG(kDEBUG, "cuDNN has no engine for attention of these shapes: the kernel \"attention\" runs it");
    return other;
  }
  auto launches = std::make_unique<Launches>(layer.device);
  Arguments arguments;
  arguments.input(kQ, operands.q.offset).input(kK, operands.k.offset).input(kV, operands.v.offset).output(0);
  arguments.scratch(launches->reserve(plan->workspaceBytes()));
  launches->add(plan, std::move(arguments));
  return whereAligned(std::move(launches), std::move(other), layer.present);
}

}  // namespace

kernels::CreateResult createCudnnAttention(const kernels::Problem& problem) {
  if (std::optional<Refusal> refusal = refuseOtherPlugin(problem, "torchtrt", "Attention")) {
    return *refusal;
  }
  const DType dtype = problem.inputs.at(kQ).dtype;
  if (sizeOf(dtype) != 2 || !isFloating(dtype)) {
    return Refusal{"dtype", "cuDNN computes no attention of " + std::string(toString(dtype))};
  }
  for (size_t mask = kFirstMask; mask < problem.inputs.size(); ++mask) {
    if (problem.inputs[mask].present) {
      return Refusal{"mask", "computes attention without masks alone"};
    }
  }
  Refusal missing;
  const Cudnn* const api = libraryFor(problem, findCudnn, "cuDNN", missing);
  if (api == nullptr) {
    return missing;
  }
  return launched(problem, [api](const Layer& layer, const ShapeSet& shapes) { return prepare(layer, shapes, *api); });
}

}  // namespace torchtrt::cuda
