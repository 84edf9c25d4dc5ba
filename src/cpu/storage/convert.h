// Runs of elements between memory of any dtype and buffers of one of three compute types: float (float32, float16,
// bfloat16), double (float64) and int64_t (integers and bool). Kernels are written for compute types only; these
// readers and writers are the one place that knows the storage formats, and their rounding is the one rounding of a
// layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "torchtrt/types.h"

namespace torchtrt::kernels {

// Elements per run that kernels buffer on the stack.
inline constexpr int64_t kRun = 512;

// Calls visitor(std::type_identity<T>{}) with the compute type of a dtype.
template <typename Visitor>
decltype(auto) visitComputeType(DType dtype, Visitor&& visitor) {
  if (dtype == DType::kFloat64) {
    return visitor(std::type_identity<double>{});
  }
  return isFloating(dtype) ? visitor(std::type_identity<float>{}) : visitor(std::type_identity<int64_t>{});
}

// Size of the compute type of a dtype, in bytes.
inline size_t computeSize(DType dtype) {
  return dtype != DType::kFloat64 && isFloating(dtype) ? sizeof(float) : sizeof(int64_t);
}

// Reads any dtype as T. Offsets and steps are in elements of the dtype; a step of 0 repeats one element.
template <typename T>
class Reader {
 public:
  explicit Reader(DType dtype);

  void read(const void* base, int64_t offset, int64_t step, int64_t count, T* out) const {
    function_(static_cast<const std::byte*>(base) + offset * size_, step, count, out);
  }
  // The run where it lies if memory holds it as T without gaps, else a copy in `buffer`.
  const T* view(const void* base, int64_t offset, int64_t step, int64_t count, T* buffer) const {
    if (in_place_ && step == 1) {
      return static_cast<const T*>(base) + offset;
    }
    read(base, offset, step, count, buffer);
    return buffer;
  }
  T one(const void* base, int64_t offset) const {
    T value;
    read(base, offset, 1, 1, &value);
    return value;
  }

 private:
  void (*function_)(const std::byte* source, int64_t step, int64_t count, T* out);
  int64_t size_;
  bool in_place_;
};

// Writes T as any dtype, converting as Tensor.to(dtype) does: float16 and bfloat16 round to nearest even, floating to
// integer truncates (NaN and what is out of range as x86 gives it), integers wrap, bool is "not zero".
template <typename T>
class Writer {
 public:
  explicit Writer(DType dtype);

  void write(const T* values, int64_t count, void* base, int64_t offset, int64_t step) const {
    function_(values, count, static_cast<std::byte*>(base) + offset * size_, step);
  }

 private:
  void (*function_)(const T* values, int64_t count, std::byte* target, int64_t step);
  int64_t size_;
};

extern template class Reader<float>;
extern template class Reader<double>;
extern template class Reader<int64_t>;
extern template class Writer<float>;
extern template class Writer<double>;
extern template class Writer<int64_t>;

// Copies elements of `size` bytes (1, 2, 4 or 8) as they are; steps in elements, a source step of 0 repeats one
// element.
void copyRun(size_t size, const std::byte* source, int64_t source_step, std::byte* target, int64_t target_step,
             int64_t count);

}  // namespace torchtrt::kernels
