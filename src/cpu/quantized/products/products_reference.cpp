// Products of steps by their definition: the reference of the product in integers, over x - zero_point, for the sums,
// then the arithmetic of requantization.h.
#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include "base/align.h"
#include "cpu/convolution/convolution.h"
#include "cpu/loops/simple_kernel.h"
#include "cpu/loops/strided_loop.h"
#include "cpu/matmul/matmul.h"
#include "cpu/quantized/quantized.h"
#include "cpu/quantized/requantization.h"
#include "cpu/storage/convert.h"
#include "cpu/threads/parallel.h"

namespace torchtrt::kernels {
namespace {

using quantized::kBias;
using quantized::kInput;
using quantized::kKernel;
using quantized::kResidual;
using quantized::kScale;
using quantized::Requantization;

constexpr int64_t kCost = 16;  // of an output after its sum, relative to an addition

TensorDesc denseInt32(const TensorDesc& like) {
  return {DType::kInt32, like.dims, denseStrides(like.dims)};
}

size_t alignedBytes(const TensorDesc& desc) {
  return alignUp(static_cast<size_t>(countOf(desc.dims)) * sizeOf(desc.dtype));
}

struct ProductConfig {
  std::shared_ptr<const Kernel> sums;  // of int32 inputs and int8 kernels, to int32
  int64_t zero_point = 0;
  size_t channel_axis = 0;  // of the output, counted from the last
  Requantization requantization;
};

class ProductPrepared final : public Prepared {
 public:
  ProductPrepared(const ProductConfig& config, const ShapeSet& shapes)
      : config_(config),
        activation_(config.requantization.activation, DType::kFloat32),
        in_(shapes.inputs.at(kInput)),
        centred_(denseInt32(in_)),
        sums_desc_(denseInt32(shapes.outputs.at(0))),
        centring_(in_.dims, {centred_.strides, in_.strides}),
        finishing_(sums_desc_.dims, finishedStrides(shapes)) {
    ShapeSet integer;
    integer.inputs = {centred_, shapes.inputs.at(kKernel)};
    integer.outputs = {sums_desc_};
    integer.threads = shapes.threads;
    sums_ = config.sums->prepare(integer);
  }

  size_t scratchBytes() const override {
    return alignedBytes(centred_) + alignedBytes(sums_desc_) + sums_->scratchBytes();
  }

  void run(const RunArgs& args) const override {
    auto* centred = static_cast<std::byte*>(args.scratch);
    std::byte* sums = centred + alignedBytes(centred_);
    centre(args, centred);
    const std::array<const void*, 2> inputs = {centred, args.inputs[kKernel]};
    void* output = sums;
    sums_->run({inputs.data(), &output, sums + alignedBytes(sums_desc_), args.threads});
    finish(args, sums);
  }

 private:
  // Strides along the output's axes: of the output, the sums, scale, bias, residual.
  std::vector<std::vector<int64_t>> finishedStrides(const ShapeSet& shapes) const {
    const size_t rank = sums_desc_.dims.size();
    const auto perChannel = [&](size_t operand) {
      std::vector<int64_t> strides(rank, 0);
      strides.at(rank - 1 - config_.channel_axis) = shapes.inputs.at(operand).strides.at(0);
      return strides;
    };
    const std::vector<int64_t> none(rank, 0);
    return {shapes.outputs[0].strides, sums_desc_.strides, perChannel(kScale),
            config_.requantization.has_bias ? perChannel(kBias) : none,
            config_.requantization.has_residual ? shapes.inputs.at(kResidual).strides : none};
  }

  void centre(const RunArgs& args, std::byte* centred) const {
    const Reader<int64_t> reader(in_.dtype);
    const Writer<int64_t> writer(DType::kInt32);
    parallelFor(args.threads, 0, centring_.count(), grainFor(1), [&](int64_t begin, int64_t end) {
      centring_.run(begin, end, kRun, [&](const int64_t* offsets, const int64_t* steps, int64_t n) {
        alignas(64) std::array<int64_t, kRun> values;
        reader.read(args.inputs[kInput], offsets[1], steps[1], n, values.data());
        for (int64_t i = 0; i < n; ++i) {
          values[static_cast<size_t>(i)] -= config_.zero_point;
        }
        writer.write(values.data(), n, centred, offsets[0], steps[0]);
      });
    });
  }

