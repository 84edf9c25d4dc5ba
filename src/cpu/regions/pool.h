// The maxima of roi_pool and the means of ps_roi_pool, one region at a time: cells of whole pixels. A region is five
// numbers: the image's index, left, top, right, bottom. The caller has checked the index.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>

#include "cpu/regions/bilinear.h"

namespace torchtrt::kernels::regions {

struct PoolOptions {
  double spatial_scale;
  int64_t rows, columns;
};

/// The nearest whole pixel; far outside of any image for what has none.
template <typename T>
int64_t nearestPixel(T position) {
  const double nearest = std::round(static_cast<double>(position));
  return std::abs(nearest) < 1e9 ? static_cast<int64_t>(nearest) : std::numeric_limits<int>::min();
}

/// Pixels [begin, end) along one axis.
struct Span {
  /// One of `cells` cells of `length` pixels from `start`. Cells share the pixel that their border cuts; begin and end
  /// are at most `limit`.
  template <typename T>
  static Span ofCell(int64_t start, int64_t length, int64_t index, int64_t cells, int64_t limit, T /*arithmetic*/) {
    const T size = static_cast<T>(std::max<int64_t>(length, 1)) / static_cast<T>(cells);
    const auto clamped = [&](double position) {
      return std::min(std::max<int64_t>(static_cast<int64_t>(position) + start, 0), limit);
    };
    return {clamped(std::floor(static_cast<double>(static_cast<T>(index) * size))),
            clamped(std::ceil(static_cast<double>(static_cast<T>(index + 1) * size)))};
  }

  int64_t begin, end;
};

/// A region [5] in whole pixels of its image.
template <typename T>
struct Region {
  Region(const T* roi, double spatial_scale)
      : image(static_cast<int64_t>(roi[0])),
        left(nearestPixel<T>(roi[1] * static_cast<T>(spatial_scale))),
        top(nearestPixel<T>(roi[2] * static_cast<T>(spatial_scale))),
        right(nearestPixel<T>(roi[3] * static_cast<T>(spatial_scale))),
        bottom(nearestPixel<T>(roi[4] * static_cast<T>(spatial_scale))) {}

  int64_t image, left, top, right, bottom;
};

/// The largest value of rows x columns and where it lies; the first of equal ones.
template <typename T>
void maximum(const T* channel, int64_t width, Span rows, Span columns, T& value, int32_t& place) {
  const bool is_empty = rows.end <= rows.begin || columns.end <= columns.begin;
  value = is_empty ? T(0) : static_cast<T>(-FLT_MAX);
  place = -1;
  for (int64_t y = rows.begin; y < rows.end; ++y) {
    for (int64_t x = columns.begin; x < columns.end; ++x) {
      if (channel[y * width + x] > value) {
        value = channel[y * width + x];
        place = static_cast<int32_t>(y * width + x);
      }
    }
  }
}

template <typename T>
T mean(const T* channel, int64_t width, Span rows, Span columns) {
  if (rows.end <= rows.begin || columns.end <= columns.begin) {
    return T(0);
  }
  T sum = T(0);
  for (int64_t y = rows.begin; y < rows.end; ++y) {
    for (int64_t x = columns.begin; x < columns.end; ++x) {
      sum += channel[y * width + x];
    }
  }
  return sum / static_cast<T>((rows.end - rows.begin) * (columns.end - columns.begin));
}

/// output and places [channels, rows, columns]; places count along a channel's rows.
template <typename T>
void poolRegion(const Images<T>& images, const T* roi, const PoolOptions& options, T* output, int32_t* places) {
  const Region<T> region(roi, options.spatial_scale);
  const int64_t cells = options.rows * options.columns;
  for (int64_t cell = 0; cell < cells; ++cell) {
    const Span rows = Span::ofCell(region.top, region.bottom - region.top + 1, cell / options.columns, options.rows,
                                   images.height, T());
    const Span columns = Span::ofCell(region.left, region.right - region.left + 1, cell % options.columns,
                                      options.columns, images.width, T());
    for (int64_t channel = 0; channel < images.channels; ++channel) {
      const int64_t at = channel * cells + cell;
      maximum(images.channel(region.image, channel), images.width, rows, columns, output[at], places[at]);
    }
  }
}

/// Every cell reads channels of its own; output [channels / cells, rows, columns]. Here a region ends before its last
/// pixel, and no span reaches the image's last row and column: as torchvision has it.
template <typename T>
void poolRegionByPosition(const Images<T>& images, const T* roi, const PoolOptions& options, T* output) {
  const Region<T> region(roi, options.spatial_scale);
  const int64_t cells = options.rows * options.columns;
  for (int64_t cell = 0; cell < cells; ++cell) {
    const Span rows = Span::ofCell(region.top, region.bottom - region.top, cell / options.columns, options.rows,
                                   images.height - 1, T());
    const Span columns = Span::ofCell(region.left, region.right - region.left, cell % options.columns, options.columns,
                                      images.width - 1, T());
    for (int64_t channel = cell; channel < images.channels; channel += cells) {
      output[channel] = mean(images.channel(region.image, channel), images.width, rows, columns);
    }
  }
}

}  // namespace torchtrt::kernels::regions
