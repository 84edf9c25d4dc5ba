// The most that a device can do, measured: profiles compare kernels with it.
#pragma once

namespace torchtrt::kernels {

struct Limits {
  double flops = 0;         // a second: float32 multiply-adds on registers, each counted as two
  double bytes = 0;         // a second, read plus written: a copy of more than caches hold
  double tensor_flops = 0;  // as `flops`, of a GPU's tensor cores on factors of float16; 0 if nothing measures them
};

}  // namespace torchtrt::kernels
