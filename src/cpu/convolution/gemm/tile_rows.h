// Brings the rows that a convolution multiplies by tiles into memory: a row has the bytes under a window, tap by tap,
// channels innermost. It takes images whose channels lie side by side, and no groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cpu/convolution/geometry.h"

namespace torchtrt::kernels::convolution {

// The order of a product's depth. With kTight, all taps lie side by side, and zeros fill the last 64 bytes. With
// kLines, zeros fill the last 64 bytes of each line of the filter.
enum class TileDepth : uint8_t { kTight, kLines };

// Says how to cut rows into blocks.
struct TileCut {
  TileDepth depth;
  int64_t row_bytes;    // of all taps, a multiple of 64
  int64_t block_bytes;  // of the rows of a block, about
  int64_t least_blocks;
};

// The rows of one set of shapes, in blocks. A block is for one unit of work.
class TileRows {
 public:
  // Tap t of row r lies at a + r * stride + tapOffsets()[t].
  struct Lying {
    const std::byte* a;
    int64_t stride;
  };

  virtual ~TileRows() = default;
  virtual int64_t blocks() const = 0;
  virtual int64_t mostRows() const = 0;    // of a block
  virtual size_t bufferBytes() const = 0;  // of a block
  virtual int64_t rows(int64_t block) const = 0;
  // Writes the number of the output's pixel that each row belongs to. A row of none gets -1.
  virtual void find(int64_t block, int64_t* pixels) const = 0;
  virtual void prepare(const void* input, int64_t block, std::byte* buffer) const = 0;
  // Returns the rows of a prepared block from `first` on. 32 of them can be read.
  virtual Lying at(const void* input, int64_t block, const std::byte* buffer, int64_t first) const = 0;

  const std::vector<int64_t>& tapOffsets() const {
    return tap_offsets_;
  }

 protected:
  TileRows(const Geometry& geometry, const TensorDesc& input, const TensorDesc& output, std::byte padding,
           const TileCut& cut);

  const Geometry& geometry_;
  Image input_;  // strides of pixels in bytes
  Image output_;
  std::byte padding_;
  bool has_lines_;
  int64_t pixel_bytes_;               // of its channels
  std::vector<int64_t> tap_offsets_;  // in bytes
};

// Returns kLines for images of two dimensions that have no planes, if windows read several pixels of a line.
TileDepth depthOf(const Geometry& geometry, size_t element_bytes);
// Returns the bytes of a line of the filter, or of all taps, with the zeros behind them.
int64_t pieceBytes(const Geometry& geometry, size_t element_bytes, TileDepth depth);

// Reads rows where they lie if possible, and else puts each together. It takes any convolution. `padding` stands for
// each byte outside of an image.
std::unique_ptr<TileRows> makeWindowRows(const Geometry& geometry, const TensorDesc& input, const TensorDesc& output,
                                         std::byte padding, const TileCut& cut);

// True for images of two dimensions whose pixels are multiples of 64 bytes.
bool havePlanes(const Geometry& geometry, size_t element_bytes);
// Copies lines of the image once, with their padding. For a stride, it sorts pixels by the remainder of their places.
// So the pixels that a tap reads lie side by side, and taps share them. With kLines, pixels of a line stay as they are,
// and a tap is a line of the filter. A row then has what lies behind its window where the depth has zeros.
std::unique_ptr<TileRows> makePlaneRows(const Geometry& geometry, const TensorDesc& input, const TensorDesc& output,
                                        std::byte padding, const TileCut& cut);

// Copies pieces of equal length one behind the other. It also writes up to 64 bytes behind the last.
struct CopiedRuns {
  const std::byte* from;
  const int64_t* offsets;  // in bytes
  int64_t count;
  int64_t length;  // in bytes
  std::byte* to;
};
// Copies pieces at even distances to even distances, and writes zeros up to the next multiple of 64 bytes.
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
