#include "cpu/plugin/plugin.h"

#include <new>
#include <optional>

#include "base/align.h"
#include "cpu/loops/strided_loop.h"
#include "cpu/movement/copy_loop.h"
#include "torchtrt/plugin.h"

namespace torchtrt::kernels {
namespace {

using plugin::InputView;
using plugin::OutputView;
using plugin::Plugin;

// Runs code of the plugin; whatever it throws that is no error of ours becomes one that names it. A lack of memory is
// the call's.
template <typename Call>
auto guarded(const std::string& name, Call&& call) {
  try {
    return call();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw EngineError(ErrorCode::kPlugin, "plugin " + name + " failed: " + error.what(), {},
                      "the fault is in the plugin or in the data it was given");
  }
}

std::string describe(DType dtype, const Dims& dims) {
  return std::string(toString(dtype)) + " " + dims.toString();
}

// Throws where operands do not fit each other or the plugin's fields, or outputs are not those that it would write:
// plans are checked byte by byte, but what their plugins' fields mean is known here alone.
void checkShapes(const Plugin& plugin, const std::string& name, const ShapeSet& shapes) {
  std::vector<TensorType> inputs;
  for (const TensorDesc& input : shapes.inputs) {
    inputs.push_back({input.dtype, Dims::of(input.dims)});
  }
  const std::vector<TensorType> outputs = guarded(name, [&] { return plugin.inferOutputs(inputs); });
  const auto expect = [&](const std::string& expected, const std::string& got) {
    if (expected != got) {
      throw EngineError(ErrorCode::kPlugin, "plugin " + name + ": expected " + expected + ", got " + got, {},
                        "the plan is damaged, or made with another version of the plugin: compile the module again");
    }
  };
  expect(std::to_string(outputs.size()) + " outputs", std::to_string(shapes.outputs.size()) + " outputs");
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string output = "output " + std::to_string(i) + " of ";
    expect(output + describe(outputs[i].dtype, outputs[i].dims),
           output + describe(shapes.outputs[i].dtype, Dims::of(shapes.outputs[i].dims)));
  }
}

// An output that the plan does not want row-major is computed in scratch memory and copied.
struct Output {
  TensorDesc desc;
  std::vector<int64_t> dense_strides;
  std::optional<CopyLoop> copy;
  size_t scratch_offset = 0;
};

class PluginPrepared final : public Prepared {
 public:
  PluginPrepared(std::shared_ptr<const Plugin> plugin, std::string name, const ShapeSet& shapes)
      : plugin_(std::move(plugin)), name_(std::move(name)), inputs_(shapes.inputs) {
    checkShapes(*plugin_, name_, shapes);
    const std::vector<InputView> views = inputViews(nullptr);
    scratch_bytes_ = guarded(name_, [&] { return alignUp(plugin_->scratchBytes(views)); });
    for (const TensorDesc& desc : shapes.outputs) {
      Output output{desc, denseStrides(desc.dims), std::nullopt, 0};
      if (desc.strides != output.dense_strides) {
        output.copy.emplace(desc.dtype, desc.dims, desc.strides, output.dense_strides);
        output.scratch_offset = scratch_bytes_;
        scratch_bytes_ += alignUp(static_cast<size_t>(countOf(desc.dims)) * sizeOf(desc.dtype));
      }
      outputs_.push_back(std::move(output));
    }
  }

  size_t scratchBytes() const override {
    return scratch_bytes_;
  }

  void run(const RunArgs& args) const override {
    const std::vector<InputView> inputs = inputViews(args.inputs);
    std::vector<OutputView> outputs;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      outputs.push_back({outputs_[i].desc.dtype, outputs_[i].desc.dims, outputs_[i].dense_strides, target(args, i)});
    }
    guarded(name_, [&] { plugin_->enqueue(inputs, outputs, args.scratch, args.threads); });
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (outputs_[i].copy) {
        outputs_[i].copy->run(args.threads, target(args, i), args.outputs[i]);
      }
    }
  }

 private:
  std::vector<InputView> inputViews(const void* const* data) const {
    std::vector<InputView> views;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      views.push_back({inputs_[i].dtype, inputs_[i].dims, inputs_[i].strides, data == nullptr ? nullptr : data[i]});
    }
    return views;
  }

  void* target(const RunArgs& args, size_t i) const {
    return outputs_[i].copy ? static_cast<std::byte*>(args.scratch) + outputs_[i].scratch_offset : args.outputs[i];
  }

  std::shared_ptr<const Plugin> plugin_;
  std::string name_;
  std::vector<TensorDesc> inputs_;
  std::vector<Output> outputs_;
  size_t scratch_bytes_ = 0;
};

class PluginKernel final : public Kernel {
 public:
  PluginKernel(std::shared_ptr<const Plugin> plugin, std::string name)
      : plugin_(std::move(plugin)), name_(std::move(name)) {}

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    return std::make_unique<PluginPrepared>(plugin_, name_, shapes);
  }
  bool acceptsStrides(int, const TensorDesc&) const override {
    return true;
  }

 private:
  std::shared_ptr<const Plugin> plugin_;
  std::string name_;
};

}  // namespace

CreateResult createPluginReference(const Problem& problem) {
  const std::string name =
      problem.attributes->getString("namespace", "") + "::" + problem.attributes->getString("type");
  std::shared_ptr<const Plugin> plugin = plugin::PluginRegistry::global().create(*problem.attributes);
  std::vector<DType> dtypes;
  for (const Operand& input : problem.inputs) {
    if (!input.present) {
      throw EngineError(ErrorCode::kPlugin, "plugin " + name + ": an operand is missing", {},
                        "the plan is damaged: compile the module again, or copy the file again");
    }
    dtypes.push_back(input.dtype);
  }
  if (!guarded(name, [&] { return plugin->supports(dtypes); })) {
    std::string text;
    for (const DType dtype : dtypes) {
      text += std::string(text.empty() ? "" : ", ") + toString(dtype);
    }
    throw EngineError(ErrorCode::kPlugin, "plugin " + name + " does not take inputs of " + text, {},
                      "cast the inputs to a dtype that the plugin supports");
  }
  return std::make_unique<PluginKernel>(std::move(plugin), name);
}

}  // namespace torchtrt::kernels
