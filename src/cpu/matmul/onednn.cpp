// Matrix multiplication by oneDNN: batches, transposed operands through strides, b packed once where it is constant.
#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "cpu/matmul/config.h"
#include "cpu/matmul/fast.h"
#include "cpu/matmul/matmul.h"
#include "cpu/onednn/onednn.h"
#include "cpu/threads/parallel.h"
#include "kernels/real_time.h"
#include "kernels/restores.h"

namespace torchtrt::kernels::matmul {

#ifdef TORCHTRT_NO_ONEDNN

CreateResult createOneDnn(const Problem&) {
  return Refusal{"not-built", "is not part of this build"};
}
CreateResult createOneDnnBFloat16(const Problem&) {
  return Refusal{"not-built", "is not part of this build"};
}

#else

namespace {

using dnnl::memory;

// oneDNN keeps about this many bytes for one shape: less than for a convolution.
constexpr size_t kCodeBytes = 72 * 1024;

constexpr int kBias = 2;  // operands
constexpr int kResidual = 3;

struct Packed {
  Config config;             // with has_residual where a bias is one, and no has_bias then
  int residual = kResidual;  // the operand that is added to the sum
  bool has_constant_b = false;
  bool is_flat = false;  // computed as a product of two dimensions
  onednn::PackedWeights b;
  std::unique_ptr<Kernel> reference;  // for products of depth 0, which oneDNN has no primitive for, and slow ones

  // Of the dims by which oneDNN knows the operands.
  size_t rankOf(const TensorDesc& output) const {
    return is_flat ? 2 : output.dims.size();
  }
};

// True for a product with one constant matrix whose other operands can be read as matrices, too. oneDNN packs b for two
// or three dimensions. With more it takes b as it is, and packs it in every call: 49x768x3072 in bfloat16 on AMX takes
// 2.4 ms so, and 0.7 with a packed b.
bool canBeFlat(const Packed& packed, const Problem& problem) {
  const std::vector<int64_t>& b = problem.inputs[1].dims;
  const Config& config = packed.config;
  return packed.has_constant_b && problem.outputs[0].dims.size() > 2 && !config.transpose_a &&
         std::all_of(b.begin(), b.end() - 2, [](int64_t size) { return size == 1; }) &&
         (!config.has_residual || problem.inputs[static_cast<size_t>(packed.residual)].dims == problem.outputs[0].dims);
}

// The operand as a matrix, which lies as before: operands are dense.
TensorDesc flat(const TensorDesc& operand) {
  const int64_t columns = operand.dims.back();
  const int64_t rows = std::accumulate(operand.dims.begin(), operand.dims.end() - 1, int64_t{1}, std::multiplies<>());
  return {operand.dtype, {rows, columns}, {columns, 1}};
}

// Descriptor of an operand as `rank` dims, the last two exchanged where it is transposed.
memory::desc describe(const TensorDesc& operand, size_t rank, bool transpose) {
  std::vector<int64_t> dims(rank - operand.dims.size(), 1);
  dims.insert(dims.end(), operand.dims.begin(), operand.dims.end());
  std::vector<int64_t> strides = denseStrides(dims);
  std::copy(operand.strides.begin(), operand.strides.end(),
            strides.end() - static_cast<ptrdiff_t>(operand.strides.size()));
  if (transpose) {
    std::swap(dims[rank - 1], dims[rank - 2]);
    std::swap(strides[rank - 1], strides[rank - 2]);
  }
  return onednn::describe(dims, strides, operand.dtype);
}

TensorDesc tuned(const Operand& operand) {
  return {operand.dtype, operand.opt_dims, denseStrides(operand.opt_dims, operand.order)};
}

// Descriptors of one set of shapes, and the primitive for them.
struct Plan {
  memory::desc bias;
  memory::desc residual;
  onednn::Fusion fusion;
  dnnl::matmul::primitive_desc desc;
};

// a, b, bias, residual, output; b as given or packed.
Plan makePlan(const Packed& packed, const std::vector<TensorDesc>& inputs, const TensorDesc& output,
              const memory::desc& b) {
  const Config& config = packed.config;
  const size_t rank = packed.rankOf(output);
  const auto described = [&](const TensorDesc& operand, bool transpose) {
    return describe(packed.is_flat ? flat(operand) : operand, rank, transpose);
  };
  Plan plan;
  if (config.has_residual) {
    plan.residual = described(inputs[static_cast<size_t>(packed.residual)], false);
  }
  plan.fusion = onednn::fuse(config.activation, config.alpha, config.beta,
                             config.has_residual ? &plan.residual : nullptr, output.dtype);
  const memory::desc a = described(inputs[0], config.transpose_a);
  const memory::desc target = described(output, false);
  if (config.has_bias) {
    plan.bias = described(inputs[2], false);
    plan.desc = {onednn::engine(), a, b, plan.bias, target, plan.fusion.attributes};
  } else {
    plan.desc = {onednn::engine(), a, b, target, plan.fusion.attributes};
  }
  return plan;
}

// True if oneDNN has only its plain loop for a bias of this shape.
bool isSlow(const Packed& packed, const Plan& plan) {
  return packed.residual != kResidual && onednn::isPlainLoop(plan.desc);
}

class OneDnnMatmul final : public Prepared {
 public:
  OneDnnMatmul(std::shared_ptr<const Packed> packed, const ShapeSet& shapes) : packed_(std::move(packed)) {
    const Config& config = packed_->config;
    const TensorDesc& output = shapes.outputs[0];
    for (const int64_t size : output.dims) {
      count_ *= size;
    }
    if (count_ == 0) {
      return;
    }
    const std::vector<int64_t>& a = shapes.inputs[0].dims;
    if (a[a.size() - (config.transpose_a ? 2 : 1)] == 0) {
      reference_ = packed_->reference->prepare(shapes);
      return;
    }
    const ThreadScope scope(shapes.threads);
    const Plan plan = packed_->has_constant_b
                          ? planWithConstant(shapes)
                          : makePlan(*packed_, shapes.inputs, output,
                                     describe(shapes.inputs[1], output.dims.size(), config.transpose_b));
    if (isSlow(*packed_, plan) && !packed_->has_constant_b) {
      reference_ = packed_->reference->prepare(shapes);
      return;
    }
    scratch_bytes_ = plan.desc.scratchpad_desc().get_size();
    onednn::makeGemmCode(plan.desc);
    call_ = std::make_unique<onednn::FusedCall>(
        dnnl::matmul(plan.desc), plan.desc, config.has_bias ? &plan.bias : nullptr,
        config.has_residual ? &plan.residual : nullptr, plan.fusion, shapes.threads);
  }

