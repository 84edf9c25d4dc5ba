// The rows that a convolution multiplies by tiles: the bytes under each window, tap by tap, channels innermost. For
// images whose channels lie side by side, without groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cpu/convolution/geometry.h"

namespace torchtrt::kernels::convolution {

// Blocks of rows of one set of shapes, each for one unit of work.
class TileRows {
 public:
  // Rows of a block in memory: tap t of row r at a + r * stride + tapOffsets()[t].
  struct Lying {
    const std::byte* a;
    int64_t stride;
  };

  virtual ~TileRows() = default;
  virtual int64_t blocks() const = 0;
  virtual int64_t mostRows() const = 0;    // of a block
  virtual size_t bufferBytes() const = 0;  // of a block
  virtual int64_t rows(int64_t block) const = 0;
  // The pixel of the output that each row belongs to, by its number; -1: none.
  virtual void find(int64_t block, int64_t* pixels) const = 0;
  virtual void prepare(const void* input, int64_t block, std::byte* buffer) const = 0;
  // Those from row `first` on, of which 32 can be read; of a prepared block.
  virtual Lying at(const void* input, int64_t block, const std::byte* buffer, int64_t first) const = 0;

  const std::vector<int64_t>& tapOffsets() const {
    return tap_offsets_;
  }

 protected:
  std::vector<int64_t> tap_offsets_;  // in bytes
};

// The order of the depth of a product. kTight: taps one behind the other, with zeros up to 64 bytes behind the last.
// kLines: a line of the filter at a time, each with zeros behind it.
enum class TileDepth : uint8_t { kTight, kLines };
// kLines for images of two dimensions that have no planes, but lines of which windows read several pixels.
TileDepth depthOf(const Geometry& geometry, size_t element_bytes);
// Bytes of a line of the filter with what follows, or of all taps.
int64_t pieceBytes(const Geometry& geometry, size_t element_bytes, TileDepth depth);

// How rows are cut into blocks.
struct TileCut {
  TileDepth depth;
  int64_t row_bytes;    // of all taps, a multiple of 64
  int64_t block_bytes;  // of the rows of a block, about
  int64_t least_blocks;
};

// padding: the byte that stands for each byte outside of an image.
// Reads rows where they lie if they can be, and else puts each together, for any convolution.
std::unique_ptr<TileRows> makeWindowRows(const Geometry& geometry, const TensorDesc& input, const TensorDesc& output,
                                         std::byte padding, const TileCut& cut);

// True if makePlaneRows() takes it: images of two dimensions whose pixels are multiples of 64 bytes.
bool havePlanes(const Geometry& geometry, size_t element_bytes);
// Copies lines of the image once, with their padding and, for a stride, apart by the remainder of their places. So the
// pixels that a tap reads lie side by side, and taps share them. With kLines, pixels of a line stay as they are, a tap
// is a line of the filter, and a row has what lies behind its window where the depth has zeros.
std::unique_ptr<TileRows> makePlaneRows(const Geometry& geometry, const TensorDesc& input, const TensorDesc& output,
                                        std::byte padding, const TileCut& cut);

// Pieces of equal length that are copied one behind the other. Up to 64 bytes behind the last are written, too.
struct CopiedRuns {
  const std::byte* from;
  const int64_t* offsets;  // in bytes
  int64_t count;
  int64_t length;  // in bytes
  std::byte* to;
};
// Pieces at even distances that are copied to even distances, with zeros up to the next multiple of 64 bytes.
struct CopiedRows {
  const std::byte* from;
  int64_t from_stride;  // in bytes, as are the others
  int64_t count;
  int64_t length;
  std::byte* to;
  int64_t to_stride;
};
inline constexpr size_t kBehindCopiedRuns = 64;

struct Copies {
  void (*runs)(const CopiedRuns& runs) = nullptr;
  void (*rows)(const CopiedRows& rows) = nullptr;
  bool (*are_finite)(const uint16_t* brains, int64_t count) = nullptr;  // true if no bfloat16 is NaN or infinite
};
Copies copies();  // the variants for this machine

}  // namespace torchtrt::kernels::convolution
