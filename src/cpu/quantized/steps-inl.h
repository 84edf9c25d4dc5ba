// Quantizer and Dequantizer of requantization.h over vectors of float32, equal to them in every bit. Included once per
// instruction set.

#if defined(TORCHTRT_KERNELS_QUANTIZED_STEPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCHTRT_KERNELS_QUANTIZED_STEPS_INL_H_
#undef TORCHTRT_KERNELS_QUANTIZED_STEPS_INL_H_
#else
#define TORCHTRT_KERNELS_QUANTIZED_STEPS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "cpu/quantized/requantization.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::quantized::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using StepFloats = hn::ScalableTag<float>;
using StepInts = hn::RebindToSigned<StepFloats>;
using StepUnsigned = hn::RebindToUnsigned<StepFloats>;
using StepBytes = hn::Rebind<uint8_t, StepFloats>;

// Rounding keeps the order of numbers, so clamping to whole numbers may come before it and before the zero point. The
// rest is one byte, whatever its sign.
class ToSteps {
 public:
  explicit HWY_INLINE ToSteps(const Quantizer& quantizer)
      : inverse_scale_(hn::Set(d_, quantizer.inverse_scale)),
        low_(hn::Set(d_, quantizer.low - quantizer.zero_point)),
        high_(hn::Set(d_, quantizer.high - quantizer.zero_point)),
        zero_point_(hn::Set(du_, static_cast<uint32_t>(static_cast<int32_t>(quantizer.zero_point)))) {}

  HWY_INLINE hn::Vec<StepBytes> operator()(hn::Vec<StepFloats> x) const {
    const auto step = hn::Mul(x, inverse_scale_);
    // NaN is low: vector instructions return their second operand where one is NaN.
    const auto raised = HWY_TARGET == HWY_SCALAR ? hn::IfThenElse(hn::Ge(step, low_), step, low_) : hn::Max(step, low_);
    const auto rounded = hn::Add(hn::Min(raised, high_), hn::Set(d_, kRounding));
    const auto shifted = hn::Add(hn::BitCast(du_, rounded), zero_point_);
    return hn::U8FromU32(hn::And(shifted, hn::Set(du_, 0xFF)));
  }

 private:
  // Added to a float of at most 2^22 it leaves the rounded number, half to even, in the lowest bits of the sum.
  static constexpr float kRounding = 12582912.0F;  // 1.5 * 2^23

  StepFloats d_;
  StepUnsigned du_;
  hn::Vec<StepFloats> inverse_scale_, low_, high_;
  hn::Vec<StepUnsigned> zero_point_;
};

class FromSteps {
 public:
  explicit HWY_INLINE FromSteps(const Dequantizer& dequantizer)
      : scale_(hn::Set(d_, dequantizer.scale)), zero_point_(hn::Set(di_, dequantizer.zero_point)) {}

  // Reads as many int8_t or uint8_t as a vector has floats.
  template <typename Step>
  HWY_INLINE hn::Vec<StepFloats> operator()(const Step* from) const {
    const auto step = hn::PromoteTo(di_, hn::LoadU(hn::Rebind<Step, StepFloats>(), from));
    return hn::Mul(hn::ConvertTo(d_, hn::Sub(step, zero_point_)), scale_);
  }

 private:
  StepFloats d_;
  StepInts di_;
  hn::Vec<StepFloats> scale_;
  hn::Vec<StepInts> zero_point_;
};

}  // namespace torchtrt::kernels::quantized::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
