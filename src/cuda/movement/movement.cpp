#include "cuda/movement/movement.h"

#include <functional>
#include <string>

#include "cuda/launch/copy.h"
#include "cuda/launch/kernel.h"
#include "cuda/launch/layout.h"
#include "cuda/launch/types.h"

namespace torchtrt::cuda {

namespace {

using kernels::CreateResult;
using kernels::Problem;
using kernels::ShapeSet;
using kernels::TensorDesc;

CreateResult createMove(const Problem& problem, std::function<Part(const Layer&, const ShapeSet&)> from,
                        std::function<Part(const Layer&, const ShapeSet&)> to) {
  return launched(problem, [from = std::move(from), to = std::move(to)](const Layer& layer, const ShapeSet& shapes) {
    auto launches = std::make_unique<Launches>(layer.device);
    addCopy(*launches, shapes.outputs.at(0).dtype, 0, from(layer, shapes), to(layer, shapes));
    return launches;
  });
}

Part output(const Layer&, const ShapeSet& shapes) {
  return wholeOf(shapes.outputs.at(0));
}

Part permuted(const Part& part, const Ints& permutation) {
  if (permutation.empty()) {
    return part;
  }
  Part result{{}, {}, part.offset};
  for (const int64_t axis : permutation) {
    result.dims.push_back(part.dims.at(static_cast<size_t>(axis)));
    result.strides.push_back(part.strides.at(static_cast<size_t>(axis)));
  }
  return result;
}

Ints inverted(const Ints& permutation) {
  Ints inverse(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) {
    inverse.at(static_cast<size_t>(permutation[i])) = static_cast<int64_t>(i);
  }
  return inverse;
}

}  // namespace

CreateResult createCopy(const Problem& problem) {
  return createMove(
      problem, [](const Layer&, const ShapeSet& shapes) { return wholeOf(shapes.inputs.at(0)); }, output);
}

CreateResult createExpand(const Problem& problem) {
  return createMove(
      problem,
      [](const Layer&, const ShapeSet& shapes) {
        const Ints& dims = shapes.outputs.at(0).dims;
        return Part{dims, broadcastStrides(shapes.inputs.at(0), dims), 0};
      },
      output);
}

// Reshaping keeps the row-major order: the input behind its permutation and the output in front of its own have it.
CreateResult createShuffle(const Problem& problem) {
  return createMove(
      problem,
      [](const Layer& layer, const ShapeSet& shapes) {
        return permuted(wholeOf(shapes.inputs.at(0)), layer.attributes.getInts("first_permutation", {}));
      },
      [](const Layer& layer, const ShapeSet& shapes) {
        return permuted(wholeOf(shapes.outputs.at(0)), inverted(layer.attributes.getInts("second_permutation", {})));
      });
}

CreateResult createSlice(const Problem& problem) {
  return createMove(
      problem,
      [](const Layer& layer, const ShapeSet& shapes) {
        const Ints& start = shapes.dimsOf("start");
        const Ints& step = layer.attributes.getInts("stride");
        Part part{shapes.outputs.at(0).dims, {}, 0};
        for (size_t axis = 0; axis < start.size(); ++axis) {
          const int64_t stride = shapes.inputs.at(0).strides[axis];
          part.strides.push_back(stride * step[axis]);
          part.offset += start[axis] * stride;
        }
        return part;
      },
      output);
}

CreateResult createConcatenation(const Problem& problem) {
  return launched(problem, [](const Layer& layer, const ShapeSet& shapes) {
    const auto axis = static_cast<size_t>(layer.attributes.getInt("axis"));
    const TensorDesc& out = shapes.outputs.at(0);
    auto launches = std::make_unique<Launches>(layer.device);
    int64_t begin = 0;
    for (size_t i = 0; i < shapes.inputs.size(); ++i) {
      const TensorDesc& in = shapes.inputs[i];
      addCopy(*launches, out.dtype, i, wholeOf(in), {in.dims, out.strides, begin * out.strides[axis]});
      begin += in.dims[axis];
    }
    return launches;
  });
}

CreateResult createGather(const Problem& problem) {
  const DType index_type = problem.inputs.at(1).dtype;
  return launched(problem, [index_type](const Layer& layer, const ShapeSet& shapes) {
    const TensorDesc& data = shapes.inputs.at(0);
    const TensorDesc& indices = shapes.inputs.at(1);
    const TensorDesc& out = shapes.outputs.at(0);
    const auto axis = static_cast<size_t>(layer.attributes.getInt("axis"));
    const bool is_element = layer.attributes.getString("mode", "default") == "element";
    // Over the dims of the output: where the rest of the data's place, and the index, are found.
    Ints in_data =
        is_element ? data.strides : Ints(data.strides.begin(), data.strides.begin() + static_cast<int64_t>(axis));
    Ints in_indices = is_element ? indices.strides : Ints(axis, 0);
    if (is_element) {
      in_data[axis] = 0;
    } else {
      in_data.insert(in_data.end(), indices.dims.size(), 0);
      in_data.insert(in_data.end(), data.strides.begin() + static_cast<int64_t>(axis) + 1, data.strides.end());
      in_indices.insert(in_indices.end(), indices.strides.begin(), indices.strides.end());
      in_indices.resize(out.dims.size(), 0);
    }
    const Layout layout = collapsed(out.dims, {in_data, in_indices, out.strides});
    Source source;
    source.define("E", bitsType(out.dtype)).define("RANK", layout.rank()).define("INDEX", storedType(index_type));
    source.include("text/storage.cuh")
        .include("text/faults.cuh")
        .include("text/inputs.cuh")
        .include("movement/gather.cuh");
    Arguments arguments;
    arguments.value(layout.count());
    addWalk(arguments, layout.dims, layout.strides[0]);
    arguments.input(0).value(data.dims.at(axis)).value(data.strides.at(axis));
    addWalk(arguments, layout.dims, layout.strides[1]);
    arguments.input(1);
    addWalk(arguments, layout.dims, layout.strides[2]);
    const int negative = layer.attributes.getBool("negative", true) ? 1 : 0;
    arguments.output(0).value(negative).fault();
    auto launches = std::make_unique<Launches>(layer.device);
    if (countOf(data.dims) == 0 && layout.count() != 0) {
      throw EngineError(ErrorCode::kIndexOutOfRange, "gather reads from a tensor without elements", {},
                        "check the indices");
    }
    launches->add(source, "gather", geometryFor(layout.count()), std::move(arguments));
    return launches;
  });
}

}  // namespace torchtrt::cuda
