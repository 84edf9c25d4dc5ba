// The most that a device can do, measured: profiles compare kernels with it.
#pragma once

namespace torchtrt::kernels {

struct Limits {
  double flops = 0;  // a second: float32 multiply-adds on registers, each counted as two
  double bytes = 0;  // a second, read plus written: a copy of more than caches hold
};

}  // namespace torchtrt::kernels
