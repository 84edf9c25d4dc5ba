// Regions of images in cells: means of bilinear samples (ALIGNS), greatest elements or means of whole pixels, in the order
// of torchvision's arithmetic. A thread for each result. STORED, C (computed in), INDEX, ALIGNS and BY_POSITION
// come from regions.cpp.

struct Images {
  long long count, channels, height, width;
  long long batch_step, channel_step, row_step, column_step;
};
struct Cells {
  long long rows, columns, sampling_ratio;
  long long is_aligned;
  double spatial_scale;
};

#if ALIGNS
struct Neighbours {
  long long low, high;
  C low_weight, high_weight;

  __device__ Neighbours(C position, long long size) {
    if (position <= C(0)) {
      position = C(0);
    }
    low = position != position ? 0 : (long long)position;
    high = low + 1;
    if (low >= size - 1) {
      low = high = size - 1;
      position = (C)low;
    }
    high_weight = position - (C)low;
    low_weight = (C)(1.0 - (double)high_weight);
  }
};

__device__ inline C sampleOf(const STORED* channel, const Images& images, C y, C x) {
  if (y < -1.0f || y > (float)images.height || x < -1.0f || x > (float)images.width) {
    return C(0);
  }
  const Neighbours rows(y, images.height), columns(x, images.width);
  const STORED* const low = channel + rows.low * images.row_step;
  const STORED* const high = channel + rows.high * images.row_step;
  const long long left = columns.low * images.column_step, right = columns.high * images.column_step;
  return rows.low_weight * columns.low_weight * (C)load(low + left) +
         rows.low_weight * columns.high_weight * (C)load(low + right) +
         rows.high_weight * columns.low_weight * (C)load(high + left) +
         rows.high_weight * columns.high_weight * (C)load(high + right);
}

// The number of samples that a cell takes along one axis of a region that is `extent` pixels long.
__device__ inline long long samplesOf(C extent, long long cells, long long sampling_ratio) {
  if (sampling_ratio > 0) {
    return sampling_ratio;
  }
  const double cell = (double)ceil((float)(extent / (C)cells));
  return fabs(cell) < 1e9 ? (long long)cell : 0;
}

__device__ inline C positionOf(C start, C size, long long cell, long long index, long long count) {
  return start + timesOf((C)cell, size) + timesOf((C)((float)index + 0.5f), size) / (C)count;
}

__device__ inline C valueOf(const STORED* channel, const Images& images, const C* region, const Cells& cells,
                            long long row, long long column, int*) {
  const C scale = (C)cells.spatial_scale, offset = BY_POSITION || cells.is_aligned ? C(0.5) : C(0);
  const C left = timesOf(region[1], scale) - offset, top = timesOf(region[2], scale) - offset;
  C width = timesOf(region[3], scale) - offset - left, height = timesOf(region[4], scale) - offset - top;
  if (!BY_POSITION && !cells.is_aligned) {  // at least one pixel
    width = width < C(1) ? C(1) : width;
    height = height < C(1) ? C(1) : height;
  }
  const long long samples_y = samplesOf(height, cells.rows, cells.sampling_ratio);
  const long long samples_x = samplesOf(width, cells.columns, cells.sampling_ratio);
  const C cell_height = height / (C)cells.rows, cell_width = width / (C)cells.columns;
  C sum = C(0);
  for (long long iy = 0; iy < samples_y; ++iy) {
    const C y = positionOf(top, cell_height, row, iy, samples_y);
    for (long long ix = 0; ix < samples_x; ++ix) {
      sum += sampleOf(channel, images, y, positionOf(left, cell_width, column, ix, samples_x));
    }
  }
  const long long count = samples_y * samples_x;
  return sum / (C)(!BY_POSITION && count < 1 ? 1 : count);
}
#else
// The nearest whole pixel; far outside of any image for what has none.
__device__ inline long long pixelOf(C position) {
  const double whole = trunc((double)position);
  const double rest = fabs((double)position - whole);
  const double nearest = rest >= 0.5 ? whole + (position < C(0) ? -1.0 : 1.0) : whole;
  return fabs(nearest) < 1e9 ? (long long)nearest : -2147483647LL - 1;
}

