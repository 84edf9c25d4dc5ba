#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "cpu/grid_sample/grid_sample.h"
#include "cpu/grid_sample/neighbours.h"
#include "cpu/loops/simple_kernel.h"
#include "cpu/storage/dense.h"

namespace torchtrt::kernels {
namespace {

using namespace grid_sample;

class GridSamplePrepared final : public Prepared {
 public:
  GridSamplePrepared(const GridConfig& config, const ShapeSet& shapes)
      : config_(config),
        in_(shapes.inputs.at(0)),
        grid_(shapes.inputs.at(1)),
        out_(shapes.outputs.at(0)),
        spatial_dims_(out_.dims.begin() + 2, out_.dims.end()),
        spatial_strides_(out_.strides.begin() + 2, out_.strides.end()) {
    const std::vector<int64_t>& in_dims = shapes.inputs[0].dims;
    spatial_ = in_dims.size() - 2;
    TORCHTRT_CHECK(spatial_ == 2 || spatial_ == 3, spatial_ << " spatial dimensions");
    std::copy(in_dims.begin() + 2, in_dims.end(), size_.end() - static_cast<std::ptrdiff_t>(spatial_));
    places_ = countOf(spatial_dims_);
    plane_ = size_[0] * size_[1] * size_[2];
    if (plane_ == 0 && countOf(out_.dims) != 0) {
      throw EngineError(ErrorCode::kShapeArithmetic, "grid_sample met an input without elements", {},
                        "pass a tensor whose spatial dimensions are at least 1");
    }
  }

  size_t scratchBytes() const override {
    return in_.scratchBytes() + grid_.scratchBytes();
  }

  void run(const RunArgs& args) const override {
    if (out_.dtype == DType::kFloat64) {
      runAs<double>(args);
    } else {
      runAs<float>(args);
    }
  }

 private:
  template <typename T>
  void runAs(const RunArgs& args) const {
    const T* in = in_.dense<T>(args.threads, args.inputs[0], args.scratch);
    const T* grid =
        grid_.dense<T>(args.threads, args.inputs[1], static_cast<std::byte*>(args.scratch) + in_.scratchBytes());
    const int64_t channels = out_.dims[1];
    parallelFor(args.threads, 0, out_.dims[0] * places_, grainFor(8 * channels), [&](int64_t begin, int64_t end) {
      for (int64_t index = begin; index < end; ++index) {
        sample(args, in + index / places_ * channels * plane_, grid + index * static_cast<int64_t>(spatial_), index);
      }
    });
  }

  // All channels of one output position.
  template <typename T>
  void sample(const RunArgs& args, const T* image, const T* place, int64_t index) const {
    std::array<Neighbours<T>, 3> near;
    near[0].weight[0] = T(1);
    for (size_t i = 0; i < spatial_; ++i) {
      const size_t slot = 2 - i;  // the grid lists the last axis first
      near[slot] = neighboursOf(Axis<T>{size_[slot], config_}, place[i]);
    }
    const Writer<T> writer(out_.dtype);
    const int64_t channels = out_.dims[1];
    const int64_t target =
        index / places_ * out_.strides[0] + offsetAt(index % places_, spatial_dims_, spatial_strides_, spatial_);
    std::array<T, kRun> values;
    for (int64_t start = 0; start < channels; start += kRun) {
      const int64_t n = std::min(kRun, channels - start);
      for (int64_t c = 0; c < n; ++c) {
        values[static_cast<size_t>(c)] = weighted(image + (start + c) * plane_, near);
      }
      writer.write(values.data(), n, args.outputs[0], target + start * out_.strides[1], out_.strides[1]);
    }
  }

  template <typename T>
  T weighted(const T* plane, const std::array<Neighbours<T>, 3>& near) const {
    T sum = 0;
    for (size_t z = 0; z < 4; ++z) {
      for (size_t y = 0; y < 4 && near[0].weight[z] != 0; ++y) {
        const int64_t line = (near[0].index[z] * size_[1] + near[1].index[y]) * size_[2];
        for (size_t x = 0; x < 4 && near[1].weight[y] != 0; ++x) {
          if (near[2].weight[x] != 0) {
            sum += plane[line + near[2].index[x]] * near[0].weight[z] * near[1].weight[y] * near[2].weight[x];
          }
        }
      }
    }
    return sum;
  }

  GridConfig config_;
  DenseOperand in_, grid_;
  TensorDesc out_;
  std::vector<int64_t> spatial_dims_, spatial_strides_;  // of the output
  size_t spatial_ = 2;
  std::array<int64_t, 3> size_ = {1, 1, 1};  // depth, height, width
  int64_t places_ = 0, plane_ = 0;
};

}  // namespace

CreateResult createGridSampleReference(const Problem& problem) {
  return makeKernel<GridSamplePrepared>(readGridConfig(*problem.attributes));
}

}  // namespace torchtrt::kernels
