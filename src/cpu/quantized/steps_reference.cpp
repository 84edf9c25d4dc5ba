#include <algorithm>
#include <array>

#include "cpu/loops/simple_kernel.h"
#include "cpu/loops/strided_loop.h"
#include "cpu/quantized/quantized.h"
#include "cpu/quantized/requantization.h"
#include "cpu/storage/convert.h"
#include "cpu/threads/parallel.h"

namespace torchtrt::kernels {
namespace {

constexpr int64_t kCost = 4;  // of an element, relative to an addition

// out = convert(in), both read and written through buffers of T.
template <typename T, typename Convert>
class StepsPrepared final : public Prepared {
 public:
  StepsPrepared(const Convert& convert, const ShapeSet& shapes)
      : convert_(convert),
        in_dtype_(shapes.inputs.at(0).dtype),
        out_dtype_(shapes.outputs.at(0).dtype),
        loop_(shapes.outputs[0].dims, {shapes.outputs[0].strides, shapes.inputs[0].strides}) {}

  void run(const RunArgs& args) const override {
    const Reader<T> reader(in_dtype_);
    const Writer<float> writer(out_dtype_);  // steps are integers in range, which it keeps
    parallelFor(args.threads, 0, loop_.count(), grainFor(kCost), [&](int64_t begin, int64_t end) {
      loop_.run(begin, end, kRun, [&](const int64_t* offsets, const int64_t* steps, int64_t n) {
        alignas(64) std::array<T, kRun> in;
        alignas(64) std::array<float, kRun> out;
        reader.read(args.inputs[0], offsets[1], steps[1], n, in.data());
        std::transform(in.begin(), in.begin() + n, out.begin(), convert_);
        writer.write(out.data(), n, args.outputs[0], offsets[0], steps[0]);
      });
    });
  }

 private:
  Convert convert_;
  DType in_dtype_, out_dtype_;
  StridedLoop loop_;
};

}  // namespace

CreateResult createQuantizeReference(const Problem& problem) {
  using quantized::Quantizer;
  return makeKernel<StepsPrepared<float, Quantizer>>(quantized::quantizerOf(*problem.attributes));
}

CreateResult createDequantizeReference(const Problem& problem) {
  using quantized::Dequantizer;
  return makeKernel<StepsPrepared<int64_t, Dequantizer>>(quantized::dequantizerOf(*problem.attributes));
}

}  // namespace torchtrt::kernels
