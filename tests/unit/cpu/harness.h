// Small tensors and a way to run one reference kernel on them in every memory layout. Values are given and read back as
// doubles in row-major order, whatever dtype and strides the tensor has.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/kernel.h"

namespace torchtrt::kernels::testing {

using Ints = std::vector<int64_t>;
using Values = std::vector<double>;

extern const std::vector<DType> kFloatingDTypes;
extern const std::vector<DType> kIntegerDTypes;  // without bool
extern const std::vector<DType> kAllDTypes;

struct Tensor {
  TensorDesc desc;
  std::vector<std::byte> bytes;

  Values values() const;
};

enum class Layout : uint8_t { kRowMajor, kColumnMajor, kChannelsLast, kWithGaps };

Tensor makeTensor(DType dtype, const Ints& dims, const Values& values, Layout layout = Layout::kRowMajor);
// One stored element seen as a whole tensor.
Tensor broadcastTensor(DType dtype, const Ints& dims, double value);
// 0, 1, 2, ...
Values iota(int64_t count, double start = 0, double step = 1);
// Reproducible values in [-4, 4) that every dtype represents exactly.
Values mixedValues(int64_t count, DType dtype, uint32_t seed = 1);

Attributes makeAttributes(std::initializer_list<std::pair<const char*, AttributeValue>> values);

struct Output {
  DType dtype = DType::kFloat32;
  Ints dims;
};

// One layer. `dims` are the symbolic attributes, resolved.
struct Case {
  std::string family;
  Attributes attributes;
  std::vector<std::optional<Tensor>> inputs;
  std::vector<Output> outputs;
  std::vector<std::pair<std::string, Ints>> dims = {};
};

// Runs the cases of this program on that device from now on, by every implementation that its backend has for them.
void useDevice(const device::Device& device);
// True if faults in the data show when the device is waited for, and name neither index nor step.
bool reportsFaultsLate();

Problem problemOf(const Case& layer);
// Runs the reference, or on a device in use the first implementation; inputs as they lie, outputs in the given layout.
std::vector<Tensor> run(const Case& layer, Layout layout = Layout::kRowMajor, int threads = 1);
Values runOne(const Case& layer);

// Returns the difference from the reference that rounding explains, relative to the largest value.
double toleranceOf(DType dtype);
// Values are as expected, NaN and infinities exactly, others within the tolerance times the largest one. `what` is
// told.
void expectNear(const Values& got, const Values& expected, double tolerance, const std::string& what);
// Runs the case with its inputs and outputs in every layout, on one thread and on three, which must give the same bits.
// Output `i` must be near expected[i]: exactly for integers, else within `tolerance` (by default the dtype's) of the
// largest.
void expectOutputs(const Case& layer, const std::vector<Values>& expected, double tolerance = -1);

}  // namespace torchtrt::kernels::testing
