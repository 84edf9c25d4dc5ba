#include <algorithm>
#include <array>
#include <limits>

#include "base/check.h"
#include "cpu/loops/accumulate.h"
#include "cpu/loops/simple_kernel.h"
#include "cpu/pooling/pooling.h"
#include "cpu/storage/dense.h"

namespace torchtrt::kernels {
namespace {

struct PoolingConfig {
  bool is_max = true;
  bool is_adaptive = false;
  std::vector<int64_t> window, stride, pre_padding, post_padding, dilation;  // empty when adaptive
  bool count_include_pad = true;
  int64_t divisor = 0;
};

// One window along one axis: input positions begin, begin + step, ... below end.
struct Window {
  int64_t begin, end, step;
  int64_t padded;  // its length with padding, for averages that count it
};

using Windows = std::vector<Window>;

Windows fixedWindows(const PoolingConfig& config, size_t axis, int64_t in, int64_t out) {
  Windows windows;
  const int64_t dilation = config.dilation[axis];
  const int64_t reach = (config.window[axis] - 1) * dilation + 1;
  for (int64_t i = 0; i < out; ++i) {
    const int64_t first = i * config.stride[axis] - config.pre_padding[axis];
    const int64_t skipped = first < 0 ? (-first + dilation - 1) / dilation : 0;
    const int64_t padded_end = std::min(first + reach, in + config.post_padding[axis]);
    windows.push_back({first + skipped * dilation, std::min(first + reach, in), dilation, padded_end - first});
  }
  return windows;
}

Windows adaptiveWindows(int64_t in, int64_t out) {
  Windows windows;
  for (int64_t i = 0; i < out; ++i) {
    const int64_t begin = i * in / out;
    const int64_t end = ((i + 1) * in + out - 1) / out;
    windows.push_back({begin, end, 1, end - begin});
  }
  return windows;
}

int64_t inside(const Window& window) {
  return std::max<int64_t>(window.end - window.begin, 0);
}

class PoolingPrepared final : public Prepared {
 public:
  PoolingPrepared(const PoolingConfig& config, const ShapeSet& shapes)
      : config_(config),
        in_(shapes.inputs.at(0)),
        out_(shapes.outputs.at(0)),
        indices_(shapes.outputs.size() > 1 ? shapes.outputs[1] : TensorDesc{}),
        has_indices_(shapes.outputs.size() > 1) {
    const size_t spatial = config.is_adaptive ? shapes.dimsOf("output_size").size() : config.window.size();
    TORCHTRT_CHECK(spatial >= 1 && spatial <= 3 && spatial <= out_.dims.size(), spatial << " spatial dimensions");
    lead_ = out_.dims.size() - spatial;
    planes_ = countOf({out_.dims.begin(), out_.dims.begin() + static_cast<std::ptrdiff_t>(lead_)});
    for (size_t axis = 0; axis < spatial; ++axis) {
      const size_t slot = 3 - spatial + axis;
      const int64_t in = shapes.inputs[0].dims.at(lead_ + axis);
      const int64_t out = out_.dims[lead_ + axis];
      in_size_[slot] = in;
      windows_[slot] = config.is_adaptive ? adaptiveWindows(in, out) : fixedWindows(config, axis, in, out);
      strides_[slot] = out_.strides[lead_ + axis];
      indices_strides_[slot] = has_indices_ ? indices_.strides[lead_ + axis] : 0;
    }
  }

  size_t scratchBytes() const override {
    return in_.scratchBytes();
  }

  void run(const RunArgs& args) const override {
    visitComputeType(out_.dtype, [&](auto type) { runAs<typename decltype(type)::type>(args); });
  }

 private:
  template <typename T>
  void runAs(const RunArgs& args) const {
    const T* in = in_.dense<T>(args.threads, args.inputs[0], args.scratch);
    const auto depths = static_cast<int64_t>(windows_[0].size());
    const auto rows = static_cast<int64_t>(windows_[1].size());
    const auto columns = static_cast<int64_t>(windows_[2].size());
    const int64_t plane_size = in_size_[0] * in_size_[1] * in_size_[2];
    parallelFor(args.threads, 0, planes_ * depths * rows, grainFor(columns * 9), [&](int64_t begin, int64_t end) {
      alignas(64) std::array<T, kRun> values;
      alignas(64) std::array<int64_t, kRun> positions;
      for (int64_t index = begin; index < end; ++index) {
        const int64_t row = index % rows;
        const int64_t depth = index / rows % depths;
        const int64_t plane = index / rows / depths;
        for (int64_t column = 0; column < columns; column += kRun) {
          const int64_t n = std::min(kRun, columns - column);
          computeRow(in + plane * plane_size, depth, row, column, n, values.data(), positions.data());
          write(args, plane, {depth, row, column}, n, values.data(), positions.data());
        }
      }
    });
  }

