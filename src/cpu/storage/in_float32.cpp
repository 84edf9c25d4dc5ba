#include "cpu/storage/in_float32.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/align.h"
#include "cpu/storage/half_rows.h"
#include "cpu/threads/parallel.h"
#include "cpu/threads/thread_memory.h"
#include "device/constants.h"
#include "kernels/real_time.h"
#include "kernels/scale.h"

namespace torchtrt::kernels {
namespace {

constexpr int64_t kGrain = 16384;  // elements worth a thread

void widen(DType dtype, const void* from, float* to, int64_t count, int threads) {
  const HalfRows rows = halfRows(dtype);
  const auto* source = static_cast<const uint16_t*>(from);
  parallelFor(threads, 0, count, kGrain,
              [&](int64_t begin, int64_t end) { rows.widen(source + begin, to + begin, end - begin); });
}

void narrow(DType dtype, const float* from, void* to, int64_t count, int threads) {
  const HalfRows rows = halfRows(dtype);
  auto* target = static_cast<uint16_t*>(to);
  parallelFor(threads, 0, count, kGrain,
              [&](int64_t begin, int64_t end) { rows.narrow(from + begin, target + begin, end - begin); });
}

// Elements of memory from the first to the last: broadcast ones count once, whatever the order.
int64_t span(const TensorDesc& desc) {
  int64_t last = 0;
  for (size_t i = 0; i < desc.dims.size(); ++i) {
    if (desc.dims[i] == 0) {
      return 0;
    }
    last += (desc.dims[i] - 1) * desc.strides[i];
  }
  return last + 1;
}

// A 16-bit operand of one set of shapes, and where in the scratch memory its float32 form is.
struct Widened {
  size_t index;
  DType dtype;
  int64_t count;
  size_t offset;  // in bytes
};

class PreparedInFloat32 final : public Prepared {
 public:
  PreparedInFloat32(const Kernel& inner, const ShapeSet& shapes, const InFloat32::Constants& constants)
      : constants_(constants) {
    ShapeSet wide = shapes;
    inputs_ = widenAll(wide.inputs);
    outputs_ = widenAll(wide.outputs);
    inner_ = inner.prepare(wide);
    inner_offset_ = bytes_;
  }

  void run(const RunArgs& args) const override {
    ThreadVector<const void*> inputs(args.inputs, args.inputs + constants_.size());
    ThreadVector<void*> outputs(args.outputs, args.outputs + output_count_);
    auto* scratch = static_cast<std::byte*>(args.scratch);
    for (const Widened& operand : inputs_) {
      if (constants_[operand.index] != nullptr) {
        inputs[operand.index] = constants_[operand.index].get();
      } else if (inputs[operand.index] != nullptr) {
        auto* wide = reinterpret_cast<float*>(scratch + operand.offset);
        widen(operand.dtype, inputs[operand.index], wide, operand.count, args.threads);
        inputs[operand.index] = wide;
      }
    }
    for (const Widened& operand : outputs_) {
      outputs[operand.index] = scratch + operand.offset;
    }
    inner_->run({inputs.data(), outputs.data(), scratch + inner_offset_, args.threads});
    for (const Widened& operand : outputs_) {
      const auto* wide = reinterpret_cast<const float*>(scratch + operand.offset);
      narrow(operand.dtype, wide, args.outputs[operand.index], operand.count, args.threads);
    }
  }

  size_t scratchBytes() const override {
    return inner_offset_ + inner_->scratchBytes();
  }
  size_t heldBytes() const override {
    return inner_->heldBytes();
  }

 private:
  std::vector<Widened> widenAll(std::vector<TensorDesc>& descs) {
    output_count_ = descs.size();
    std::vector<Widened> widened;
    for (size_t i = 0; i < descs.size(); ++i) {
      if (isHalf(descs[i].dtype)) {
        const int64_t count = span(descs[i]);
        widened.push_back({i, descs[i].dtype, count, bytes_});
        bytes_ += alignUp(static_cast<size_t>(count) * sizeof(float));
        descs[i].dtype = DType::kFloat32;
      }
    }
    return widened;
  }

