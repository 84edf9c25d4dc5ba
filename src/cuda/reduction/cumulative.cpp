#include <map>
#include <string>

#include "cuda/launch/kernel.h"
#include "cuda/launch/types.h"
#include "cuda/reduction/reduction.h"
#include "cuda/reduction/rows.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;

const char* foldOf(const std::string& op) {
  static const std::map<std::string, const char*> table = {
      {"sum", "Plus"}, {"prod", "Times"}, {"logsumexp", "LogSumExp"}, {"max", "Greatest"}, {"min", "Least"}};
  return table.at(op);
}

// A line's elements may be folded in groups. A group of a product of floating-point numbers may be infinite, and 0
// times that is no number.
bool mayBeGrouped(const std::string& op, DType dtype) {
  return op != "prod" || !isFloating(dtype);
}

std::unique_ptr<kernels::Prepared> prepareCumulative(const Layer& layer, const ShapeSet& shapes) {
  const TensorDesc& in = shapes.inputs.at(0);
  const std::string& op = layer.attributes.getString("op");
  const Ints axis = {layer.attributes.getInt("axis")};
  const auto alongAxis = [&](const Ints& all, int64_t of_scalar) {
    return all.empty() ? of_scalar : cutAt(all, axis).inside.at(0);
  };
  std::vector<TensorDesc> tensors = {in, shapes.outputs.at(0), shapes.outputs.back()};
  std::vector<Ints> strides, steps;
  for (const TensorDesc& tensor : tensors) {
    strides.push_back(cutAt(tensor.strides, axis).outside);
    steps.push_back({alongAxis(tensor.strides, 0)});
  }
  const Layout lines = collapsed(cutAt(in.dims, axis).outside, strides);
  const int64_t length = alongAxis(in.dims, 1);
  Ints argument;
  for (const Ints& each : lines.strides) {
    const Ints walk = walkOf(lines.dims, each);
    argument.insert(argument.end(), walk.begin(), walk.end());
  }
  argument.insert(argument.end(), {lines.count(), length, steps[0][0], steps[1][0], steps[2][0]});
  const auto addLines = [&](Arguments& to) -> Arguments& {
    return to.bytes(argument.data(), argument.size() * sizeof(int64_t));
  };
  const auto addOutputs = [&](Arguments& to) {
    to.output(0);
    shapes.outputs.size() > 1 ? to.output(1) : to.absent();
  };
  const bool is_floating = isFloating(in.dtype);
  Source source;
  source.define("STORED", storedType(in.dtype)).define("C", computedType(in.dtype)).define("FOLD", foldOf(op));
  source.define("SUM", is_floating ? "double" : "unsigned long long").define("LINES", lines.rank());
  source.include("text/storage.cuh").include("reduction/cumulative.cuh");
  auto launches = std::make_unique<Launches>(layer.device);
  constexpr int64_t kShort = 32;
  constexpr int64_t kManyLines = 4096;
  const bool are_many = lines.count() >= kManyLines && !layer.batch_invariant;
  if (length <= kShort || (steps[0][0] != 1 && are_many) || !mayBeGrouped(op, in.dtype)) {
    Arguments arguments;
    addLines(arguments).input(0);
    addOutputs(arguments);
    source.include("reduction/cumulative_lines.cuh");
    launches->add(source, "cumulative_lines", geometryFor(lines.count()), std::move(arguments));
    return launches;
  }
  const unsigned threads = threadsOfRow(length);
  const RowParts parts = partsOf(layer, lines.count(), length);
  source.define("THREADS", static_cast<int64_t>(threads))
      .include("text/scan.cuh")
      .include("reduction/cumulative_blocks.cuh");
  int64_t totals = -1;
  if (parts.count > 1) {
    constexpr size_t kState = 16;  // the greatest
    totals = launches->reserve(static_cast<size_t>(lines.count() * parts.count) * kState);
    Arguments arguments;
    addLines(arguments).value(parts).input(0).scratch(totals);
    launches->add(source, "cumulative_totals", blocksFor(lines.count() * parts.count, threads), std::move(arguments));
  }
  Arguments arguments;
  addLines(arguments).value(parts);
  totals < 0 ? arguments.absent() : arguments.scratch(totals);
  arguments.input(0);
  addOutputs(arguments);
  launches->add(source, "cumulative", blocksFor(lines.count() * parts.count, threads), std::move(arguments));
  return launches;
}

}  // namespace

kernels::CreateResult createCumulative(const kernels::Problem& problem) {
  return launched(problem, prepareCumulative);
}

}  // namespace torchtrt::cuda
