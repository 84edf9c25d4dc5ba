#include "cpu/harness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "cpu/loops/strided_loop.h"
#include "cpu/storage/convert.h"

namespace torchtrt::kernels::testing {
namespace {

const device::Device* device_in_use = nullptr;  // null: the CPU

std::vector<uint8_t> orderOf(Layout layout, size_t rank) {
  std::vector<uint8_t> order(rank);
  std::iota(order.begin(), order.end(), uint8_t{0});
  if (layout == Layout::kColumnMajor) {
    std::reverse(order.begin(), order.end());
  } else if (layout == Layout::kChannelsLast && rank >= 3) {
    std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  }
  return order;
}

TensorDesc describe(DType dtype, const Ints& dims, Layout layout) {
  TensorDesc desc{dtype, dims, denseStrides(dims, orderOf(layout, dims.size()))};
  if (layout == Layout::kWithGaps) {
    for (int64_t& stride : desc.strides) {
      stride *= 3;
    }
  }
  return desc;
}

Tensor allocate(TensorDesc desc) {
  int64_t last = 0;
  for (size_t axis = 0; axis < desc.dims.size(); ++axis) {
    last += std::max<int64_t>(desc.dims[axis] - 1, 0) * desc.strides[axis];
  }
  // Bytes that a kernel leaves untouched stand out.
  std::vector<std::byte> bytes(static_cast<size_t>(last + 1) * sizeOf(desc.dtype), std::byte{0x55});
  return {std::move(desc), std::move(bytes)};
}

Tensor relaid(const Tensor& tensor, Layout layout) {
  return makeTensor(tensor.desc.dtype, tensor.desc.dims, tensor.values(), layout);
}

}  // namespace

double toleranceOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return 1e-14;
    case DType::kFloat32:
      return 1e-6;
    case DType::kFloat16:
      return 1e-3;
    case DType::kBFloat16:
      return 8e-3;
    default:
      return 0;
  }
}

void expectNear(const Values& got, const Values& expected, double tolerance, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  double largest = 0;
  for (const double value : expected) {
    largest = std::isfinite(value) ? std::max(largest, std::abs(value)) : largest;
  }
  for (size_t i = 0; i < got.size(); ++i) {
    const bool same = got[i] == expected[i] || (std::isnan(got[i]) && std::isnan(expected[i]));
    ASSERT_TRUE(same || std::abs(got[i] - expected[i]) <= tolerance * largest)
        << what << ": element " << i << " is " << got[i] << ", expected " << expected[i];
  }
}

const std::vector<DType> kFloatingDTypes = {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16};
const std::vector<DType> kIntegerDTypes = {DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64, DType::kUInt8};
const std::vector<DType> kAllDTypes = {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16,
                                       DType::kInt8,    DType::kInt16,   DType::kInt32,   DType::kInt64,
                                       DType::kUInt8,   DType::kBool};

Values Tensor::values() const {
  Values result(static_cast<size_t>(countOf(desc.dims)));
  const Reader<double> reader(desc.dtype);
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = reader.one(bytes.data(), offsetAt(static_cast<int64_t>(i), desc.dims, desc.strides, desc.dims.size()));
  }
  return result;
}

Tensor makeTensor(DType dtype, const Ints& dims, const Values& values, Layout layout) {
  Tensor tensor = allocate(describe(dtype, dims, layout));
  EXPECT_EQ(values.size(), static_cast<size_t>(countOf(dims)));
  const Writer<double> writer(dtype);
  for (size_t i = 0; i < values.size(); ++i) {
    writer.write(&values[i], 1, tensor.bytes.data(),
                 offsetAt(static_cast<int64_t>(i), dims, tensor.desc.strides, dims.size()), 1);
  }
  return tensor;
}

Tensor broadcastTensor(DType dtype, const Ints& dims, double value) {
  Tensor tensor = makeTensor(dtype, {}, {value});
  tensor.desc.dims = dims;
  tensor.desc.strides.assign(dims.size(), 0);
  return tensor;
}

