// Products of steps of any strides: sums of (x - zero_point) * weight in 32 bits, finished by quantized/finish.cuh.

// Bias and residual point to one element if the layer has them.
__device__ inline void finish(unsigned sum, float scale, const float* bias, const RESIDUAL* residual, const Finish& with,
                              OUT* out) {
  store(out, finished(sum, scale, HAS_BIAS ? *bias : 0, HAS_RESIDUAL ? *residual : (RESIDUAL)0, with));
}

// [rows, depth] x [depth, columns]; a block computes 16 x 16 results.
extern "C" __global__ void matmul(long long rows, long long columns, long long depth, int zero_point, Finish with,
                                  Walk<ROWS> walk_a, long long a_step, const IN* a, long long b_row, long long b_column,
                                  const signed char* b, long long scale_step, const float* scale, long long bias_step,
                                  const float* bias, Walk<ROWS> walk_residual, long long residual_step,
                                  const RESIDUAL* residual, Walk<ROWS> walk_out, long long out_step, OUT* out) {
  __shared__ int tile_a[16][17];
  __shared__ int tile_b[16][17];
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  const long long across = (columns + 15) / 16, down = (rows + 15) / 16;
  for (long long block = blockIdx.x; block < across * down; block += gridDim.x) {
    const long long row = block / across * 16 + y, column = block % across * 16 + x;
    const long long from_a = row < rows ? walk_a.at(row) : 0;
    unsigned sum = 0;
    for (long long k = 0; k < depth; k += 16) {
      tile_a[y][x] = row < rows && k + x < depth ? (int)load(a + from_a + (k + x) * a_step) - zero_point : 0;
      tile_b[y][x] = column < columns && k + y < depth ? (int)load(b + (k + y) * b_row + column * b_column) : 0;
      __syncthreads();
      for (int i = 0; i < 16; ++i) {
        sum += (unsigned)tile_a[y][i] * (unsigned)tile_b[i][x];
      }
      __syncthreads();
    }
    if (row < rows && column < columns) {
      finish(sum, scale[column * scale_step], bias ? bias + column * bias_step : bias,
             residual ? residual + walk_residual.at(row) + column * residual_step : residual, with,
             out + walk_out.at(row) + column * out_step);
    }
  }
}

struct Spatial {
  long long size[3];
};
struct Image {  // strides in elements
  long long batch, channel;
  long long at[3];
};

// A thread for each result. Padding is the zero point, and so adds nothing.
extern "C" __global__ void convolution(long long count, long long outputs, long long channels_of_group,
                                       long long outputs_of_group, int zero_point, Finish with, Spatial size,
                                       Spatial out_size, Spatial kernel, Spatial stride, Spatial padding,
                                       Spatial dilation, Image from, const IN* in, Image weight,
                                       const signed char* weights, long long scale_step, const float* scale,
                                       long long bias_step, const float* bias, Image residual_at,
                                       const RESIDUAL* residual, Image to, OUT* out) {
  for (long long i = firstElement(); i < count; i += allThreads()) {
    long long rest = i, at[3];
    for (int axis = 2; axis >= 0; --axis) {
      at[axis] = rest % out_size.size[axis];
      rest /= out_size.size[axis];
    }
    const long long k = rest % outputs, n = rest / outputs;
    const IN* const image = in + n * from.batch + k / outputs_of_group * channels_of_group * from.channel;
    const long long places = kernel.size[0] * kernel.size[1] * kernel.size[2];
    unsigned sum = 0;
    for (long long place = 0; place < places; ++place) {
      const long long tap[3] = {place / (kernel.size[1] * kernel.size[2]), place / kernel.size[2] % kernel.size[1],
                                place % kernel.size[2]};
      const IN* pixel = image;
      const signed char* value = weights + k * weight.batch;
      bool is_inside = true;
      for (int axis = 0; axis < 3; ++axis) {
        const long long here = at[axis] * stride.size[axis] - padding.size[axis] + tap[axis] * dilation.size[axis];
        is_inside = is_inside && here >= 0 && here < size.size[axis];
        pixel += here * from.at[axis];
        value += tap[axis] * weight.at[axis];
      }
      for (long long c = 0; is_inside && c < channels_of_group; ++c) {
        sum += (unsigned)((int)load(pixel + c * from.channel) - zero_point) * (unsigned)(int)load(value + c * weight.channel);
      }
    }
    long long of_residual = n * residual_at.batch + k * residual_at.channel, of_out = n * to.batch + k * to.channel;
    for (int axis = 0; axis < 3; ++axis) {
      of_residual += at[axis] * residual_at.at[axis];
      of_out += at[axis] * to.at[axis];
    }
    finish(sum, scale[k * scale_step], bias ? bias + k * bias_step : bias, residual ? residual + of_residual : residual,
           with, out + of_out);
  }
}