  const InFloat32::Constants& constants_;  // of the kernel, by input
  std::unique_ptr<Prepared> inner_;
  std::vector<Widened> inputs_;
  std::vector<Widened> outputs_;
  size_t output_count_ = 0;
  size_t bytes_ = 0;
  size_t inner_offset_ = 0;
};

class KernelInFloat32 final : public Kernel, public MayAllocate {
 public:
  // constants: the widened ones, by input; null for other inputs.
  KernelInFloat32(std::unique_ptr<Kernel> inner, InFloat32::Constants constants, const std::vector<size_t>& sizes)
      : inner_(std::move(inner)), constants_(std::move(constants)) {
    for (size_t i = 0; i < constants_.size(); ++i) {
      is_widened_.push_back(constants_[i] != nullptr);
      if (!inner_->needsConstant(static_cast<int>(i))) {
        constants_[i] = nullptr;
      }
      constant_bytes_ += constants_[i] == nullptr ? 0 : sizes[i];
    }
  }

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    return std::make_unique<PreparedInFloat32>(*inner_, shapes, constants_);
  }
  bool needsConstant(int input) const override {
    return !is_widened_.at(static_cast<size_t>(input)) && inner_->needsConstant(input);
  }
  size_t packedBytes() const override {
    return inner_->packedBytes() + constant_bytes_;
  }
  bool runsEachSample() const override {
    return inner_->runsEachSample();
  }
  bool mayAllocate() const override {
    return kernels::mayAllocate(*inner_);
  }

 private:
  std::unique_ptr<Kernel> inner_;
  InFloat32::Constants constants_;
  std::vector<bool> is_widened_;
  size_t constant_bytes_ = 0;
};

bool isHalfOperand(const Operand& operand) {
  return operand.present && isHalf(operand.dtype);
}

constexpr size_t kFilter = 1;

// Multiplies the filters of each output with its scale.
void scaleFilters(float* filters, int64_t filter_elements, const float* scale, int64_t outputs) {
  for (int64_t output = 0; output < outputs; ++output) {
    float* const filter = filters + output * filter_elements;
    std::transform(filter, filter + filter_elements, filter,
                   [by = scale[output]](float weight) { return weight * by; });
  }
}

}  // namespace

bool InFloat32::applies(const Problem& problem) {
  return std::any_of(problem.inputs.begin(), problem.inputs.end(), isHalfOperand) ||
         std::any_of(problem.outputs.begin(), problem.outputs.end(), isHalfOperand);
}

InFloat32::InFloat32(const Problem& problem)
    : wide_(problem), constants_(problem.inputs.size()), sizes_(problem.inputs.size()) {
  for (size_t i = 0; i < wide_.inputs.size(); ++i) {
    Operand& operand = wide_.inputs[i];
    if (isHalfOperand(operand) && operand.constant != nullptr) {
      const int64_t count = std::accumulate(operand.dims.begin(), operand.dims.end(), int64_t{1}, std::multiplies<>());
      sizes_[i] = static_cast<size_t>(count) * sizeof(float);
      constants_[i] = device::allocateConstant(std::max(sizes_[i], sizeof(float)), "widening weights to float32");
      auto* wide = static_cast<float*>(constants_[i].get());
      widen(operand.dtype, operand.constant, wide, count, problem.threads);
      operand.constant = wide;
    }
  }
  if (hasScale(problem)) {
    foldScale();
  }
  for (std::vector<Operand>* operands : {&wide_.inputs, &wide_.outputs}) {
    for (Operand& operand : *operands) {
      operand.dtype = isHalfOperand(operand) ? DType::kFloat32 : operand.dtype;
    }
  }
}

// A convolution in float32 has no scale: its filters absorb it.
void InFloat32::foldScale() {
  Operand& scale = wide_.inputs[kScale];
  const Operand& filter = wide_.inputs[kFilter];
  if (scale.constant == nullptr || filter.constant == nullptr) {
    is_possible_ = false;
    return;
  }
  const int64_t count = countOf(filter.dims), outputs = filter.dims[0];
  if (count > 0) {
    auto* const filters = static_cast<float*>(constants_[kFilter].get());
    scaleFilters(filters, count / outputs, static_cast<const float*>(scale.constant), outputs);
  }
  scale = Operand();
}

CreateResult InFloat32::create(const Implementation& implementation) {
  if (!is_possible_) {
    return Refusal{"dtype", "folds a scale into filters when it is loaded, and these are computed"};
  }
  CreateResult result = createByRule(implementation, wide_);
  if (auto* kernel = std::get_if<std::unique_ptr<Kernel>>(&result)) {
    return std::make_unique<KernelInFloat32>(std::move(*kernel), std::move(constants_), sizes_);
  }
  return result;
}

}  // namespace torchtrt::kernels
