// The plugins torchtrt::Fourier, ShortTimeFourier and InverseShortTimeFourier (cpu/fourier/plugins.h says what they
// compute).
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::cuda {

kernels::CreateResult createFourier(const kernels::Problem& problem);
kernels::CreateResult createShortTimeFourier(const kernels::Problem& problem);
kernels::CreateResult createInverseShortTimeFourier(const kernels::Problem& problem);

}  // namespace torchtrt::cuda
