#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "base/check.h"
#include "kernels/common/convert.h"
#include "kernels/common/simple_kernel.h"
#include "kernels/common/strided_loop.h"
#include "kernels/movement/movement.h"
#include "kernels/parallel.h"

namespace torchtrt::kernels {
namespace {

enum class Mode : uint8_t { kConstant, kReflect, kReplicate, kCircular };

struct PaddingConfig {
  Mode mode = Mode::kConstant;
  double value = 0;
};

constexpr int64_t kOutside = -1;

// The input index behind position `i` counted from the input's start, or kOutside for the padding value.
int64_t sourceIndex(Mode mode, int64_t i, int64_t size) {
  if (i >= 0 && i < size) {
    return i;
  }
  switch (mode) {
    case Mode::kReplicate:
      return i < 0 ? 0 : size - 1;
    case Mode::kCircular:
      return (i % size + size) % size;
    case Mode::kReflect: {
      const int64_t period = std::max<int64_t>(2 * (size - 1), 1);  // the edges are not repeated
      const int64_t folded = std::abs(i) % period;
      return folded < size ? folded : period - folded;
    }
    case Mode::kConstant:
      break;
  }
  return kOutside;
}

class PaddingPrepared final : public Prepared {
 public:
  PaddingPrepared(const PaddingConfig& config, const ShapeSet& shapes) : size_(sizeOf(shapes.outputs.at(0).dtype)) {
    const TensorDesc& in = shapes.inputs.at(0);
    const TensorDesc& out = shapes.outputs[0];
    const std::vector<int64_t>& pre = shapes.dimsOf("pre");
    // The axis that lies closest in the output comes last: rows run along it.
    std::vector<size_t> order(out.dims.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return out.strides[a] > out.strides[b]; });
    for (const size_t axis : order) {
      if (in.dims[axis] == 0 && out.dims[axis] != 0 && config.mode != Mode::kConstant) {
        throw EngineError(ErrorCode::kShapeArithmetic,
                          "axis " + std::to_string(axis) + " is empty, and this padding repeats elements of it", {},
                          "pad with a constant, or pass a tensor that is not empty");
      }
      addAxis(config.mode, in.dims[axis], in.strides[axis], out.dims[axis], out.strides[axis], pre.at(axis));
    }
    if (axes_.empty()) {
      addAxis(config.mode, 1, 0, 1, 0, 0);
    }
    Writer<double>(out.dtype).write(&config.value, 1, value_.data(), 0, 1);
    rows_ = 1;
    for (size_t i = 0; i + 1 < axes_.size(); ++i) {
      rows_ *= static_cast<int64_t>(axes_[i].source.size());
    }
  }

  void run(const RunArgs& args) const override {
    const Axis& inner = axes_.back();
    if (inner.source.empty()) {
      return;
    }
    const auto* in = static_cast<const std::byte*>(args.inputs[0]);
    auto* out = static_cast<std::byte*>(args.outputs[0]);
    const int64_t grain = grainFor(static_cast<int64_t>(inner.source.size()));
    parallelFor(args.threads, 0, rows_, grain, [&](int64_t begin, int64_t end) {
      switch (size_) {
        case 1:
          return writeRows<uint8_t>(begin, end, in, out);
        case 2:
          return writeRows<uint16_t>(begin, end, in, out);
        case 4:
          return writeRows<uint32_t>(begin, end, in, out);
        default:
          return writeRows<uint64_t>(begin, end, in, out);
      }
    });
  }

 private:
  struct Axis {
    std::vector<int64_t> source;  // per output index: the index in the input, or kOutside
    int64_t in_stride, out_stride;
    int64_t begin, end;  // output indices that lie inside the input
  };