// Pixels [begin, end) of a cell along one axis, which share the pixel that their border cuts.
struct Span {
  long long begin, end;

  __device__ static long long clampedTo(double position, long long start, long long limit) {
    const long long at = (long long)position + start;
    return at < 0 ? (limit < 0 ? limit : 0) : at < limit ? at : limit;
  }
  __device__ Span(long long start, long long length, long long index, long long cells, long long limit) {
    const C size = (C)(length > 1 ? length : 1) / (C)cells;
    begin = clampedTo(floor((double)timesOf((C)index, size)), start, limit);
    end = clampedTo(ceil((double)timesOf((C)(index + 1), size)), start, limit);
  }
};

__device__ inline C valueOf(const STORED* channel, const Images& images, const C* region, const Cells& cells,
                            long long row, long long column, int* place) {
  const C scale = (C)cells.spatial_scale;
  const long long left = pixelOf(timesOf(region[1], scale)), top = pixelOf(timesOf(region[2], scale));
  const long long right = pixelOf(timesOf(region[3], scale)), bottom = pixelOf(timesOf(region[4], scale));
  // By position a region ends before its last pixel, and no span reaches the image's last row and column.
  const long long last = BY_POSITION ? 0 : 1;
  const Span y(top, bottom - top + last, row, cells.rows, images.height - 1 + last);
  const Span x(left, right - left + last, column, cells.columns, images.width - 1 + last);
  const bool is_empty = y.end <= y.begin || x.end <= x.begin;
#if BY_POSITION
  C value = C(0);
#else
  C value = is_empty ? C(0) : (C)-3.4028234663852885981e+38f;
  *place = -1;
#endif
  for (long long at_y = y.begin; at_y < y.end; ++at_y) {
    for (long long at_x = x.begin; at_x < x.end; ++at_x) {
      const C each = (C)load(channel + at_y * images.row_step + at_x * images.column_step);
#if BY_POSITION
      value += each;
#else
      if (each > value) {
        value = each;
        *place = (int)(at_y * images.width + at_x);
      }
#endif
    }
  }
#if BY_POSITION
  value = is_empty ? C(0) : value / (C)((y.end - y.begin) * (x.end - x.begin));
#endif
  return value;
}
#endif

extern "C" __global__ void pool_regions(long long count, long long out_channels, Images images, const STORED* in,
                                        long long region_step, long long number_step, const STORED* regions, Cells cells,
                                        Walk<OUT_RANK> to, STORED* out, Walk<PLACES_RANK> to_places, int* places,
                                        int* fault) {
  for (long long i = firstElement(); i < count; i += allThreads()) {
    const INDEX line = (INDEX)i / (INDEX)cells.columns, plane = line / (INDEX)cells.rows;
    const INDEX at_region = plane / (INDEX)out_channels;
    const long long column = i - (long long)line * cells.columns, row = (long long)line - (long long)plane * cells.rows;
    const long long out_channel = (long long)plane - (long long)at_region * out_channels;
    const STORED* const numbers = regions + (long long)at_region * region_step;
    C region[5];
    for (int k = 0; k < 5; ++k) {
      region[k] = (C)load(numbers + k * number_step);
    }
    C value = C(0);
    int place = -1;
    if (region[0] >= 0.0f && region[0] < (float)images.count) {
      const long long channel =
          BY_POSITION ? (out_channel * cells.rows + row) * cells.columns + column : out_channel;
      const STORED* const from = in + (long long)region[0] * images.batch_step + channel * images.channel_step;
      value = valueOf(from, images, region, cells, row, column, &place);
    } else {
      report(fault, kIndexOutOfRange);
    }
    store(out + to.at(i), value);
    if (places != nullptr) {
      places[to_places.at(i)] = place;
    }
  }
}