  template <typename T>
  void computeRow(const T* plane, int64_t depth, int64_t row, int64_t column, int64_t count, T* values,
                  int64_t* positions) const {
    const Window& d = windows_[0][static_cast<size_t>(depth)];
    const Window& h = windows_[1][static_cast<size_t>(row)];
    for (int64_t i = 0; i < count; ++i) {
      const Window& w = windows_[2][static_cast<size_t>(column + i)];
      if (config_.is_max) {
        values[i] = maximum(plane, d, h, w, positions[i]);
      } else {
        values[i] = average(plane, d, h, w);
      }
    }
  }

  // NaN counts as the greatest; the position is that of the first maximum, or of the last NaN, as PyTorch's.
  template <typename T>
  T maximum(const T* plane, const Window& d, const Window& h, const Window& w, int64_t& position) const {
    T best = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::min();
    position = (d.begin * in_size_[1] + h.begin) * in_size_[2] + w.begin;
    for (int64_t z = d.begin; z < d.end; z += d.step) {
      for (int64_t y = h.begin; y < h.end; y += h.step) {
        const int64_t line = (z * in_size_[1] + y) * in_size_[2];
        for (int64_t x = w.begin; x < w.end; x += w.step) {
          const T value = plane[line + x];
          if (value > best || value != value) {
            best = value;
            position = line + x;
          }
        }
      }
    }
    return best;
  }

  template <typename T>
  T average(const T* plane, const Window& d, const Window& h, const Window& w) const {
    const int64_t elements = inside(d) * inside(h) * inside(w);
    if (elements == 0) {
      return T(0);
    }
    Accumulator<T> sum = 0;
    for (int64_t z = d.begin; z < d.end; ++z) {
      for (int64_t y = h.begin; y < h.end; ++y) {
        const T* line = plane + (z * in_size_[1] + y) * in_size_[2];
        for (int64_t x = w.begin; x < w.end; ++x) {
          sum += static_cast<Accumulator<T>>(line[x]);
        }
      }
    }
    const int64_t with_padding = config_.count_include_pad ? d.padded * h.padded * w.padded : elements;
    const int64_t divisor = config_.divisor != 0 ? config_.divisor : with_padding;
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(sum) / divisor;
    } else {
      return static_cast<T>(sum / static_cast<double>(divisor));
    }
  }

  template <typename T>
  void write(const RunArgs& args, int64_t plane, const std::array<int64_t, 3>& at, int64_t count, const T* values,
             const int64_t* positions) const {
    const auto offset = [&](const TensorDesc& desc, const std::array<int64_t, 3>& strides) {
      return offsetAt(plane, desc.dims, desc.strides, lead_) + at[0] * strides[0] + at[1] * strides[1] +
             at[2] * strides[2];
    };
    Writer<T>(out_.dtype).write(values, count, args.outputs[0], offset(out_, strides_), strides_[2]);
    if (has_indices_) {
      Writer<int64_t>(indices_.dtype)
          .write(positions, count, args.outputs[1], offset(indices_, indices_strides_), indices_strides_[2]);
    }
  }

  PoolingConfig config_;
  DenseOperand in_;
  TensorDesc out_, indices_;
  bool has_indices_;
  size_t lead_ = 0;
  int64_t planes_ = 0;
  // Depth, height, width: missing leading ones have size 1 and one window.
  std::array<int64_t, 3> in_size_ = {1, 1, 1}, strides_{}, indices_strides_{};
  std::array<Windows, 3> windows_ = {Windows{{0, 1, 1, 1}}, Windows{{0, 1, 1, 1}}, Windows{{0, 1, 1, 1}}};
};

}  // namespace

CreateResult createPoolingReference(const Problem& problem) {
  const Attributes& attributes = *problem.attributes;
  return makeKernel<PoolingPrepared>(PoolingConfig{
      attributes.getString("op") == "max", false, attributes.getInts("window"), attributes.getInts("stride"),
      attributes.getInts("pre_padding"), attributes.getInts("post_padding"), attributes.getInts("dilation"),
      attributes.getBool("count_include_pad", true), attributes.getInt("divisor", 0)});
}

CreateResult createAdaptivePoolingReference(const Problem& problem) {
  PoolingConfig config;
  config.is_max = problem.attributes->getString("op") == "max";
  config.is_adaptive = true;
  return makeKernel<PoolingPrepared>(std::move(config));
}

}  // namespace torchtrt::kernels
