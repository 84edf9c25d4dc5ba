#include "cuda/fourier/fourier.h"

#include <algorithm>
#include <mutex>
#include <string>

#include "cuda/fourier/transform.h"
#include "cuda/launch/plugin.h"
#include "cuda/launch/types.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;
using Prepared = std::unique_ptr<kernels::Prepared>;
using PreparePlugin = Prepared (*)(const Layer& layer, const FourierPlan& plan, const ShapeSet& shapes);

// Tables of long transforms take a while, so they are made at the first run and not with the kernel.
struct LazyPlan {
  std::once_flag once;
  std::unique_ptr<FourierPlan> made;
};

kernels::CreateResult create(const kernels::Problem& problem, const char* type, PreparePlugin prepare) {
  if (std::optional<Refusal> refusal = refuseOtherPlugin(problem, "torchtrt", type)) {
    return *refusal;
  }
  const auto plan = std::make_shared<LazyPlan>();
  return launched(problem, [plan, prepare](const Layer& layer, const ShapeSet& shapes) {
    checkPluginShapes(layer.attributes, shapes);
    std::call_once(plan->once, [&] {
      plan->made = std::make_unique<FourierPlan>(shapes.inputs.at(0).dtype, layer.attributes.getInt("length"));
    });
    return prepare(layer, *plan->made, shapes);
  });
}

Place output(const ShapeSet& shapes, size_t index) {
  return index < shapes.outputs.size() ? Place{Place::Kind::kOutput, index} : Place{};
}

FourierForm formOf(const std::string& name) {
  return name == "half"   ? FourierForm::kHalf
         : name == "full" ? FourierForm::kFull
         : name == "real" ? FourierForm::kReal
                          : FourierForm::kComplex;
}

Ints without(Ints values, size_t axis) {
  values.erase(values.begin() + static_cast<std::ptrdiff_t>(axis));
  return values;
}

// Tensors along an axis; the second one, of imaginary parts, may be missing.
FourierSide sideOf(const std::vector<TensorDesc>& descs, size_t axis, Place re, Place im) {
  const TensorDesc& first = descs.at(0);
  const TensorDesc& second = descs.size() > 1 ? descs[1] : first;
  return {first.dims.at(axis),
          re,
          im,
          without(first.strides, axis),
          without(second.strides, axis),
          first.strides.at(axis),
          second.strides.at(axis)};
}

// Forward transforms along `axis` of the outputs. The caller says where the numbers come from.
FourierLines linesTo(const ShapeSet& shapes, size_t axis, FourierForm form, const Attributes& fields) {
  FourierLines lines = {};
  lines.form = form;
  lines.scale = fields.getDouble("scale");
  lines.dims = without(shapes.outputs.at(0).dims, axis);
  lines.out = sideOf(shapes.outputs, axis, output(shapes, 0), output(shapes, 1));
  return lines;
}

Prepared transformed(const Layer& layer, const FourierPlan& plan, const FourierLines& lines) {
  auto launches = std::make_unique<Launches>(layer.device);
  addFourier(*launches, layer.device, plan, lines);
  return launches;
}

Prepared prepareFourier(const Layer& layer, const FourierPlan& plan, const ShapeSet& shapes) {
  const Attributes& fields = layer.attributes;
  const auto axis = static_cast<size_t>(fields.getInt("axis"));
  FourierLines lines = linesTo(shapes, axis, formOf(fields.getString("form")), fields);
  lines.inverse = fields.getBool("inverse") && lines.form == FourierForm::kComplex;
  lines.in = sideOf(shapes.inputs, axis, Place::input(layer, 0), Place::input(layer, 1));
  return transformed(layer, plan, lines);
}

// Frames [rows, frames] of a signal [rows, samples].
Prepared prepareShortTime(const Layer& layer, const FourierPlan& plan, const ShapeSet& shapes) {
  const Attributes& fields = layer.attributes;
  const TensorDesc& signal = shapes.inputs.at(0);
  constexpr size_t kSums = 1;  // axis of the outputs
  const FourierForm form = fields.getBool("one_sided") ? FourierForm::kHalf : FourierForm::kFull;
  FourierLines lines = linesTo(shapes, kSums, form, fields);
  const Ints frames = {signal.strides.at(0), signal.strides.at(1) * fields.getInt("hop")};
  lines.in = {plan.length(), Place::input(layer, 0), {}, frames, frames, signal.strides[1], 0};
  lines.window = Place::input(layer, 1);
  lines.window_step = shapes.inputs.at(1).strides.at(0);
  return transformed(layer, plan, lines);
}

Prepared prepareInverseShortTime(const Layer& layer, const FourierPlan& plan, const ShapeSet& shapes) {
  const Attributes& fields = layer.attributes;
  const TensorDesc& out = shapes.outputs.at(0);
  constexpr size_t kSums = 1;  // axis of the inputs
  const int64_t rows = shapes.inputs.at(0).dims.at(0), frames = shapes.inputs[0].dims.at(2), length = plan.length();
  const int64_t hop = fields.getInt("hop"), trim = fields.getInt("trim"), samples = out.dims.at(1);
  const int64_t there = std::min(samples, std::max<int64_t>(0, length + hop * (frames - 1) - trim));
  auto launches = std::make_unique<Launches>(layer.device);
  const Place pieces = Place::reserve(*launches, rows * frames * length, plan.dtype());
  const int64_t window_step = shapes.inputs.at(2).strides.at(0);
  FourierLines lines;
  lines.form = FourierForm::kReal;
  lines.inverse = true;
  lines.scale = fields.getDouble("scale");
  lines.dims = {rows, frames};
  lines.in = sideOf(shapes.inputs, kSums, Place::input(layer, 0), Place::input(layer, 1));
  lines.out = {length, pieces, {}, {frames * length, length}, {frames * length, length}, 1, 0};
  lines.window = Place::input(layer, 2);
  lines.window_step = window_step;
  addFourier(*launches, layer.device, plan, lines);
  Source source;
  source.define("STORED", storedType(plan.dtype()));
  source.include("text/storage.cuh").include("text/faults.cuh").include("fourier/overlap.cuh");
  Arguments arguments;
  arguments.value(rows * samples).value(samples).value(there).value(frames).value(length).value(hop).value(trim);
  pieces.addTo(arguments)
      .value(window_step)
      .input(2)
      .value(out.strides.at(0))
      .value(out.strides.at(1))
      .output(0)
      .fault();
  launches->add(source, "fourier_overlap", geometryFor(rows * samples), std::move(arguments));
  return launches;
}

}  // namespace

kernels::CreateResult createFourier(const kernels::Problem& problem) {
  return create(problem, "Fourier", prepareFourier);
}

kernels::CreateResult createShortTimeFourier(const kernels::Problem& problem) {
  return create(problem, "ShortTimeFourier", prepareShortTime);
}

kernels::CreateResult createInverseShortTimeFourier(const kernels::Problem& problem) {
  return create(problem, "InverseShortTimeFourier", prepareInverseShortTime);
}

}  // namespace torchtrt::cuda
