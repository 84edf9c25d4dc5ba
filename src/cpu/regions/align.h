// The means of bilinear samples that roi_align and ps_roi_align are, one region at a time. A region is five numbers:
// the image's index, left, top, right, bottom. The caller has checked the index.
#pragma once

#include <algorithm>
#include <vector>

#include "cpu/regions/bilinear.h"

namespace torchtrt::kernels::regions {

struct AlignOptions {
  double spatial_scale;
  int64_t rows, columns, sampling_ratio;
  bool aligned;
};

/// One region in pixels, cut into cells.
template <typename T>
struct Grid {
  Grid(const T* roi, T scale, T offset, bool at_least_one_pixel, const AlignOptions& options)
      : image(static_cast<int64_t>(roi[0])), left(roi[1] * scale - offset), top(roi[2] * scale - offset) {
    T width = roi[3] * scale - offset - left;
    T height = roi[4] * scale - offset - top;
    if (at_least_one_pixel) {
      width = std::max(width, T(1));
      height = std::max(height, T(1));
    }
    cell_height = height / static_cast<T>(options.rows);
    cell_width = width / static_cast<T>(options.columns);
    samples_y = samplesPerCell(height, options.rows, options.sampling_ratio);
    samples_x = samplesPerCell(width, options.columns, options.sampling_ratio);
  }

  /// The samples of one cell, row after row.
  void addSamples(int64_t row, int64_t column, const Images<T>& images, std::vector<Sample<T>>& samples) const {
    for (int64_t iy = 0; iy < samples_y; ++iy) {
      const T y = samplePosition(top, cell_height, row, iy, samples_y);
      for (int64_t ix = 0; ix < samples_x; ++ix) {
        const T x = samplePosition(left, cell_width, column, ix, samples_x);
        samples.emplace_back(y, x, images.height, images.width);
      }
    }
  }

  int64_t samplesTaken() const {
    return std::max<int64_t>(samples_y, 0) * std::max<int64_t>(samples_x, 0);
  }

  int64_t image;
  T left, top;
  T cell_height, cell_width;
  int64_t samples_y, samples_x;
};

template <typename T>
T sumOf(const Sample<T>* begin, int64_t count, const T* channel) {
  T sum = T(0);
  for (int64_t i = 0; i < count; ++i) {
    sum += begin[i].of(channel);
  }
  return sum;
}

/// output [channels, rows, columns]
template <typename T>
void alignRegion(const Images<T>& images, const T* roi, const AlignOptions& options, T* output) {
  const Grid<T> grid(roi, static_cast<T>(options.spatial_scale), options.aligned ? T(0.5) : T(0), !options.aligned,
                     options);
  const int64_t cells = options.rows * options.columns;
  const int64_t per_cell = grid.samplesTaken();
  std::vector<Sample<T>> samples;
  samples.reserve(static_cast<size_t>(cells * per_cell));
  for (int64_t row = 0; row < options.rows; ++row) {
    for (int64_t column = 0; column < options.columns; ++column) {
      grid.addSamples(row, column, images, samples);
    }
  }
  const T count = static_cast<T>(std::max<int64_t>(grid.samples_y * grid.samples_x, 1));
  for (int64_t channel = 0; channel < images.channels; ++channel) {
    for (int64_t cell = 0; cell < cells; ++cell) {
      *output++ = sumOf(samples.data() + cell * per_cell, per_cell, images.channel(grid.image, channel)) / count;
    }
  }
}

/// Every cell reads channels of its own; output [channels / cells, rows, columns].
template <typename T>
void alignRegionByPosition(const Images<T>& images, const T* roi, const AlignOptions& options, T* output) {
  const Grid<T> grid(roi, static_cast<T>(options.spatial_scale), T(0.5), false, options);
  const int64_t cells = options.rows * options.columns;
  const T count = static_cast<T>(grid.samples_y * grid.samples_x);
  std::vector<Sample<T>> samples;
  for (int64_t cell = 0; cell < cells; ++cell) {
    samples.clear();
    grid.addSamples(cell / options.columns, cell % options.columns, images, samples);
    for (int64_t channel = cell; channel < images.channels; channel += cells) {
      const auto taken = static_cast<int64_t>(samples.size());
      output[channel] = sumOf(samples.data(), taken, images.channel(grid.image, channel)) / count;
    }
  }
}

}  // namespace torchtrt::kernels::regions