Values iota(int64_t count, double start, double step) {
  Values values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = start + static_cast<double>(i) * step;
  }
  return values;
}

Values mixedValues(int64_t count, DType dtype, uint32_t seed) {
  Values values(static_cast<size_t>(count));
  uint32_t state = seed * 2654435761u + 1;
  for (double& value : values) {
    state = state * 1664525u + 1013904223u;
    const double quarters = static_cast<double>(state >> 27);  // 0 to 31
    value = isFloating(dtype) ? quarters / 4 - 4 : std::floor(quarters / 4);
    value = dtype == DType::kBool ? std::fmod(value, 2) : value;
  }
  return values;
}

Attributes makeAttributes(std::initializer_list<std::pair<const char*, AttributeValue>> values) {
  Attributes attributes;
  for (const auto& [name, value] : values) {
    attributes.set(name, value);
  }
  return attributes;
}

Problem problemOf(const Case& layer) {
  Problem problem;
  problem.family = layer.family;
  problem.attributes = &layer.attributes;
  problem.device = device_in_use;
  for (const std::optional<Tensor>& input : layer.inputs) {
    Operand operand;
    if (input) {
      operand.present = true;
      operand.dtype = input->desc.dtype;
      operand.dims = operand.opt_dims = input->desc.dims;
    }
    problem.inputs.push_back(std::move(operand));
  }
  for (const Output& output : layer.outputs) {
    problem.outputs.push_back({true, output.dtype, output.dims, output.dims, {}, nullptr});
  }
  return problem;
}

namespace {

// A tensor's bytes in the memory of the device in use.
class OnDevice {
 public:
  explicit OnDevice(const std::vector<std::byte>& bytes)
      : memory_(device_in_use->allocate(bytes.size(), "an operand of a test")) {
    device_in_use->copyIn(memory_.data(), bytes.data(), bytes.size(), {});
  }
  void* data() const {
    return memory_.data();
  }
  void copyTo(std::vector<std::byte>& bytes) const {
    device_in_use->copyOut(bytes.data(), memory_.data(), bytes.size(), {});
  }

