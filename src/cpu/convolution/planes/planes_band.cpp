#include "cpu/convolution/planes/planes_band.h"

#include <algorithm>
#include <utility>

namespace torchtrt::kernels::convolution {

namespace {

constexpr int64_t kMostBlocks = 16;  // more than the fewest possible

}  // namespace

PlanesBand::PlanesBand(const PackedPlanes& packed, const Image& input, int64_t columns, int64_t rows)
    : geometry_(packed.geometry), input_(input), lanes_(packed.lanes), reach_(packed.reach) {
  const Geometry& g = geometry_;
  const int64_t room = kBandFloats / (g.channels * g.kernel[0] * g.stride[2]);
  const int64_t longest = std::max<int64_t>(2, (room / g.kernel[1] - reach_ - lanes_) / 2 * 2);
  const int64_t fewest = std::max<int64_t>(1, (columns + longest - 1) / longest);
  double least = 0;
  for (int64_t blocks = fewest; blocks < fewest + kMostBlocks; ++blocks) {
    PlanesBand tried = *this;
    tried.setBlock(std::min({columns, longest, ((columns + blocks - 1) / blocks + 1) / 2 * 2}), rows, room);
    const double copied = static_cast<double>(tried.lines_ * tried.pitch_) /
                          static_cast<double>(std::max<int64_t>(1, tried.rows_ * tried.columns_));
    if (blocks == fewest || (copied < least && tried.columns_ >= kMinBlock)) {
      least = copied;
      *this = std::move(tried);
    }
  }
  for (int64_t k = 0; k < g.kernel[2]; ++k) {
    const int64_t at = k * g.dilation[2];
    tap_offsets_.push_back(at % g.stride[2] * pitch_ + at / g.stride[2]);
  }
}

// Takes as many rows as there is room for, unless most of the lines between those that they read are read by none.
void PlanesBand::setBlock(int64_t columns, int64_t rows, int64_t room) {
  const Geometry& g = geometry_;
  columns_ = columns;
  pitch_ = columns + reach_ + lanes_;
  step_ = 1;
  rows_ = std::min(rows, (room / pitch_ - linesOf(1)) / g.stride[1] + 1);
  if (room / pitch_ < linesOf(1) || linesOf(rows_) > rows_ * g.kernel[1]) {
    rows_ = 1;
    step_ = g.dilation[1];
  }
  lines_ = linesOf(rows_);
}

int64_t PlanesBand::linesOf(int64_t rows) const {
  return (rows - 1) * geometry_.stride[1] + (geometry_.kernel[1] - 1) * geometry_.dilation[1] / step_ + 1;
}

void PlanesBand::fill(const float* image, int64_t z, int64_t row, int64_t rows, int64_t column, int64_t columns,
                      float* buffer) const {
  const Geometry& g = geometry_;
  const int64_t first_line = row * g.stride[1] - g.pre_padding[1];
  const int64_t first_column = column * g.stride[2] - g.pre_padding[2];
  const int64_t count = linesOf(rows);
  for (int64_t c = 0; c < g.channels; ++c) {
    for (int64_t kz = 0; kz < g.kernel[0]; ++kz, buffer += lines_ * g.stride[2] * pitch_) {
      const int64_t depth = z * g.stride[0] - g.pre_padding[0] + kz * g.dilation[0];
      const float* plane =
          depth >= 0 && depth < input_.size[0] ? image + c * input_.channel_stride + depth * input_.stride[0] : nullptr;
      float* to = buffer;
      for (int64_t i = 0; i < count; ++i) {
        const int64_t y = first_line + i * step_;
        const float* line = plane != nullptr && y >= 0 && y < input_.size[1] ? plane + y * input_.stride[1] : nullptr;
        for (int64_t phase = 0; phase < g.stride[2]; ++phase, to += pitch_) {
          copyPhase(line, first_column + phase, columns + reach_, to);
        }
      }
    }
  }
}

// `count` columns of a line from `first` on, a stride apart, with zeros where there are none, and a vector of zeros
// behind them.
void PlanesBand::copyPhase(const float* line, int64_t first, int64_t count, float* to) const {
  float* const end_of_copy = to + count + lanes_;
  if (line == nullptr) {
    std::fill(to, end_of_copy, 0.0F);
    return;
  }
  const int64_t stride = geometry_.stride[2];
  const int64_t room = input_.size[2] - first;
  int64_t begin = 0;
  int64_t end = 0;
  if (stride == 1) {
    begin = std::clamp<int64_t>(-first, 0, count);
    end = std::clamp<int64_t>(room, begin, count);
    std::copy(line + first + begin, line + first + end, to + begin);
  } else {
    begin = std::clamp<int64_t>((-first + stride - 1) / stride, 0, count);
    end = room <= 0 ? begin : std::clamp<int64_t>((room + stride - 1) / stride, begin, count);
    for (int64_t i = begin; i < end; ++i) {
      to[i] = line[first + i * stride];
    }
  }
  std::fill(to, to + begin, 0.0F);
  std::fill(to + end, end_of_copy, 0.0F);
}

void PlanesBand::findLines(const float* buffer, int64_t row, const float** lines) const {
  const Geometry& g = geometry_;
  const int64_t line_floats = g.stride[2] * pitch_;
  const int64_t tap_floats = (step_ == 1 ? g.dilation[1] : 1) * line_floats;
  const float* first = buffer + row * g.stride[1] * line_floats;
  for (int64_t plane = 0; plane < g.channels * g.kernel[0]; ++plane, first += lines_ * line_floats) {
    for (int64_t ky = 0; ky < g.kernel[1]; ++ky) {
      *lines++ = first + ky * tap_floats;
    }
  }
}

}  // namespace torchtrt::kernels::convolution
