#include "engine/context.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "engine/load.h"

namespace torchtrt::engine {
namespace {

size_t residentPages(const void* memory, size_t bytes) {
  std::vector<unsigned char> pages(bytes / static_cast<size_t>(sysconf(_SC_PAGE_SIZE)));
  EXPECT_EQ(mincore(const_cast<void*>(memory), bytes, pages.data()), 0);
  return static_cast<size_t>(std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return page & 1; }));
}

TEST(Context, TouchesItsWorkspaceOnRequest) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the workspace is not mapped but from malloc, which may have touched it";
#endif
  constexpr int64_t kCount = int64_t{1} << 20;
  testing::PlanMaker make("large");
  const int32_t x = make.input("x", {make.number(kCount)});
  const int32_t sum = make.elementwise("sum", x, make.floats("w", {1}, {1}));
  make.output("y", make.activation("relu", sum));
  LoadOptions options;
  options.prepare = false;
  const auto engine = loadMade(make, options);
  const int64_t dims = kCount;
  const int64_t stride = 1;
  const TensorView view{DType::kFloat32, 1, &dims, &stride, nullptr};

  Context context;
  const auto specialization = engine->specialization({&view, 1}, 1);
  context.bind(specialization, device::cpu());
  const auto slot = std::find_if(specialization->slots.begin(), specialization->slots.end(),
                                 [](const Slot& each) { return each.kind == Slot::Kind::kWorkspace; });
  ASSERT_NE(slot, specialization->slots.end());
  const void* const memory = context.slotPointer(static_cast<uint32_t>(slot - specialization->slots.begin()));
  const size_t bytes = kCount * sizeof(float);
  EXPECT_EQ(residentPages(memory, bytes), 0U);
  context.touchWorkspace();
  EXPECT_EQ(residentPages(memory, bytes), bytes / static_cast<size_t>(sysconf(_SC_PAGE_SIZE)));
}

}  // namespace
}  // namespace torchtrt::engine
