#include "base/file_of_code.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"

namespace torchtrt {
namespace {

void here() {}

TEST(FileOfCode, OfThisProgram) {
  EXPECT_EQ(fileOfCode(reinterpret_cast<const void*>(&here)), std::filesystem::canonical("/proc/self/exe"));
}

TEST(FileOfCode, OfALibrary) {
  const std::filesystem::path file = fileOfCode(dlsym(RTLD_DEFAULT, "malloc"));
  EXPECT_TRUE(file.is_absolute() && std::filesystem::exists(file)) << file;
}

TEST(FileOfCode, WhatIsInNoFile) {
  const int on_the_stack = 0;
  EXPECT_EQ(fileOfCode(&on_the_stack), "");
  EXPECT_EQ(fileOfCode(nullptr), "");
}

// The loader keeps the name by which a library was opened. In another folder it names another file.
TEST(FileOfCode, StaysRightInAnotherFolder) {
  std::string pattern = (std::filesystem::temp_directory_path() / "file_of_code_XXXXXX").string();
  const std::filesystem::path folder = std::filesystem::canonical(mkdtemp(pattern.data()));
  const std::filesystem::path before = std::filesystem::current_path();
  std::ofstream(folder / "one.cpp") << "extern \"C\" int one() { return 1; }";
  const std::string build =
      "g++ -shared -fPIC -o '" + (folder / "one file.so").string() + "' " + (folder / "one.cpp").string();
  ASSERT_EQ(std::system(build.c_str()), 0);
  std::filesystem::current_path(folder);
  void* const library = dlopen("./one file.so", RTLD_NOW);
  std::filesystem::current_path(before);
  ASSERT_NE(library, nullptr) << dlerror();
  void* const symbol = dlsym(library, "one");
  Dl_info info{};
  ASSERT_NE(dladdr(symbol, &info), 0);
  EXPECT_STREQ(info.dli_fname, "./one file.so");
  EXPECT_EQ(fileOfCode(symbol), folder / "one file.so");
  std::filesystem::remove_all(folder);
  EXPECT_EQ(fileOfCode(symbol), "");
  dlclose(library);
}

}  // namespace
}  // namespace torchtrt
