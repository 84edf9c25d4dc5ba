// Plugins whose results are as long as the data say. The last output is the number.
#include <memory>
#include <utility>

#include "cuda/launch/kernel.h"
#include "cuda/launch/layout.h"
#include "cuda/launch/plugin.h"
#include "cuda/launch/types.h"
#include "cuda/plugins/plugins.h"
#include "cuda/sorting/sort.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;

// Elements to count, and launches that find their places.
class Counting {
 public:
  // Counts over input `input`; takes the first of equal ones if `is_sorted`.
  Counting(const Layer& layer, const ShapeSet& shapes, size_t input, bool is_sorted, bool is_consecutive = false)
      : launches_(std::make_unique<Launches>(layer.device)), input_(input), total_(shapes.outputs.size() - 1) {
    const TensorDesc& in = shapes.inputs.at(input);
    layout_ = collapsed(in.dims, {in.strides});
    source_.define("STORED", storedType(in.dtype)).define("RANK", layout_.rank());
    source_.define("IS_SORTED", int64_t{is_sorted}).define("IS_CONSECUTIVE", int64_t{is_consecutive});
    source_.define("THREADS", kThreads).define("SIZE", kSize);
    source_.include("text/storage.cuh").include("text/reduction.cuh").include("text/scan.cuh");
    source_.include("sorting/items.cuh").include("plugins/counted.cuh").include("plugins/places.cuh");
  }

  int64_t count() const {
    return layout_.count();
  }
  const Source& source() const {
    return source_;
  }
  Launches& launches() {
    return *launches_;
  }
  void addTensor(Arguments& arguments) const {
    addWalk(arguments, layout_.dims, layout_.strides[0]);
    arguments.input(input_);
  }
  void addTotal(Arguments& arguments) const {
    arguments.output(total_);
  }

  // The scratch memory of the places; `items` is that of items, below 0 for none.
  int64_t addPlaces(int64_t items = -1) {
    const int64_t chunks = (count() + kSize - 1) / kSize;
    const int64_t starts = launches_->reserve(static_cast<size_t>(chunks) * sizeof(int64_t));
    const int64_t places = launches_->reserve(static_cast<size_t>(count()) * sizeof(int64_t));
    const auto addElements = [&](Arguments& arguments) {
      arguments.value(count()).value(chunks);
      addTensor(arguments);
      items < 0 ? arguments.absent() : arguments.scratch(items);
      arguments.scratch(starts);
    };
    Arguments find, begin, write;
    addElements(find);
    launches_->add(source_, "places_count", blocksFor(chunks, kThreads), std::move(find));
    begin.value(chunks).scratch(starts);
    addTotal(begin);
    launches_->add(source_, "places_starts", blocksFor(1, kThreads), std::move(begin));
    addElements(write);
    write.scratch(places);
    launches_->add(source_, "places_write", blocksFor(chunks, kThreads), std::move(write));
    return places;
  }

  std::unique_ptr<kernels::Prepared> build() {
    return std::move(launches_);
  }

 private:
  static constexpr int64_t kThreads = 256;
  static constexpr int64_t kSize = 4096;

  std::unique_ptr<Launches> launches_;
  size_t input_, total_;
  Layout layout_;
  Source source_;
};

std::unique_ptr<kernels::Prepared> prepareNonZero(const Layer& layer, const ShapeSet& shapes) {
  checkPluginShapes(layer.attributes, shapes);
  const bool by_axis = layer.attributes.getBool("by_axis");
  const Ints& dims = shapes.inputs.at(0).dims;
  Counting counting(layer, shapes, 0, false);
  const int64_t places = counting.addPlaces();
  int64_t behind = 1;
  for (size_t axis = dims.size(); axis-- > 0;) {
    const TensorDesc& out = shapes.outputs.at(by_axis ? axis : 0);
    Arguments arguments;
    arguments.value(counting.count());
    counting.addTotal(arguments);
    arguments.value(behind).value(dims[axis]).scratch(places).value(out.strides.at(0));
    const int64_t column = by_axis ? 0 : static_cast<int64_t>(axis) * out.strides.at(1);
    arguments.output(by_axis ? axis : 0, column * static_cast<int64_t>(sizeof(int64_t)));
    counting.launches().add(counting.source(), "nonzero_axis", geometryFor(counting.count()), std::move(arguments));
    behind *= dims[axis];
  }
  return counting.build();
}

