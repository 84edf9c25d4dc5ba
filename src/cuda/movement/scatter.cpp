#include <array>
#include <map>
#include <string>

#include "cuda/launch/copy.h"
#include "cuda/launch/kernel.h"
#include "cuda/launch/layout.h"
#include "cuda/launch/types.h"
#include "cuda/movement/movement.h"
#include "cuda/sorting/sort.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;

// Names of text/reduction.cuh and functions.cuh for a fold, and what it starts from.
struct Fold {
  const char* folded;
  const char* neutral;  // of floating-point numbers
  const char* neutral_integer;
};

const Fold& foldOf(const std::string& name) {
  static const std::map<std::string, Fold> table = {
      {"none", {"", "0", "0"}},
      {"sum", {"binary_sum", "0", "0"}},
      {"prod", {"binary_prod", "1", "1"}},
      {"max", {"binary_max", "-INFINITY", "LOWEST"}},
      {"min", {"binary_min", "INFINITY", "HIGHEST"}},
  };
  return table.at(name);
}

// The lowest and highest number that a dtype stores, which the type that it is computed in goes beyond.
std::pair<std::string, std::string> rangeOf(DType dtype) {
  if (dtype == DType::kUInt8 || dtype == DType::kBool) {
    return {"0", dtype == DType::kBool ? "1" : "255"};
  }
  const auto bits = static_cast<int>(8 * sizeOf(dtype));
  const std::string highest = std::to_string((uint64_t{1} << (bits - 1)) - 1) + "LL";
  return {"(-" + highest + " - 1)", highest};
}

// The members of Lines in scatter.cuh behind its walks.
struct LineNumbers {
  int64_t count, updates, index_step, update_step, out_step, size;
  int64_t negative;
};

Ints without(const Ints& all, size_t axis) {
  Ints result = all;
  result.erase(result.begin() + static_cast<int64_t>(axis));
  return result;
}

// One scatter on its way to launches.
class Scatter {
 public:
  Scatter(const Layer& layer, const ShapeSet& shapes)
      : layer_(layer),
        out_(shapes.outputs.at(0)),
        axis_(static_cast<size_t>(layer.attributes.getInt("axis"))),
        is_per_line_(layer.attributes.getString("mode", "default") == "element"),
        copies_(layer.attributes.getString("reduce", "none") == "none"),
        launches_(std::make_unique<Launches>(layer.device)) {
    const TensorDesc& indices = shapes.inputs.at(1);
    const TensorDesc& updates = shapes.inputs.at(2);
    const Ints dims = without(updates.dims, axis_);
    const Ints index_strides = is_per_line_ ? without(indices.strides, axis_) : Ints(dims.size(), 0);
    lines_ = collapsed(dims, {without(out_.strides, axis_), index_strides, without(updates.strides, axis_)});
    numbers_ = {lines_.count(),
                updates.dims.at(axis_),
                indices.strides.at(is_per_line_ ? axis_ : 0),
                updates.strides[axis_],
                out_.strides[axis_],
                out_.dims[axis_],
                int64_t{layer.attributes.getBool("negative", true)}};
    addCopy(*launches_, out_.dtype, 0, wholeOf(shapes.inputs.at(0)), wholeOf(out_));
    describe(indices.dtype);
  }

  std::unique_ptr<kernels::Prepared> build() {
    if (numbers_.count == 0 || numbers_.updates == 0) {
      return std::move(launches_);
    }
    if (numbers_.updates <= kFewUpdates || numbers_.count >= kManyLines) {
      addByLine();
    } else if (copies_) {
      addLast();
    } else {
      addSorted();
    }
    return std::move(launches_);
  }

 private:
  static constexpr int64_t kFewUpdates = 16;
  static constexpr int64_t kManyLines = int64_t{1} << 16;  // enough for all of a GPU

  void describe(DType index_type) {
    const Fold& fold = foldOf(layer_.attributes.getString("reduce", "none"));
    const auto [lowest, highest] =
        isFloating(out_.dtype) ? std::pair<std::string, std::string>("0", "0") : rangeOf(out_.dtype);
    source_.define("STORED", copies_ ? bitsType(out_.dtype) : storedType(out_.dtype));
    source_.define("C", computedType(out_.dtype)).define("INDEX", storedType(index_type));
    source_.define("OUTER", lines_.rank()).define("PER_LINE", int64_t{is_per_line_}).define("COPIES", int64_t{copies_});
    source_.define("STARTS_ANEW", int64_t{!copies_ && !layer_.attributes.getBool("include_self", true)});
    source_.define("LOWEST", lowest).define("HIGHEST", highest).define("FOLDED", fold.folded);
    source_.define("NEUTRAL", isFloating(out_.dtype) ? fold.neutral : fold.neutral_integer);
    source_.include("text/storage.cuh").include("text/functions.cuh").include("text/faults.cuh");
    source_.include("sorting/items.cuh").include("movement/scatter.cuh");
  }

  // The lines whose indices differ: all, or one for all.
  int64_t groups() const {
    return is_per_line_ ? numbers_.count : 1;
  }

  Arguments& addLines(Arguments& arguments) const {
    Ints values;
    for (const Ints& strides : lines_.strides) {
      const Ints walk = walkOf(lines_.dims, strides);
      values.insert(values.end(), walk.begin(), walk.end());
    }
    values.insert(values.end(), {numbers_.count, numbers_.updates, numbers_.index_step, numbers_.update_step,
                                 numbers_.out_step, numbers_.size, numbers_.negative});
    return arguments.bytes(values.data(), values.size() * sizeof(int64_t));
  }

  void addByLine() {
    Arguments arguments;
    addLines(arguments).input(1).input(2).output(0).fault();
    launches_->add(source_, "scatter_lines", geometryFor(numbers_.count), std::move(arguments));
  }

  void addLast() {
    const int64_t places = groups() * numbers_.size;
    const int64_t last = launches_->reserve(static_cast<size_t>(places) * sizeof(uint32_t));
    Arguments clear, find, write;
    clear.value(places).scratch(last);
    launches_->add(source_, "scatter_clear", geometryFor(places), std::move(clear));
    find.value(groups());
    addLines(find).input(1).scratch(last).fault();
    launches_->add(source_, "scatter_find", geometryFor(groups() * numbers_.updates), std::move(find));
    addLines(write).input(1).scratch(last).input(2).output(0).fault();
    launches_->add(source_, "scatter_last", geometryFor(numbers_.count * numbers_.updates), std::move(write));
  }

  void addSorted() {
    const int64_t count = groups() * numbers_.updates;
    const int64_t padded = paddedLength(count);
    const int64_t items = launches_->reserve(static_cast<size_t>(padded * kItemBytes));
    Arguments fill, fold;
    fill.value(groups()).value(padded);
    addLines(fill).input(1).scratch(items).fault();
    launches_->add(source_, "scatter_items", geometryFor(padded), std::move(fill));
    addSort(*launches_, 1, padded, items);
    fold.value(groups());
    addLines(fold).scratch(items).input(2).output(0);
    launches_->add(source_, "scatter_runs", geometryFor(numbers_.count * numbers_.updates), std::move(fold));
  }

  const Layer& layer_;
  const TensorDesc& out_;
  size_t axis_;
  bool is_per_line_, copies_;
  std::unique_ptr<Launches> launches_;
  Layout lines_;
  LineNumbers numbers_{};
  Source source_;
};

}  // namespace

kernels::CreateResult createScatter(const kernels::Problem& problem) {
  return launched(problem, [](const Layer& layer, const ShapeSet& shapes) { return Scatter(layer, shapes).build(); });
}

}  // namespace torchtrt::cuda
