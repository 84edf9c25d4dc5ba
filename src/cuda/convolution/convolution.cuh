// Convolution and deconvolution of any strides, a thread for each result; those next to each other are neighbours in
// memory. Spatial dims are brought to three. INDEX is a type for the number of a result.

struct Spatial {
  long long size[3];
};
struct Image {  // strides in elements
  long long batch, channel;
  long long at[3];
};

extern "C" __global__ void convolution(long long count, long long outputs, long long channels_of_group,
                                       long long outputs_of_group, Spatial size, Spatial out_size, Spatial kernel,
                                       Spatial stride, Spatial padding, Spatial dilation, Image from, const STORED* in,
                                       Image weight, const STORED* weights, long long scale_step, const float* scale,
                                       long long bias_step, const BIAS* bias,
                                       Image residual_at, const STORED* residual, Image to, STORED* out, double alpha_,
                                       double beta_) {
  const A alpha = parameterOf<A>(alpha_), beta = parameterOf<A>(beta_);
  (void)alpha, (void)beta;
  for (long long i = firstElement(); i < count; i += allThreads()) {
    INDEX rest = (INDEX)i;
#if CHANNELS_LAST
    const long long k = rest % (INDEX)outputs;
    rest /= (INDEX)outputs;
#endif
    const long long x = rest % (INDEX)out_size.size[2];
    rest /= (INDEX)out_size.size[2];
    const long long y = rest % (INDEX)out_size.size[1];
    rest /= (INDEX)out_size.size[1];
    const long long z = rest % (INDEX)out_size.size[0];
    rest /= (INDEX)out_size.size[0];
#if CHANNELS_LAST
    const long long n = rest;
#else
    const long long k = rest % (INDEX)outputs, n = rest / (INDEX)outputs;
#endif
    const long long group = k / outputs_of_group;
    const STORED* const image = in + n * from.batch + group * channels_of_group * from.channel;
    A sum = 0;
#if TRANSPOSED
    // Weights are [channels, outputs of a group, kernel].
    const STORED* const filter = weights + group * channels_of_group * weight.batch + k % outputs_of_group * weight.channel;
#else
    const STORED* const filter = weights + k * weight.batch;
#endif
    for (long long kz = 0; kz < kernel.size[0]; ++kz) {
      for (long long ky = 0; ky < kernel.size[1]; ++ky) {
        for (long long kx = 0; kx < kernel.size[2]; ++kx) {
#if TRANSPOSED
          const long long tz = z + padding.size[0] - kz * dilation.size[0];
          const long long ty = y + padding.size[1] - ky * dilation.size[1];
          const long long tx = x + padding.size[2] - kx * dilation.size[2];
          if (tz < 0 || ty < 0 || tx < 0 || tz % stride.size[0] || ty % stride.size[1] || tx % stride.size[2]) {
            continue;
          }
          const long long iz = tz / stride.size[0], iy = ty / stride.size[1], ix = tx / stride.size[2];
#else
          const long long iz = z * stride.size[0] - padding.size[0] + kz * dilation.size[0];
          const long long iy = y * stride.size[1] - padding.size[1] + ky * dilation.size[1];
          const long long ix = x * stride.size[2] - padding.size[2] + kx * dilation.size[2];
#endif
          if (iz < 0 || iz >= size.size[0] || iy < 0 || iy >= size.size[1] || ix < 0 || ix >= size.size[2]) {
            continue;
          }
          const STORED* pixel = image + iz * from.at[0] + iy * from.at[1] + ix * from.at[2];
          const STORED* tap = filter + kz * weight.at[0] + ky * weight.at[1] + kx * weight.at[2];
          for (long long c = 0; c < channels_of_group; ++c) {
            sum += (A)load(pixel) * (A)load(tap);
            pixel += from.channel;
#if TRANSPOSED
            tap += weight.batch;
#else
            tap += weight.channel;
#endif
          }
        }
      }
    }
    if (HAS_SCALE) {
      sum *= (A)load(scale + k * scale_step);
    }
    if (bias) {
      sum += (A)load(bias + k * bias_step);
    }
    if (residual) {
      sum += (A)load(residual + n * residual_at.batch + k * residual_at.channel + z * residual_at.at[0] +
                     y * residual_at.at[1] + x * residual_at.at[2]);
    }
    store(out + n * to.batch + k * to.channel + z * to.at[0] + y * to.at[1] + x * to.at[2],
          ACTIVATION(sum, alpha, beta));
  }
}
