#include <algorithm>
#include <string>

#include "cuda/launch/kernel.h"
#include "cuda/launch/layout.h"
#include "cuda/launch/types.h"
#include "cuda/reduction/rows.h"
#include "cuda/sorting/sort.h"
#include "cuda/sorting/sorting.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;

// One topk layer on its way to launches.
class TopK {
 public:
  TopK(const Layer& layer, const ShapeSet& shapes) : launches_(std::make_unique<Launches>(layer.device)) {
    const TensorDesc& in = shapes.inputs.at(0);
    const TensorDesc& values = shapes.outputs.at(0);
    const TensorDesc& indices = shapes.outputs.at(1);
    const Ints axis = {layer.attributes.getInt("axis")};
    const auto alongAxis = [&](const Ints& all, int64_t of_scalar) {
      return all.empty() ? of_scalar : cutAt(all, axis).inside.at(0);
    };
    size_ = alongAxis(in.dims, 1);
    k_ = alongAxis(values.dims, 1);
    if (k_ > size_) {
      throw EngineError(
          ErrorCode::kShapeArithmetic,
          "topk: k is " + std::to_string(k_) + ", but the axis has " + std::to_string(size_) + " elements", {},
          "ask for at most as many elements as there are");
    }
    rows_ = collapsed(
        cutAt(in.dims, axis).outside,
        {cutAt(in.strides, axis).outside, cutAt(values.strides, axis).outside, cutAt(indices.strides, axis).outside});
    in_step_ = alongAxis(in.strides, 0);
    for (const Ints& strides : rows_.strides) {
      const Ints walk = walkOf(rows_.dims, strides);
      argument_.insert(argument_.end(), walk.begin(), walk.end());
    }
    argument_.insert(argument_.end(),
                     {rows_.count(), size_, k_, in_step_, alongAxis(values.strides, 0), alongAxis(indices.strides, 0)});
    source_.define("STORED", storedType(in.dtype)).define("INDEX", storedType(indices.dtype));
    source_.define("LARGEST", int64_t{layer.attributes.getBool("largest", true)}).define("ROWS", rows_.rank());
    source_.include("text/storage.cuh").include("sorting/items.cuh").include("sorting/topk.cuh");
  }

  std::unique_ptr<kernels::Prepared> build() {
    if (rows_.count() != 0 && k_ != 0) {
      k_ == 1 ? addFirst() : 2 * k_ <= kMostTile ? addByTiles() : addSorted();
    }
    return std::move(launches_);
  }

 private:
  Arguments& addOf(Arguments& arguments) const {
    return arguments.bytes(argument_.data(), argument_.size() * sizeof(int64_t));
  }

  Source blocks(unsigned threads) const {
    Source source;
    source.define("THREADS", static_cast<int64_t>(threads)).define("TILE", 2 * static_cast<int64_t>(threads));
    source.append(source_);
    return source.include("text/reduction.cuh").include("sorting/sorting.cuh").include("sorting/topk_blocks.cuh");
  }

  void addFirst() {
    constexpr int64_t kShort = 32;
    constexpr int64_t kManyRows = 4096;
    Arguments arguments;
    addOf(arguments).input(0).output(0).output(1);
    if (size_ <= kShort || (in_step_ != 1 && rows_.count() >= kManyRows)) {
      launches_->add(source_, "topk_first", geometryFor(rows_.count()), std::move(arguments));
    } else {
      const unsigned threads = threadsOfRow(size_);
      launches_->add(blocks(threads), "topk_row", blocksFor(rows_.count(), threads), std::move(arguments));
    }
  }

  // Each launch leaves the first k of each tile, until a row is one tile.
  void addByTiles() {
    const int64_t tile = std::min(kMostTile, paddedLength(size_));
    const auto threads = static_cast<unsigned>(tile / 2);
    const Source source = blocks(threads);
    int64_t given = size_, from = -1;
    while (true) {
      const int64_t tiles = (given + tile - 1) / tile;
      const int64_t kept = tiles * k_;
      const int64_t to = launches_->reserve(static_cast<size_t>(rows_.count() * kept * kItemBytes));
      Arguments arguments;
      addOf(arguments).value(tiles).value(k_).value(given).input(0);
      from < 0 ? arguments.absent() : arguments.scratch(from);
      arguments.scratch(to);
      launches_->add(source, "topk_tiles", blocksFor(rows_.count() * tiles, threads), std::move(arguments));
      from = to;
      given = kept;
      if (tiles == 1) {
        break;
      }
    }
    addWrite(k_, from);
  }

  void addSorted() {
    const int64_t padded = paddedLength(size_);
    const int64_t items = launches_->reserve(static_cast<size_t>(rows_.count() * padded * kItemBytes));
    Arguments arguments;
    addOf(arguments).value(padded).input(0).scratch(items);
    launches_->add(source_, "topk_items", geometryFor(rows_.count() * padded), std::move(arguments));
    addSort(*launches_, rows_.count(), padded, items);
    addWrite(padded, items);
  }

  void addWrite(int64_t width, int64_t items) {
    Arguments arguments;
    addOf(arguments).value(width).input(0).scratch(items).output(0).output(1);
    launches_->add(source_, "topk_write", geometryFor(rows_.count() * k_), std::move(arguments));
  }

  std::unique_ptr<Launches> launches_;
  Layout rows_;
  int64_t size_ = 1, k_ = 1, in_step_ = 0;
  Ints argument_;  // TopK of topk.cuh
  Source source_;
};

}  // namespace

kernels::CreateResult createTopK(const kernels::Problem& problem) {
  return launched(problem, [](const Layer& layer, const ShapeSet& shapes) { return TopK(layer, shapes).build(); });
}

}  // namespace torchtrt::cuda
