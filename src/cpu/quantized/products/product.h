// The loop that quantized convolutions and matrix products share: rows of A are widened block by block into memory that
// stays in a core's cache, multiplied with packed weights, and their sums requantized. No tensor-sized copy is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cpu/quantized/products/integer_gemm.h"
#include "cpu/quantized/requantize_rows.h"
#include "cpu/threads/slots.h"
#include "kernels/kernel.h"

namespace torchtrt::kernels::quantized {

// Even shares of the rows and panels of a product: units of work.
struct Cut {
  int64_t row_blocks = 1;
  int64_t panel_blocks = 1;
};
// Blocks of at most `most_rows` rows, with all panels. For more than one thread of smaller ones, down to `least_rows`,
// and of some panels, so that each thread has several of the units of all groups.
Cut cutProduct(const PackedIntegers& b, int64_t groups, int64_t rows, int64_t least_rows, int64_t most_rows,
               int64_t threads);

// The part of the work that is done once, when a kernel is created.
struct PackedProduct {
  std::vector<PackedIntegers> groups;  // of equal shape; columns of the output lie group by group
  Requantizer requantizer;
  IntegerGemm gemm;

  PackedProduct(const Problem& problem, std::vector<PackedIntegers> weights);
  size_t bytes() const;
};

// The rows of A and of the output for one set of shapes.
class Rows {
 public:
  virtual ~Rows() = default;
  // Values [begin, end) of rows [first, first + count) of a group's A, minus the zero point, to `to` + r * stride;
  // begin is even, and a zero follows if end is odd.
  virtual void widen(const void* input, int64_t group, int64_t first, int64_t count, int64_t begin, int64_t end,
                     int16_t* to, int64_t stride) const = 0;
  // Finds the begins of `count` columns in the output and in the residual, in elements.
  virtual void find(int64_t first, int64_t count, int64_t* out, int64_t* residual) const = 0;
};

class PreparedProduct final : public Prepared {
 public:
  PreparedProduct(std::shared_ptr<const PackedProduct> packed, std::unique_ptr<const Rows> rows, int64_t row_count,
                  int threads);
  size_t scratchBytes() const override;
  void run(const RunArgs& args) const override;

 private:
  struct Unit;
  struct Buffers;
  Unit unitOf(int64_t index) const;
  void runUnit(const RunArgs& args, const Unit& unit, const Buffers& buffers) const;
  size_t slotBytes() const;

  std::shared_ptr<const PackedProduct> packed_;
  std::unique_ptr<const Rows> rows_;
  int64_t row_count_;
  int threads_ = 1;         // worth using
  int64_t row_blocks_ = 1;  // of even shares, as are the others
  int64_t most_rows_ = 0;   // of a block
  int64_t panel_blocks_ = 1;
  int64_t most_panels_ = 1;
  int64_t depth_blocks_ = 1;
  int64_t depth_block_ = 0;  // even; the last may be shorter
  int64_t stride_ = 0;       // of widened rows
};

}  // namespace torchtrt::kernels::quantized