  void addAxis(Mode mode, int64_t in_size, int64_t in_stride, int64_t out_size, int64_t out_stride, int64_t pre) {
    Axis axis{std::vector<int64_t>(static_cast<size_t>(out_size)), in_stride, out_stride, 0, 0};
    for (int64_t i = 0; i < out_size; ++i) {
      axis.source[static_cast<size_t>(i)] = sourceIndex(mode, i - pre, in_size);
    }
    axis.begin = std::clamp<int64_t>(pre, 0, out_size);
    axis.end = std::clamp<int64_t>(pre + in_size, axis.begin, out_size);
    axes_.push_back(std::move(axis));
  }

  // Where a row begins in the output and, unless it is all padding, in the input.
  struct Row {
    int64_t source = 0, target = 0;
    bool outside = false;
  };

  void add(const Axis& axis, int64_t index, Row& row) const {
    const int64_t source = axis.source[static_cast<size_t>(index)];
    row.outside = row.outside || source == kOutside;
    row.source += source * axis.in_stride;
    row.target += index * axis.out_stride;
  }

  // What the axes in front of the last but one add to a row.
  Row outerOf(int64_t number) const {
    Row row;
    for (size_t d = axes_.size() - 2; d-- > 0;) {
      const auto size = static_cast<int64_t>(axes_[d].source.size());
      add(axes_[d], number % size, row);
      number /= size;
    }
    return row;
  }

  template <typename Element>
  void writeRows(int64_t begin, int64_t end, const std::byte* in, std::byte* out) const {
    const auto* from = reinterpret_cast<const Element*>(in);
    auto* to = reinterpret_cast<Element*>(out);
    if (axes_.size() == 1) {
      writeRow(Row{}, from, to);
      return;
    }
    const Axis& axis = axes_[axes_.size() - 2];
    const auto size = static_cast<int64_t>(axis.source.size());
    while (begin < end) {
      const Row outer = outerOf(begin / size);
      const int64_t first = begin % size;
      const int64_t last = std::min(size, first + end - begin);
      for (int64_t index = first; index < last; ++index) {
        Row row = outer;
        add(axis, index, row);
        writeRow(row, from, to);
      }
      begin += last - first;
    }
  }

  template <typename Element>
  void writeRow(const Row& row, const Element* in, Element* out) const {
    const Axis& inner = axes_.back();
    const auto size = static_cast<int64_t>(inner.source.size());
    Element value;
    std::memcpy(&value, value_.data(), sizeof(Element));
    Element* to = out + row.target;
    if (row.outside) {
      copyRun(sizeof(Element), value_.data(), 0, reinterpret_cast<std::byte*>(to), inner.out_stride, size);
      return;
    }
    const Element* from = in + row.source;
    const auto edge = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t index = inner.source[static_cast<size_t>(i)];
        to[i * inner.out_stride] = index == kOutside ? value : from[index * inner.in_stride];
      }
    };
    edge(0, inner.begin);
    if (inner.begin < inner.end) {
      const int64_t first = inner.source[static_cast<size_t>(inner.begin)];
      copyRun(sizeof(Element), reinterpret_cast<const std::byte*>(from + first * inner.in_stride), inner.in_stride,
              reinterpret_cast<std::byte*>(to + inner.begin * inner.out_stride), inner.out_stride,
              inner.end - inner.begin);
    }
    edge(inner.end, size);
  }

  size_t size_;
  std::vector<Axis> axes_;
  alignas(8) std::array<std::byte, 8> value_{};  // the padding value in the tensor's dtype
  int64_t rows_ = 1;
};

Mode parseMode(const std::string& text) {
  if (text == "constant") {
    return Mode::kConstant;
  }
  if (text == "reflect") {
    return Mode::kReflect;
  }
  TORCHTRT_CHECK(text == "replicate" || text == "circular", "padding has no mode \"" << text << "\"");
  return text == "replicate" ? Mode::kReplicate : Mode::kCircular;
}

}  // namespace

CreateResult createPaddingReference(const Problem& problem) {
  return makeKernel<PaddingPrepared>(PaddingConfig{parseMode(problem.attributes->getString("mode", "constant")),
                                                   problem.attributes->getDouble("value", 0)});
}

}  // namespace torchtrt::kernels
