#include "cpu/fourier/plugins.h"
#include "cpu/fourier/transform.h"
#include "cpu/plugin/built_in.h"

namespace torchtrt::kernels::fourier {
namespace {

using plugin::InputView;
using plugin::OutputView;

[[noreturn]] void fail(const std::string& problem) {
  throw EngineError(ErrorCode::kPlugin, "Fourier: " + problem);
}

Form formOf(const std::string& name) {
  const std::pair<const char*, Form> forms[] = {{"half", Form::kRealToHalf},
                                                {"full", Form::kRealToFull},
                                                {"complex", Form::kComplex},
                                                {"real", Form::kHalfToReal}};
  for (const auto& [known, form] : forms) {
    if (name == known) {
      return form;
    }
  }
  fail("expected form half, full, complex or real, got " + name);
}

int64_t lengthOf(const Attributes& fields) {
  const int64_t length = fields.getInt("length");
  if (length < 1 || length > kMostLength) {
    fail("expected a length from 1 to " + std::to_string(kMostLength) + ", got " + std::to_string(length));
  }
  return length;
}

int64_t product(std::span<const int64_t> dims) {
  int64_t result = 1;
  for (const int64_t dim : dims) {
    result *= dim;
  }
  return result;
}

// Returns the layout of a row-major tensor of these dims, transformed along the axis.
Layout layoutOf(std::span<const int64_t> dims, size_t axis) {
  const int64_t behind = product(dims.subspan(axis + 1));
  Layout layout;
  layout.count = dims[axis];
  layout.inner = behind == 1 ? std::max<int64_t>(1, product(dims.subspan(0, axis))) : behind;
  layout.outer_step = dims[axis] * behind;
  layout.lane_step = behind == 1 ? dims[axis] : 1;
  layout.step = behind;
  return layout;
}

class Fourier final : public plugin::Plugin {
 public:
  static constexpr const char* kType = "Fourier";
  static constexpr const char* kFields[] = {"form", "inverse", "length", "axis", "scale"};

  explicit Fourier(const Attributes& fields)
      : form_(formOf(fields.getString("form"))),
        inverse_(fields.getBool("inverse")),
        axis_(fields.getInt("axis")),
        scale_(fields.getDouble("scale")),
        transform_(form_, lengthOf(fields)) {
    if (axis_ < 0) {
      fail("expected an axis that is not negative, got " + std::to_string(axis_));
    }
  }

  int outputCount() const override {
    return form_ == Form::kHalfToReal ? 1 : 2;
  }

  bool supports(std::span<const DType> inputs) const override {
    return (inputs.size() == 1 || (inputs.size() == 2 && !takesReal())) && areFloating(inputs);
  }

  std::vector<TensorType> inferOutputs(std::span<const TensorType> inputs) const override {
    if (inputs.empty() || inputs.size() > (takesReal() ? 1U : 2U)) {
      fail("expected " + std::string(takesReal() ? "one operand" : "one or two operands"));
    }
    Dims dims = inputs[0].dims;
    if (axis_ >= dims.rank()) {
      fail("expected an operand with axis " + std::to_string(axis_) + ", got " + dims.toString());
    }
    if (inputs.size() == 2) {
      checkParts(dims, inputs[1].dims);
    }
    dims[static_cast<int>(axis_)] = form_ == Form::kRealToHalf ? transform_.sums() : transform_.length();
    return std::vector<TensorType>(static_cast<size_t>(outputCount()), TensorType{inputs[0].dtype, dims});
  }

  size_t scratchBytes(std::span<const InputView> inputs) const override {
    return denseBytes(inputs);
  }

  void enqueue(std::span<const InputView> inputs, std::span<const OutputView> outputs, void* scratch,
               int threads) const override {
    visitFloating(inputs[0].dtype, [&](auto type) {
      using T = decltype(type);
      auto* free = static_cast<std::byte*>(scratch);
      const std::vector<const T*> parts = denseOperands<T>(inputs, free, threads);
      const auto axis = static_cast<size_t>(axis_);
      Task<T> task = transform_.task<T>(scale_);
      task.inverse = inverse_;
      task.in_re = parts[0];
      task.in_im = parts.size() == 2 ? parts[1] : nullptr;
      task.in = layoutOf(inputs[0].dims, axis);
      task.out_re = static_cast<T*>(outputs[0].data);
      task.out_im = outputs.size() == 2 ? static_cast<T*>(outputs[1].data) : nullptr;
      task.out = layoutOf(outputs[0].dims, axis);
      runAll(task, product(outputs[0].dims) / outputs[0].dims[axis], threads);
    });
  }

 private:
  bool takesReal() const {
    return form_ == Form::kRealToHalf || form_ == Form::kRealToFull;
  }

  static void checkParts(const Dims& re, const Dims& im) {
    bool fits = re.rank() == im.rank();
    for (int i = 0; fits && i < re.rank(); ++i) {
      fits = !re[i].isConstant() || !im[i].isConstant() || re[i] == im[i];
    }
    if (!fits) {
      fail("expected parts of one shape, got " + re.toString() + " and " + im.toString());
    }
  }

  Form form_;
  bool inverse_;
  int64_t axis_;
  double scale_;
  Transform transform_;
};

}  // namespace

std::shared_ptr<const plugin::PluginCreator> createFourierCreator() {
  return std::make_shared<BuiltInCreator<Fourier>>();
}

}  // namespace torchtrt::kernels::fourier