  size_t scratchBytes() const override {
    return reference_ != nullptr ? reference_->scratchBytes() : scratch_bytes_;
  }
  size_t heldBytes() const override {
    return held_bytes_ + (call_ == nullptr ? 0 : kCodeBytes);
  }

  void run(const RunArgs& args) const override {
    if (reference_ != nullptr) {
      reference_->run(args);
    }
    if (call_ == nullptr) {
      return;
    }
    const Config& config = packed_->config;
    try {
      call_->run({args.inputs[0], b_ != nullptr ? b_->data.get() : args.inputs[1], args.outputs[0], args.scratch,
                  config.has_bias ? args.inputs[2] : nullptr,
                  config.has_residual ? args.inputs[packed_->residual] : nullptr});
    } catch (const dnnl::error& error) {
      onednn::rethrow(error, "matrix_multiply");
    }
    if (const ActivationRows& rest = call_->fusion().rest) {
      onednn::applyRows(rest, DType::kFloat32, args.outputs[0], count_, args.threads);
    }
  }

 private:
  Plan planWithConstant(const ShapeSet& shapes) {
    b_ = packed_->b.tuned();
    Plan plan = makePlan(*packed_, shapes.inputs, shapes.outputs[0], b_->desc);
    if (onednn::isPlainLoop(plan.desc)) {
      plan = makePlan(*packed_, shapes.inputs, shapes.outputs[0],
                      onednn::describeAny(b_->desc.get_dims(), shapes.outputs[0].dtype));
      bool made = false;
      b_ = packed_->b.in(plan.desc.weights_desc(), shapes.threads, made);
      held_bytes_ = made ? b_->desc.get_size() : 0;
    }
    return plan;
  }

