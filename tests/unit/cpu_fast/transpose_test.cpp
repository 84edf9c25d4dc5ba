// Copies that exchange dimensions, against a loop over the elements.
#include "cpu/movement/transpose.h"

#include <gtest/gtest.h>

#include <numeric>

#include "kernels/kernel.h"

namespace torchtrt::kernels {
namespace {

// Copies a tensor of these dims from one memory order to another and compares with the definition.
template <typename T>
void checkAs(const std::vector<int64_t>& dims, const std::vector<uint8_t>& from_order,
             const std::vector<uint8_t>& to_order) {
  const std::vector<int64_t> from = denseStrides(dims, from_order);
  const std::vector<int64_t> to = denseStrides(dims, to_order);
  const auto count = static_cast<size_t>(std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>()));
  std::vector<T> source(count);
  std::iota(source.begin(), source.end(), T(1));
  const std::optional<Transpose> transpose = Transpose::find(sizeof(T), dims, to, from);
  ASSERT_TRUE(transpose.has_value());
  for (const int threads : {1, 3}) {
    std::vector<T> target(count + 8, T(77));
    transpose->run(threads, reinterpret_cast<const std::byte*>(source.data()),
                   reinterpret_cast<std::byte*>(target.data()));
    for (size_t i = 0; i < count; ++i) {
      int64_t rest = static_cast<int64_t>(i);
      int64_t source_at = 0;
      int64_t target_at = 0;
      for (size_t axis = dims.size(); axis-- > 0;) {
        source_at += rest % dims[axis] * from[axis];
        target_at += rest % dims[axis] * to[axis];
        rest /= dims[axis];
      }
      ASSERT_EQ(target[static_cast<size_t>(target_at)], source[static_cast<size_t>(source_at)]) << "element " << i;
    }
    for (size_t i = count; i < target.size(); ++i) {
      ASSERT_EQ(target[i], T(77)) << "wrote behind the target";
    }
  }
}

void check(const std::vector<int64_t>& dims, const std::vector<uint8_t>& from_order,
           const std::vector<uint8_t>& to_order) {
  checkAs<double>(dims, from_order, to_order);
  checkAs<float>(dims, from_order, to_order);
  checkAs<uint16_t>(dims, from_order, to_order);
  checkAs<uint8_t>(dims, from_order, to_order);
}

TEST(Transpose, ImagesBetweenRowMajorAndChannelsLast) {
  for (const int64_t channels : {2, 3, 4, 5, 16, 31, 64}) {
    for (const int64_t width : {9, 16, 33, 64}) {
      check({2, channels, 17, width}, {}, {0, 2, 3, 1});
      check({2, channels, 17, width}, {0, 2, 3, 1}, {});
    }
  }
}

// Neighbours in the source, or rows of it, go backwards through the target.
TEST(Transpose, BackwardsAlongEither) {
  for (const int64_t rows : {20, 33, 64, 130}) {
    for (const int64_t columns : {15, 16, 47, 70}) {
      std::vector<float> source(static_cast<size_t>(2 * rows * columns));
      std::iota(source.begin(), source.end(), 1.0F);
      for (const bool along_columns : {true, false}) {
        const std::vector<int64_t> from = along_columns ? std::vector<int64_t>{rows * columns, columns, -1}
                                                        : std::vector<int64_t>{rows * columns, -columns, 1};
        const int64_t first = along_columns ? columns - 1 : (rows - 1) * columns;
        const auto transpose = Transpose::find(sizeof(float), {2, rows, columns}, {rows * columns, 1, rows}, from);
        ASSERT_TRUE(transpose.has_value());
        for (const int threads : {1, 3}) {
          std::vector<float> target(source.size());
          transpose->run(threads, reinterpret_cast<const std::byte*>(source.data() + first),
                         reinterpret_cast<std::byte*>(target.data()));
          for (int64_t i = 0; i < 2 * rows * columns; ++i) {
            const int64_t plane = i / (rows * columns);
            const int64_t column = i / rows % columns;
            const int64_t at = first + plane * from[0] + i % rows * from[1] + column * from[2];
            ASSERT_EQ(target[static_cast<size_t>(i)], source[static_cast<size_t>(at)]) << "element " << i;
          }
        }
      }
    }
  }
}

// Both are turned round: the one may be of a single element, or read what the other reads.
TEST(Transpose, BackwardsAlongTwo) {
  struct Case {
    std::vector<int64_t> dims, target, source;
    int64_t first;
  };
  for (const Case& each :
       {Case{{40, 30, 1}, {1, 40, 40}, {30, -1, -1}, 29}, Case{{8, 8, 8}, {64, 8, 1}, {-1, -1, 16}, 14}}) {
    const auto transpose = Transpose::find(sizeof(float), each.dims, each.target, each.source);
    ASSERT_TRUE(transpose.has_value());
    std::vector<float> source(2048);
    std::iota(source.begin(), source.end(), 1.0F);
    std::vector<float> target(static_cast<size_t>(each.dims[0] * each.dims[1] * each.dims[2]));
    transpose->run(1, reinterpret_cast<const std::byte*>(source.data() + each.first),
                   reinterpret_cast<std::byte*>(target.data()));
    for (int64_t i = 0; i < each.dims[0]; ++i) {
      for (int64_t j = 0; j < each.dims[1]; ++j) {
        for (int64_t k = 0; k < each.dims[2]; ++k) {
          const int64_t to = i * each.target[0] + j * each.target[1] + k * each.target[2];
          const int64_t from = each.first + i * each.source[0] + j * each.source[1] + k * each.source[2];
          ASSERT_EQ(target[static_cast<size_t>(to)], source[static_cast<size_t>(from)]) << i << ", " << j << ", " << k;
        }
      }
    }
  }
}

TEST(Transpose, MatricesAndInnerDimensions) {
  check({33, 70}, {}, {1, 0});
  check({3, 400}, {}, {1, 0});
  check({400, 3}, {}, {1, 0});
  check({403, 2}, {}, {1, 0});
  check({9, 2, 45, 2}, {}, {0, 1, 3, 2});
  check({5, 9, 7, 6}, {}, {3, 1, 2, 0});
  check({5, 9, 7, 6}, {2, 0, 3, 1}, {});
}

// Tiles, smaller ones along the edges, what is left of those, and more than one block.
TEST(Transpose, EveryEdge) {
  for (int64_t rows = 18; rows <= 36; ++rows) {
    for (const int64_t columns : {15, 16, 23, 33, 70}) {
      check({rows, columns}, {}, {1, 0});
    }
  }
  check({300, 290}, {}, {1, 0});
  check({2, 2100, 9}, {}, {0, 2, 1});
}

// Rows of boxes of pixels, as a shuffle of pixels has them, move by pairs or quadruples.
TEST(Transpose, NeighboursThatMoveTogether) {
  for (const int64_t width : {2, 7, 16, 33}) {
    checkAs<float>({40, 2, width, 2}, {0, 2, 1, 3}, {});
    checkAs<float>({40, 2, width, 2}, {}, {0, 2, 1, 3});
    checkAs<uint16_t>({20, 4, width, 4}, {0, 2, 1, 3}, {});
    checkAs<uint8_t>({8, 5, width, 8}, {0, 2, 1, 3}, {});
    checkAs<uint8_t>({40, 3, width, 4}, {}, {2, 0, 1, 3});
  }
}

TEST(Transpose, LeavesOtherCopiesAlone) {
  EXPECT_FALSE(Transpose::find(8, {40, 2, 33, 2}, {132, 66, 2, 1}, {132, 2, 4, 1}).has_value());
  EXPECT_FALSE(Transpose::find(4, {40, 3, 33, 3}, {297, 99, 3, 1}, {297, 3, 9, 1}).has_value());
  EXPECT_FALSE(Transpose::find(4, {64, 64}, {64, 1}, {64, 1}).has_value());
  EXPECT_FALSE(Transpose::find(4, {64, 64}, {64, 1}, {128, 2}).has_value());
  EXPECT_FALSE(Transpose::find(4, {4, 4}, {4, 1}, {1, 4}).has_value());
  EXPECT_FALSE(Transpose::find(16, {64, 64}, {64, 1}, {1, 64}).has_value());
}

}  // namespace
}  // namespace torchtrt::kernels