 private:
  device::Memory memory_;
};

std::vector<Tensor> runOn(const Case& layer, const std::string& implementation, const ShapeSet& shapes,
                          std::vector<Tensor> results) {
  const Chosen chosen = createKernel(problemOf(layer), implementation);
  const std::unique_ptr<Prepared> prepared = chosen.kernel->prepare(shapes);
  std::vector<std::optional<OnDevice>> operands;
  std::vector<const void*> inputs;
  for (const std::optional<Tensor>& input : layer.inputs) {
    operands.emplace_back(input ? std::optional<OnDevice>(std::in_place, input->bytes) : std::nullopt);
    inputs.push_back(input ? operands.back()->data() : nullptr);
  }
  std::vector<OnDevice> written;
  std::vector<void*> outputs;
  for (const Tensor& result : results) {
    written.emplace_back(result.bytes);
    outputs.push_back(written.back().data());
  }
  const device::Memory scratch = device_in_use->allocate(prepared->scratchBytes(), "scratch of a test");
  prepared->run({inputs.data(), outputs.data(), scratch.data(), 1});
  for (size_t i = 0; i < results.size(); ++i) {
    written[i].copyTo(results[i].bytes);
  }
  return results;
}

// Those that accept the problem. On the CPU the reference alone: others have tests of their own. Steps on the host are
// fast kernels of the CPU, which take operands as the problem describes them: row-major.
std::vector<std::string> implementationsFor(const Case& layer, bool is_row_major = true) {
  if (device_in_use == nullptr) {
    return {"reference"};
  }
  std::vector<std::string> names;
  for (const Implementation& each : findFamily(layer.family, device_in_use)->implementations) {
    const bool is_host = std::string_view(each.name) == "host";
    if ((!is_host || is_row_major) && std::holds_alternative<std::unique_ptr<Kernel>>(each.create(problemOf(layer)))) {
      names.emplace_back(each.name);
    }
  }
  return names;
}

std::vector<Tensor> runBy(const std::string& implementation, const Case& layer, Layout layout, int threads) {
  ShapeSet shapes;
  std::vector<const void*> inputs;
  for (const std::optional<Tensor>& input : layer.inputs) {
    shapes.inputs.push_back(input ? input->desc : TensorDesc{});
    inputs.push_back(input ? input->bytes.data() : nullptr);
  }
  std::vector<Tensor> results;
  for (const Output& output : layer.outputs) {
    shapes.outputs.push_back(describe(output.dtype, output.dims, layout));
    results.push_back(allocate(shapes.outputs.back()));
  }
  shapes.dims = layer.dims;
  shapes.threads = threads;
  if (device_in_use != nullptr) {
    return runOn(layer, implementation, shapes, std::move(results));
  }
  const Chosen chosen = createKernel(problemOf(layer), implementation);
  EXPECT_STREQ(chosen.implementation, "reference");
  std::vector<void*> outputs;
  for (Tensor& result : results) {
    outputs.push_back(result.bytes.data());
  }
  const std::unique_ptr<Prepared> prepared = chosen.kernel->prepare(shapes);
  const size_t scratch_bytes = prepared->scratchBytes();
  const std::unique_ptr<void, void (*)(void*)> scratch(
      scratch_bytes == 0 ? nullptr : std::aligned_alloc(64, (scratch_bytes + 63) / 64 * 64), std::free);
  prepared->run({inputs.data(), outputs.data(), scratch.get(), threads});
  return results;
}

}  // namespace

void useDevice(const device::Device& device) {
  device_in_use = &device;
}

bool reportsFaultsLate() {
  return device_in_use != nullptr && !device_in_use->isHost();
}

std::vector<Tensor> run(const Case& layer, Layout layout, int threads) {
  return runBy(implementationsFor(layer).at(0), layer, layout, threads);
}

Values runOne(const Case& layer) {
  return run(layer).at(0).values();
}

namespace {

void expectInLayout(const Case& layer, Layout layout, const std::vector<Values>& expected, double tolerance,
                    bool is_row_major) {
  for (const std::string& implementation : implementationsFor(layer, is_row_major)) {
    const std::string text = implementation + " for " + problemOf(layer).toString() + " to layout " +
                             std::to_string(static_cast<int>(layout));
    const std::vector<Tensor> results = runBy(implementation, layer, layout, 1);
    const std::vector<Tensor> again = runBy(implementation, layer, layout, 3);
    ASSERT_EQ(results.size(), expected.size()) << text;
    for (size_t i = 0; i < results.size(); ++i) {
      const DType dtype = results[i].desc.dtype;
      const bool by_dtype = tolerance < 0 || !isFloating(dtype);
      expectNear(results[i].values(), expected[i], by_dtype ? toleranceOf(dtype) : tolerance, text);
      EXPECT_EQ(results[i].bytes, again[i].bytes) << text << ": three threads, or a second run, give other bits";
    }
  }
}

}  // namespace

void expectOutputs(const Case& layer, const std::vector<Values>& expected, double tolerance) {
  expectInLayout(layer, Layout::kRowMajor, expected, tolerance, true);
  for (const Layout layout : {Layout::kColumnMajor, Layout::kChannelsLast, Layout::kWithGaps}) {
    Case variant = layer;
    for (std::optional<Tensor>& input : variant.inputs) {
      input = input ? std::optional(relaid(*input, layout)) : std::nullopt;
    }
    expectInLayout(variant, Layout::kRowMajor, expected, tolerance, false);
    expectInLayout(variant, layout, expected, tolerance, false);
  }
}

}  // namespace torchtrt::kernels::testing
