#include "cpu/plugin/plugin.h"

#include <optional>

#include "base/align.h"
#include "cpu/loops/strided_loop.h"
#include "cpu/movement/copy_loop.h"
#include "cpu/plugin/built_in.h"
#include "cpu/threads/thread_memory.h"
#include "kernels/plugin_problem.h"
#include "kernels/real_time.h"
#include "torchtrt/plugin.h"

namespace torchtrt::kernels {
namespace {

using plugin::InputView;
using plugin::OutputView;
using plugin::Plugin;

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
    checkPluginShapes(*plugin_, name_, shapes);
    const ThreadVector<InputView> views = inputViews(nullptr);
    scratch_bytes_ = guardPlugin(name_, [&] { return alignUp(plugin_->scratchBytes(views)); });
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
    const ThreadVector<InputView> inputs = inputViews(args.inputs);
    ThreadVector<OutputView> outputs;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      outputs.push_back({outputs_[i].desc.dtype, outputs_[i].desc.dims, outputs_[i].dense_strides, target(args, i)});
    }
    guardPlugin(name_, [&] { plugin_->enqueue(inputs, outputs, args.scratch, args.threads); });
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (outputs_[i].copy) {
        outputs_[i].copy->run(args.threads, target(args, i), args.outputs[i]);
      }
    }
  }

 private:
  ThreadVector<InputView> inputViews(const void* const* data) const {
    ThreadVector<InputView> views;
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

class PluginKernel final : public Kernel, public MayAllocate {
 public:
  PluginKernel(std::shared_ptr<const Plugin> plugin, std::string name)
      : plugin_(std::move(plugin)), name_(std::move(name)) {}

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    return std::make_unique<PluginPrepared>(plugin_, name_, shapes);
  }
  bool acceptsStrides(int, const TensorDesc&) const override {
    return true;
  }
  bool mayAllocate() const override {
    return dynamic_cast<const RunsInRealTime*>(plugin_.get()) == nullptr;
  }

 private:
  std::shared_ptr<const Plugin> plugin_;
  std::string name_;
};

}  // namespace

CreateResult createPluginReference(const Problem& problem) {
  const std::string name = pluginName(*problem.attributes);
  std::shared_ptr<const Plugin> plugin = plugin::PluginRegistry::global().create(*problem.attributes);
  std::vector<DType> dtypes;
  for (const Operand& input : problem.inputs) {
    if (!input.present) {
      throw EngineError(ErrorCode::kPlugin, "plugin " + name + ": an operand is missing", {},
                        "the plan is damaged: compile the module again, or copy the file again");
    }
    dtypes.push_back(input.dtype);
  }
  if (!guardPlugin(name, [&] { return plugin->supports(dtypes); })) {
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