  void finish(const RunArgs& args, const std::byte* sums) const {
    const Reader<float> sum_reader(DType::kInt32);
    const Writer<float> writer(config_.requantization.to);
    parallelFor(args.threads, 0, finishing_.count(), grainFor(kCost), [&](int64_t begin, int64_t end) {
      finishing_.run(begin, end, kRun, [&](const int64_t* offsets, const int64_t* steps, int64_t n) {
        alignas(64) std::array<float, kRun> values;
        sum_reader.read(sums, offsets[1], steps[1], n, values.data());
        finishRun(args, offsets, steps, n, values.data());
        writer.write(values.data(), n, args.outputs[0], offsets[0], steps[0]);
      });
    });
  }

  void finishRun(const RunArgs& args, const int64_t* offsets, const int64_t* steps, int64_t n, float* values) const {
    const Requantization& requantization = config_.requantization;
    alignas(64) std::array<float, kRun> operand;
    const auto combine = [&](DType dtype, size_t input, size_t tensor, auto&& function) {
      Reader<float>(dtype).read(args.inputs[input], offsets[tensor], steps[tensor], n, operand.data());
      for (int64_t i = 0; i < n; ++i) {
        values[i] = function(values[i], operand[static_cast<size_t>(i)]);
      }
    };
    const auto sum = [](float a, float b) { return a + b; };
    combine(DType::kFloat32, kScale, 2, [](float a, float b) { return a * b; });
    if (requantization.has_bias) {
      combine(DType::kFloat32, kBias, 3, sum);
    }
    if (requantization.has_residual && requantization.residual_dtype == DType::kFloat32) {
      combine(DType::kFloat32, kResidual, 4, sum);
    } else if (requantization.has_residual) {
      combine(requantization.residual_dtype, kResidual, 4,
              [&](float value, float step) { return value + requantization.residual(static_cast<int32_t>(step)); });
    }
    activation_.apply(values, n);
    if (requantization.makesSteps()) {
      std::transform(values, values + n, values, requantization.output);
    }
  }

  ProductConfig config_;
  Activation<float> activation_;
  TensorDesc in_, centred_, sums_desc_;
  StridedLoop centring_, finishing_;
  std::unique_ptr<Prepared> sums_;
};

Attributes withoutActivation(Attributes attributes) {
  attributes.set("activation", std::string());
  return attributes;
}

// The operands of the sums: as of the product, but int32 and row-major where they are ours.
CreateResult createProduct(const Problem& problem, size_t channel_axis, const char* family,
                           CreateResult (*create)(const Problem&)) {
  const Attributes attributes = withoutActivation(*problem.attributes);
  Problem integer;
  integer.family = family;
  integer.attributes = &attributes;
  integer.inputs = {problem.inputs.at(kInput), problem.inputs.at(kKernel)};
  integer.outputs = problem.outputs;
  for (Operand* operand : {&integer.inputs[0], &integer.outputs.at(0)}) {
    operand->dtype = DType::kInt32;
    operand->order.clear();
    operand->constant = nullptr;
  }
  CreateResult sums = create(integer);
  if (auto* refusal = std::get_if<Refusal>(&sums)) {
    return std::move(*refusal);
  }
  return makeKernel<ProductPrepared>(ProductConfig{std::move(std::get<std::unique_ptr<Kernel>>(sums)),
                                                   problem.attributes->getInt("zero_point"), channel_axis,
                                                   quantized::requantizationOf(problem)});
}

}  // namespace

CreateResult createQuantizedConvolutionReference(const Problem& problem) {
  return createProduct(problem, problem.outputs.at(0).dims.size() - 2, "convolution", createConvolutionReference);
}

CreateResult createQuantizedMatrixMultiplyReference(const Problem& problem) {
  return createProduct(problem, 0, "matrix_multiply", createMatrixMultiplyReference);
}

}  // namespace torchtrt::kernels