  std::shared_ptr<const Packed> packed_;
  onednn::PackedWeights::Shared b_;          // null where b is no constant
  std::unique_ptr<onednn::FusedCall> call_;  // null when there is nothing to compute, or the reference computes it
  std::unique_ptr<Prepared> reference_;
  size_t scratch_bytes_ = 0;
  size_t held_bytes_ = 0;
  int64_t count_ = 1;
};

class OneDnnMatmulKernel final : public Kernel, public MayAllocate, public RestoresConstants {
 public:
  explicit OneDnnMatmulKernel(std::shared_ptr<const Packed> packed) : packed_(std::move(packed)) {}

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    try {
      return std::make_unique<OneDnnMatmul>(packed_, shapes);
    } catch (const dnnl::error& error) {
      onednn::rethrow(error, "matrix_multiply");
    }
  }
  bool needsConstant(int input) const override {
    return input != 1 || !packed_->has_constant_b;
  }
  size_t packedBytes() const override {
    return packed_->has_constant_b ? packed_->b.tuned()->desc.get_size() : 0;
  }
  bool restores(int input) const override {
    return input == 1 && packed_->has_constant_b && packed_->b.restores();
  }
  void restore(int, void* to, int threads) const override {
    packed_->b.restore(to, threads, "matrix_multiply");
  }
  bool mayAllocate() const override {
    return true;
  }

 private:
  std::shared_ptr<const Packed> packed_;
};

// Makes sure that oneDNN takes the problem, and packs b if it is constant. False where it would be slow.
bool pack(Packed& packed, const Problem& problem) {
  const ThreadScope scope(problem.threads);
  std::vector<TensorDesc> inputs;
  for (const Operand& operand : problem.inputs) {
    inputs.push_back(operand.present ? tuned(operand) : TensorDesc{});
  }
  const TensorDesc output = tuned(problem.outputs[0]);
  const memory::desc b =
      describe(packed.is_flat ? flat(inputs[1]) : inputs[1], packed.rankOf(output), packed.config.transpose_b);
  if (!packed.has_constant_b) {
    return !isSlow(packed, makePlan(packed, inputs, output, b));
  }
  const Plan plan = makePlan(packed, inputs, output, onednn::describeAny(b.get_dims(), problem.inputs[1].dtype));
  if (isSlow(packed, plan)) {
    return false;
  }
  packed.b.pack(problem.inputs[1].constant, b, plan.desc.weights_desc(), problem.threads);
  return true;
}

CreateResult create(const Problem& problem) {
  for (const Operand& operand : {problem.inputs[0], problem.inputs[1], problem.outputs[0]}) {
    for (const int64_t size : operand.opt_dims) {
      if (size == 0) {
        return Refusal{"empty", "is tuned for shapes that have elements"};
      }
    }
  }
  auto packed = std::make_shared<Packed>();
  packed->config = configOf(problem);
  const size_t rank = problem.outputs[0].dims.size();
  const Operand& bias = problem.inputs.size() > 2 ? problem.inputs[2] : Operand{};
  const int64_t columns = problem.outputs[0].dims[rank - 1];
  if (packed->config.has_bias && (!isRow(bias.dims) || bias.dims.back() != columns || columns < 0)) {
    if (packed->config.has_residual) {
      return Refusal{"bias-shape", "adds a bias of one value per column only where there is a residual, too"};
    }
    packed->config.has_bias = false;
    packed->config.has_residual = true;
    packed->residual = kBias;
  }
  packed->has_constant_b = problem.inputs[1].constant != nullptr;
  packed->is_flat = canBeFlat(*packed, problem);
  CreateResult reference = createMatrixMultiplyReference(problem);
  packed->reference = std::move(std::get<std::unique_ptr<Kernel>>(reference));
  const Config& config = packed->config;
  const DType dtype = problem.outputs[0].dtype;
  if (dtype != DType::kFloat32 && onednn::fuse(config.activation, config.alpha, config.beta, nullptr, dtype).rest) {
    return Refusal{"activation", "has no " + config.activation + " for sums that are not rounded yet"};
  }
  try {
    if (!pack(*packed, problem)) {
      return Refusal{"bias-shape", "has a plain loop alone for a bias of this shape"};
    }
  } catch (const dnnl::error& error) {
    return Refusal{"unsupported", std::string("oneDNN refuses: ") + error.what()};
  }
  return std::make_unique<OneDnnMatmulKernel>(std::move(packed));
}

}  // namespace

CreateResult createOneDnn(const Problem& problem) {
  if (std::optional<Refusal> refusal = commonRefusal(problem)) {
    return *refusal;
  }
  return create(problem);
}

CreateResult createOneDnnBFloat16(const Problem& problem) {
  if (std::optional<Refusal> refusal = onednn::refuseBFloat16()) {
    return *refusal;
  }
  if (std::optional<Refusal> refusal = commonRefusal(problem, DType::kBFloat16)) {
    return *refusal;
  }
  return create(problem);
}

#endif  // TORCHTRT_NO_ONEDNN

}  // namespace torchtrt::kernels::matmul
