// The values of torchtrt/options.h: conversions from torch's types and the checks that need no module.
#include "torchtrt/options.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "compiler/rejections.h"
#include "torchtrt/error.h"

namespace torchtrt {

namespace {

using Shape = Input::Shape;
using ShapeRef = Input::ShapeRef;
using Domain = Input::Domain;
using compiler::rejectInput;

constexpr int64_t kAnySize = std::numeric_limits<int32_t>::max();

// An Input inside of a signature is an IValue, for which libtorch has to know the class. Looked up first: registering
// twice would end the process.
std::optional<torch::class_<Input>> registerInput() {
  if (torch::getCustomClass("__torch__.torch.classes.tensorrt._Input")) {
    return std::nullopt;
  }
  return torch::class_<Input>("tensorrt", "_Input");
}

const std::optional<torch::class_<Input>> registered_input = registerInput();

std::string text(const Shape& shape) {
  return c10::str(ShapeRef(shape));
}

void checkRange(const Input& input) {
  if (input.min_shape.size() != input.opt_shape.size() || input.opt_shape.size() != input.max_shape.size()) {
    rejectInput("an input's minimum, optimum and maximum differ in rank: " + text(input.min_shape) + ", " +
                    text(input.opt_shape) + ", " + text(input.max_shape),
                "give three shapes of one rank");
  }
  for (size_t i = 0; i < input.min_shape.size(); ++i) {
    const bool ordered = input.min_shape[i] <= input.opt_shape[i] && input.opt_shape[i] <= input.max_shape[i];
    if (input.min_shape[i] < 0 || !ordered) {
      rejectInput("dimension " + std::to_string(i) + " of an input has the range " +
                      std::to_string(input.min_shape[i]) + ", " + std::to_string(input.opt_shape[i]) + ", " +
                      std::to_string(input.max_shape[i]),
                  "expected 0 <= minimum <= optimum <= maximum");
    }
  }
}

// An open size in a single shape becomes a range of any size.
Shape withOpenSizes(Shape shape, int64_t open_size) {
  for (int64_t& size : shape) {
    if (size < -1) {
      rejectInput("an input has the size " + std::to_string(size), "expected a size, or -1 for any size");
    }
    size = size == -1 ? open_size : size;
  }
  return shape;
}

TensorFormat layoutOf(const at::Tensor& tensor) {
  const bool channels_last = tensor.dim() == 4 && tensor.is_contiguous(at::MemoryFormat::ChannelsLast);
  return channels_last && !tensor.is_contiguous() ? TensorFormat::kChannelsLast : TensorFormat::kContiguous;
}

// A tensor that can stand for an input: one with data to read.
const at::Tensor& checked(const at::Tensor& tensor) {
  if (!tensor.defined()) {
    rejectInput("an input was made from an undefined tensor", "give a tensor with data, or a shape");
  }
  if (tensor.layout() != at::kStrided) {
    rejectInput(c10::str("an input was made from a tensor of layout ", tensor.layout(), ", expected a dense one"),
                "call .to_dense() on it, or give a shape");
  }
  if (tensor.is_meta()) {
    rejectInput("an input was made from a tensor on the meta device, which holds no data to check the result with",
                "give its shape and dtype: Input(tensor.shape, dtype=tensor.dtype)");
  }
  return tensor;
}

// Nothing for a type that no engine has.
std::optional<DataType::Value> valueOf(c10::ScalarType type) {
  switch (type) {
    case at::kLong:
      return DataType::kLong;
    case at::kDouble:
      return DataType::kDouble;
    case at::kFloat:
      return DataType::kFloat;
    case at::kHalf:
      return DataType::kHalf;
    case at::kChar:
      return DataType::kChar;
    case at::kInt:
      return DataType::kInt;
    case at::kBool:
      return DataType::kBool;
    case at::kBFloat16:
      return DataType::kBFloat16;
    case at::kByte:
      return DataType::kByte;
    case at::kShort:
      return DataType::kShort;
    default:
      return std::nullopt;
  }
}

}  // namespace

DataType::DataType(c10::ScalarType type) {
  const std::optional<Value> value = valueOf(type);
  if (!value) {
    rejectInput(std::string("there is no engine data type for ") + c10::toString(type),
                "use float, double, half, bfloat16, an integer type or bool");
  }
  value_ = *value;
}

bool DataType::operator==(c10::ScalarType type) const {
  const std::optional<Value> other = valueOf(type);
  return other && *other == value_;
}

std::ostream& operator<<(std::ostream& out, const DataType& dtype) {
  static constexpr const char* kNames[] = {"Int64", "Float64", "Float32",  "Float16", "Int8", "Int32",
                                           "Bool",  "Unknown", "BFloat16", "UInt8",   "Int16"};
  return out << kNames[static_cast<size_t>(static_cast<DataType::Value>(dtype))];
}

TensorFormat::TensorFormat(at::MemoryFormat format) {
  switch (format) {
    case at::MemoryFormat::Contiguous:
      value_ = kContiguous;
      break;
    case at::MemoryFormat::ChannelsLast:
      value_ = kChannelsLast;
      break;
    default:
      rejectInput(c10::str("there is no tensor format for ", format), "use contiguous or channels_last");
  }
}

std::ostream& operator<<(std::ostream& out, const TensorFormat& format) {
  static constexpr const char* kNames[] = {"NCHW/Contiguous/Linear", "NHWC/Channels Last", "Unknown"};
  return out << kNames[static_cast<size_t>(static_cast<TensorFormat::Value>(format))];
}

Device::DeviceType::DeviceType(c10::DeviceType type) {
  switch (type) {
    case c10::DeviceType::CUDA:
      value_ = kGPU;
      break;
    case c10::DeviceType::CPU:
      value_ = kCPU;
      break;
    default:
      throw CompileError(ErrorCode::kInvalidOption, "no engine runs on device type " + c10::DeviceTypeName(type), {},
                         "use cpu or cuda");
  }
}

std::ostream& operator<<(std::ostream& out, const Device& device) {
  static constexpr const char* kNames[] = {"GPU", "DLA", "CPU", "AUTO"};
  out << "Device(" << kNames[static_cast<size_t>(static_cast<Device::DeviceType::Value>(device.device_type))];
  if (device.device_type == Device::DeviceType::kGPU || device.device_type == Device::DeviceType::kDLA) {
    out << ":" << device.gpu_id;
  }
  return out << ")";
}

// The one constructor that does the work; the others bring what they are given into its form.
Input::Input(Shape min_shape, Shape opt_shape, Shape max_shape, DataType dtype, Domain tensor_domain,
             TensorFormat format)
    : min_shape(std::move(min_shape)),
      opt_shape(std::move(opt_shape)),
      max_shape(std::move(max_shape)),
      dtype(dtype),
      format(format),
      tensor_domain(std::move(tensor_domain)) {
  checkRange(*this);
  if (this->tensor_domain.size() != 2 || this->tensor_domain[0] >= this->tensor_domain[1]) {
    rejectInput("an input has the tensor domain " + c10::str(c10::ArrayRef<double>(this->tensor_domain)),
                "expected [low, high) with low < high");
  }
  shape = this->min_shape;
  for (size_t i = 0; i < shape.size(); ++i) {
    shape[i] = this->min_shape[i] == this->max_shape[i] ? shape[i] : -1;
  }
}

Input::Input(Shape shape, DataType dtype, Domain tensor_domain, TensorFormat format)
    : Input(withOpenSizes(shape, 0), withOpenSizes(shape, 1), withOpenSizes(shape, kAnySize), dtype,
            std::move(tensor_domain), format) {}
Input::Input(Shape shape, TensorFormat format) : Input(std::move(shape), DataType(), Domain{0, 2}, format) {}
Input::Input(Shape shape, Domain tensor_domain, TensorFormat format)
    : Input(std::move(shape), DataType(), std::move(tensor_domain), format) {}
Input::Input(Shape shape, DataType dtype, TensorFormat format) : Input(std::move(shape), dtype, Domain{0, 2}, format) {}

Input::Input(ShapeRef shape, TensorFormat format) : Input(shape.vec(), format) {}
Input::Input(ShapeRef shape, Domain tensor_domain, TensorFormat format)
    : Input(shape.vec(), std::move(tensor_domain), format) {}
Input::Input(ShapeRef shape, DataType dtype, TensorFormat format) : Input(shape.vec(), dtype, format) {}
Input::Input(ShapeRef shape, DataType dtype, Domain tensor_domain, TensorFormat format)
    : Input(shape.vec(), dtype, std::move(tensor_domain), format) {}

Input::Input(Shape min_shape, Shape opt_shape, Shape max_shape, TensorFormat format)
    : Input(std::move(min_shape), std::move(opt_shape), std::move(max_shape), DataType(), Domain{0, 2}, format) {}
Input::Input(Shape min_shape, Shape opt_shape, Shape max_shape, Domain tensor_domain, TensorFormat format)
    : Input(std::move(min_shape), std::move(opt_shape), std::move(max_shape), DataType(), std::move(tensor_domain),
            format) {}
Input::Input(Shape min_shape, Shape opt_shape, Shape max_shape, DataType dtype, TensorFormat format)
    : Input(std::move(min_shape), std::move(opt_shape), std::move(max_shape), dtype, Domain{0, 2}, format) {}

Input::Input(ShapeRef min_shape, ShapeRef opt_shape, ShapeRef max_shape, TensorFormat format)
    : Input(min_shape.vec(), opt_shape.vec(), max_shape.vec(), format) {}
Input::Input(ShapeRef min_shape, ShapeRef opt_shape, ShapeRef max_shape, Domain tensor_domain, TensorFormat format)
    : Input(min_shape.vec(), opt_shape.vec(), max_shape.vec(), std::move(tensor_domain), format) {}
Input::Input(ShapeRef min_shape, ShapeRef opt_shape, ShapeRef max_shape, DataType dtype, TensorFormat format)
    : Input(min_shape.vec(), opt_shape.vec(), max_shape.vec(), dtype, format) {}
Input::Input(ShapeRef min_shape, ShapeRef opt_shape, ShapeRef max_shape, DataType dtype, Domain tensor_domain,
             TensorFormat format)
    : Input(min_shape.vec(), opt_shape.vec(), max_shape.vec(), dtype, std::move(tensor_domain), format) {}

// Arguments are evaluated in any order, so each of them checks.
Input::Input(at::Tensor tensor)
    : Input(checked(tensor).sizes(), DataType(checked(tensor).scalar_type()), layoutOf(checked(tensor))) {
  sample = std::move(tensor);
}

Input Input::ofProfiles(const std::vector<Profile>& profiles, DataType dtype, TensorFormat format) {
  if (profiles.empty()) {
    rejectInput("an input has no profile", "give at least one range of shapes: minimum, optimum and maximum");
  }
  Profile around = profiles.front();
  for (const Profile& profile : profiles) {
    const Input checked(profile.min, profile.opt, profile.max, dtype, format);
    if (checked.shape.size() != around.min.size()) {
      rejectInput(
          c10::str("the profiles of an input have ", around.min.size(), " and ", checked.shape.size(), " dimensions"),
          "give shapes of one rank");
    }
    for (size_t i = 0; i < checked.shape.size(); ++i) {
      around.min[i] = std::min(around.min[i], profile.min[i]);
      around.max[i] = std::max(around.max[i], profile.max[i]);
    }
  }
  return {around.min, around.opt, around.max, dtype, format};
}

std::ostream& operator<<(std::ostream& out, const Input& input) {
  out << "Input(";
  if (input.isDynamic()) {
    out << "min: " << ShapeRef(input.min_shape) << ", opt: " << ShapeRef(input.opt_shape)
        << ", max: " << ShapeRef(input.max_shape);
  } else {
    out << "shape: " << ShapeRef(input.shape);
  }
  return out << ", dtype: " << input.dtype << ", format: " << input.format << ")";
}

namespace {

void flatten(const torch::jit::IValue& value, std::vector<Input>& inputs) {
  if (value.isTuple()) {
    for (const torch::jit::IValue& element : value.toTupleRef().elements()) {
      flatten(element, inputs);
    }
  } else if (value.isList()) {
    for (const torch::jit::IValue& element : value.toListRef()) {
      flatten(element, inputs);
    }
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) {
      flatten(entry.value(), inputs);
    }
  } else if (value.isTensor()) {
    inputs.emplace_back(value.toTensor());
  } else if (value.isCustomClass()) {
    inputs.push_back(*value.toCustomClass<Input>());
  } else if (!value.isNone() && !value.isScalar() && !value.isString()) {
    rejectInput("an input signature holds a " + value.tagKind(),
                "use Input and Tensor, numbers, texts and None, and tuples, lists and dictionaries of them");
  }
}

}  // namespace

GraphInputs::GraphInputs(torch::jit::IValue input_signature) : input_signature(std::move(input_signature)) {
  flatten(this->input_signature, inputs);
}

namespace ts {

namespace {

template <typename Shapes>
std::vector<Input> inputsOf(const Shapes& shapes) {
  return {shapes.begin(), shapes.end()};
}

}  // namespace

CompileSpec::CompileSpec(std::vector<Shape> fixed_sizes) : graph_inputs(inputsOf(fixed_sizes)) {}
CompileSpec::CompileSpec(std::vector<ShapeRef> fixed_sizes) : graph_inputs(inputsOf(fixed_sizes)) {}
CompileSpec::CompileSpec(std::vector<Input> inputs) : graph_inputs(std::move(inputs)) {}
CompileSpec::CompileSpec(torch::jit::IValue input_signature) : graph_inputs(std::move(input_signature)) {}

}  // namespace ts
}  // namespace torchtrt