std::unique_ptr<kernels::Prepared> prepareMaskedRows(const Layer& layer, const ShapeSet& shapes) {
  checkPluginShapes(layer.attributes, shapes);
  const TensorDesc& in = shapes.inputs.at(0);
  const TensorDesc& out = shapes.outputs.at(0);
  Counting counting(layer, shapes, 1, false);
  const int64_t places = counting.addPlaces();
  const auto ofRow = [](const Ints& all) { return Ints(all.begin() + 1, all.end()); };
  const Layout row = collapsed(ofRow(in.dims), {ofRow(in.strides), ofRow(out.strides)});
  Source source;
  source.define("E", bitsType(in.dtype)).define("ROW", row.rank());
  source.include("text/storage.cuh").include("plugins/rows.cuh");
  Arguments arguments;
  arguments.value(row.count());
  counting.addTotal(arguments);
  arguments.scratch(places);
  addWalk(arguments, row.dims, row.strides[0]);
  arguments.value(in.strides[0]).input(0);
  addStrides(arguments, row.strides[1]);
  arguments.value(out.strides[0]).output(0);
  counting.launches().add(source, "masked_rows", geometryFor(countOf(in.dims)), std::move(arguments));
  return counting.build();
}

std::unique_ptr<kernels::Prepared> prepareUnique(const Layer& layer, const ShapeSet& shapes) {
  checkPluginShapes(layer.attributes, shapes);
  const bool is_consecutive = layer.attributes.getBool("consecutive");
  Counting counting(layer, shapes, 0, true, is_consecutive);
  const int64_t count = counting.count();
  const int64_t padded = paddedLength(count);
  const int64_t items = counting.launches().reserve(static_cast<size_t>(padded * kItemBytes));
  const auto add = [&](const char* name, int64_t threads, Arguments arguments) {
    counting.launches().add(counting.source(), name, geometryFor(threads), std::move(arguments));
  };
  Arguments fill, groups, inverse;
  fill.value(count).value(padded);
  counting.addTensor(fill);
  fill.scratch(items);
  add("unique_items", padded, std::move(fill));
  if (!is_consecutive) {
    addSort(counting.launches(), 1, padded, items);
  }
  const int64_t places = counting.addPlaces(items);
  groups.value(count);
  counting.addTotal(groups);
  counting.addTensor(groups);
  groups.scratch(items).scratch(places).value(shapes.outputs[0].strides.at(0)).output(0);
  groups.value(shapes.outputs[2].strides.at(0)).output(2);
  add("unique_groups", count, std::move(groups));
  inverse.value(count);
  counting.addTotal(inverse);
  inverse.scratch(items).scratch(places).value(shapes.outputs[1].strides.at(0)).output(1);
  add("unique_inverse", count, std::move(inverse));
  return counting.build();
}

kernels::CreateResult createPlugin(const kernels::Problem& problem, const char* type, Prepare prepare) {
  if (std::optional<Refusal> refusal = refuseOtherPlugin(problem, "torchtrt", type)) {
    return *refusal;
  }
  return launched(problem, std::move(prepare));
}

}  // namespace

kernels::CreateResult createNonZero(const kernels::Problem& problem) {
  return createPlugin(problem, "NonZero", prepareNonZero);
}

kernels::CreateResult createMaskedRows(const kernels::Problem& problem) {
  return createPlugin(problem, "MaskedRows", prepareMaskedRows);
}

kernels::CreateResult createUnique(const kernels::Problem& problem) {
  return createPlugin(problem, "Unique", prepareUnique);
}

}  // namespace torchtrt::cuda
