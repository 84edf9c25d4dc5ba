// An Epilogue applied to vectors that are still in registers. Included once per instruction set.

#if defined(TORCHTRT_KERNELS_GEMM_EPILOGUE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCHTRT_KERNELS_GEMM_EPILOGUE_INL_H_
#undef TORCHTRT_KERNELS_GEMM_EPILOGUE_INL_H_
#else
#define TORCHTRT_KERNELS_GEMM_EPILOGUE_INL_H_
#endif

#include "cpu/gemm/packed_gemm.h"
#include "cpu/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::gemm::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
namespace math = kernels::HWY_NAMESPACE;

template <int kCount, typename T>
HWY_INLINE void applyEpilogue(const EpilogueOf<T>& epilogue, hn::Vec<hn::ScalableTag<T>>* sums) {
  using Kind = typename EpilogueOf<T>::Kind;
  const hn::ScalableTag<T> d;
  switch (epilogue.kind) {
    case Kind::kNone:
      break;
    case Kind::kClamp: {
      const auto low = hn::Set(d, epilogue.low);
      const auto high = hn::Set(d, epilogue.high);
#pragma GCC unroll 32
      for (int i = 0; i < kCount; ++i) {
        sums[i] = math::atMost(math::atLeast(sums[i], low), high);
      }
      break;
    }
    case Kind::kHardSwish: {
#pragma GCC unroll 32
      for (int i = 0; i < kCount; ++i) {
        const auto raised = math::atLeast(hn::Add(sums[i], hn::Set(d, T(3))), hn::Zero(d));
        const auto gate = math::atMost(raised, hn::Set(d, T(6)));
        sums[i] = hn::Mul(hn::Mul(sums[i], gate), hn::Set(d, T(1) / T(6)));
      }
      break;
    }
    case Kind::kRows: {
      const auto lanes = static_cast<int64_t>(hn::Lanes(d));
      HWY_ALIGN T buffer[kCount * HWY_MAX_BYTES / sizeof(T)];
#pragma GCC unroll 32
      for (int i = 0; i < kCount; ++i) {
        hn::Store(sums[i], d, buffer + i * lanes);
      }
      epilogue.rows(buffer, buffer, kCount * lanes);
#pragma GCC unroll 32
      for (int i = 0; i < kCount; ++i) {
        sums[i] = hn::Load(d, buffer + i * lanes);
      }
      break;
    }
  }
}

}  // namespace torchtrt::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
