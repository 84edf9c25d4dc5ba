// Copies that exchange two dimensions of elements of 1, 2, 4 or 8 bytes: what lies next to each other in the source
// does not in the target. They are done in square tiles, since element by element they are several times slower. Other
// copies are CopyLoop's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace torchtrt::kernels {

class Transpose {
 public:
  // Nothing if the copy between these strides (in elements) is not of this kind or too small to matter.
  static std::optional<Transpose> find(size_t element_size, const std::vector<int64_t>& dims,
                                       const std::vector<int64_t>& target_strides,
                                       const std::vector<int64_t>& source_strides);

  // source and target at the elements of index 0.
  void run(int threads, const std::byte* source, std::byte* target) const;

 private:
  struct Axis {
    int64_t size;
    int64_t target_stride;
    int64_t source_stride;
  };

  static void widenElements(size_t& element_size, std::vector<Axis>& axes);

  size_t element_size_ = 0;                        // of what moves together
  int64_t source_offset_ = 0, target_offset_ = 0;  // bytes to where the loops begin
  std::vector<Axis> outer_;
  Axis columns_{};  // next to each other in the source
  Axis rows_{};     // next to each other in the target
};

}  // namespace torchtrt::kernels
