#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <vector>

#include "vision/regions.h"
#include "vision/vision.h"

namespace torchtrt::vision {
namespace {

/// One region in pixels, cut into cells.
template <typename T>
struct Grid {
  Grid(const T* roi, T scale, T offset, bool at_least_one_pixel, int64_t rows, int64_t columns, int64_t sampling_ratio)
      : image(static_cast<int64_t>(roi[0])), left(roi[1] * scale - offset), top(roi[2] * scale - offset) {
    T width = roi[3] * scale - offset - left;
    T height = roi[4] * scale - offset - top;
    if (at_least_one_pixel) {
      width = std::max(width, T(1));
      height = std::max(height, T(1));
    }
    cell_height = height / static_cast<T>(rows);
    cell_width = width / static_cast<T>(columns);
    samples_y = samplesPerCell(height, rows, sampling_ratio);
    samples_x = samplesPerCell(width, columns, sampling_ratio);
  }

  /// The samples of one cell, row after row.
  void addSamples(int64_t row, int64_t column, int64_t image_height, int64_t image_width,
                  std::vector<Sample<T>>& samples) const {
    for (int64_t iy = 0; iy < samples_y; ++iy) {
      const T y = samplePosition(top, cell_height, row, iy, samples_y);
      for (int64_t ix = 0; ix < samples_x; ++ix) {
        const T x = samplePosition(left, cell_width, column, ix, samples_x);
        samples.emplace_back(y, x, image_height, image_width);
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

struct Options {
  double spatial_scale;
  int64_t rows, columns, sampling_ratio;
  bool aligned;
};

template <typename T>
void alignRegion(const at::Tensor& input, const T* roi, const Options& options, T* output) {
  const Grid<T> grid(roi, static_cast<T>(options.spatial_scale), options.aligned ? T(0.5) : T(0), !options.aligned,
                     options.rows, options.columns, options.sampling_ratio);
  const int64_t channels = input.size(1), height = input.size(2), width = input.size(3);
  const int64_t cells = options.rows * options.columns;
  const int64_t per_cell = grid.samplesTaken();
  std::vector<Sample<T>> samples;
  samples.reserve(static_cast<size_t>(cells * per_cell));
  for (int64_t row = 0; row < options.rows; ++row) {
    for (int64_t column = 0; column < options.columns; ++column) {
      grid.addSamples(row, column, height, width, samples);
    }
  }
  const T count = static_cast<T>(std::max<int64_t>(grid.samples_y * grid.samples_x, 1));
  const T* image = input.const_data_ptr<T>() + grid.image * channels * height * width;
  for (int64_t channel = 0; channel < channels; ++channel) {
    for (int64_t cell = 0; cell < cells; ++cell) {
      *output++ = sumOf(samples.data() + cell * per_cell, per_cell, image + channel * height * width) / count;
    }
  }
}

template <typename T>
void alignRegionByPosition(const at::Tensor& input, const T* roi, const Options& options, T* output) {
  const Grid<T> grid(roi, static_cast<T>(options.spatial_scale), T(0.5), false, options.rows, options.columns,
                     options.sampling_ratio);
  const int64_t channels = input.size(1), height = input.size(2), width = input.size(3);
  const int64_t cells = options.rows * options.columns;
  const T count = static_cast<T>(grid.samples_y * grid.samples_x);
  const T* image = input.const_data_ptr<T>() + grid.image * channels * height * width;
  std::vector<Sample<T>> samples;
  for (int64_t cell = 0; cell < cells; ++cell) {
    samples.clear();
    grid.addSamples(cell / options.columns, cell % options.columns, height, width, samples);
    for (int64_t channel = cell; channel < channels; channel += cells) {
      const auto taken = static_cast<int64_t>(samples.size());
      output[channel] = sumOf(samples.data(), taken, image + channel * height * width) / count;
    }
  }
}

}  // namespace

at::Tensor roiAlign(const at::Tensor& input, const at::Tensor& rois, double spatial_scale, int64_t pooled_height,
                    int64_t pooled_width, int64_t sampling_ratio, bool aligned) {
  checkRegions("roi_align", input, rois, pooled_height, pooled_width);
  const Options options{spatial_scale, pooled_height, pooled_width, sampling_ratio, aligned};
  const at::Tensor images = input.contiguous(), regions = rois.contiguous();
  const int64_t channels = input.size(1);
  at::Tensor output = at::empty({rois.size(0), channels, pooled_height, pooled_width}, input.options());
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(input.scalar_type(), "roi_align", [&] {
    const auto* roi = regions.const_data_ptr<scalar_t>();
    auto* out = output.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, rois.size(0), 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        alignRegion(images, roi + k * 5, options, out + k * channels * pooled_height * pooled_width);
      }
    });
  });
  return output;
}

std::tuple<at::Tensor, at::Tensor> psRoiAlign(const at::Tensor& input, const at::Tensor& rois, double spatial_scale,
                                              int64_t pooled_height, int64_t pooled_width, int64_t sampling_ratio) {
  checkRegions("ps_roi_align", input, rois, pooled_height, pooled_width);
  const int64_t channels_out = channelsPerCell("ps_roi_align", input, pooled_height, pooled_width);
  const Options options{spatial_scale, pooled_height, pooled_width, sampling_ratio, true};
  const at::Tensor images = input.contiguous(), regions = rois.contiguous();
  const int64_t channels = input.size(1);
  at::Tensor output = at::empty({rois.size(0), channels_out, pooled_height, pooled_width}, input.options());
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(input.scalar_type(), "ps_roi_align", [&] {
    const auto* roi = regions.const_data_ptr<scalar_t>();
    auto* out = output.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, rois.size(0), 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        alignRegionByPosition(images, roi + k * 5, options, out + k * channels);
      }
    });
  });
  return {output, channelMapping(output)};
}

}  // namespace torchtrt::vision
