#include "builder/timing_cache.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include <unistd.h>

namespace torchtrt::builder {
namespace {

TimingCache someCache() {
  return {{"torchtrt 0.1.0; some processor; threads 2",
           {{"convolution float32 [1,3,8,8]x[4,3,3,3]! -> [1,4,6,6] {a=\"b c\"}", {"onednn", "highway", 0.1, 12.25}},
            {"matrix_multiply float32 [4,4]x[4,4]! -> [4,4] {}", {"highway", "highway", 0, 0}}}},
          {"torchtrt 0.1.0; another; threads 1", {{"convolution x", {"winograd_4x4", "winograd", 3, 4}}}}};
}

// A file in a folder of its own, which goes with it.
class File {
 public:
  File() : folder_(std::filesystem::temp_directory_path() / ("timings" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~File() {
    std::filesystem::remove_all(folder_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::string path() const {
    return folder_ / "cache";
  }
  void write(const std::string& text) const {
    std::ofstream(path(), std::ios::binary) << text;
  }
  std::string content() const {
    std::ifstream in(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  size_t filesInFolder() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

 private:
  std::filesystem::path folder_;
};

TEST(TimingCache, ComesBackAsItWas) {
  EXPECT_EQ(parseTimings(print(someCache())), someCache());
  EXPECT_EQ(parseTimings(print({})), TimingCache());
}

TEST(TimingCache, DamageIsNeverReadAsSomethingElse) {
  const std::string text = print(someCache());
  for (size_t size = 0; size < text.size(); ++size) {
    const auto parsed = parseTimings(text.substr(0, size));
    EXPECT_EQ(parsed.has_value(), size > 0 && text[size - 1] == '\n') << size;
  }
  const std::string header = "torchtrt timings 1\n";
  for (const char* lines :
       {"time a 1 b 2 p\n", "machine \n", "machine m\ntime a 1 b 2 \n", "machine m\ntime a 1 b 2\n",
        "machine m\ntime a nan b 2 p\n", "machine m\ntime a inf b 2 p\n", "machine m\ntime a -1 b 2 p\n",
        "machine m\ntime a 1x b 2 p\n", "machine m\ntime ../a 1 b 2 p\n", "machine m\ntime  1 b 2 p\n", "machine m\n\n",
        "machine m\nwhat\n"}) {
    EXPECT_EQ(parseTimings(header + lines), std::nullopt) << lines;
  }
  EXPECT_EQ(parseTimings("torchtrt timings 2\n"), std::nullopt);
  EXPECT_EQ(parseTimings(header + "machine m\ntime " + std::string(1000, 'a') + " 1 b 2 p\n"), std::nullopt);
}

TEST(TimingCache, AFileIsMergedAndReplacedAtOnce) {
  const File file;
  EXPECT_EQ(readTimings(file.path()), TimingCache());
  addTimings(file.path(), someCache());
  EXPECT_EQ(readTimings(file.path()), someCache());
  addTimings(file.path(), {{"torchtrt 0.1.0; another; threads 1", {{"convolution x", {"highway", "winograd", 2, 4}}}},
                           {"third", {{"convolution y", {"a", "b", 1, 2}}}}});
  TimingCache expected = someCache();
  expected["torchtrt 0.1.0; another; threads 1"]["convolution x"] = {"highway", "winograd", 2, 4};
  expected["third"]["convolution y"] = {"a", "b", 1, 2};
  EXPECT_EQ(readTimings(file.path()), expected);
  EXPECT_EQ(file.filesInFolder(), 1U);
}

TEST(TimingCache, ADamagedFileIsReplacedAndAnotherKindOfFileIsNot) {
  const File file;
  for (const char* damaged : {"", "torchtrt timings 1\nmachine", "torchtrt timings 7\n"}) {
    file.write(damaged);
    EXPECT_EQ(readTimings(file.path()), TimingCache());
    addTimings(file.path(), someCache());
    EXPECT_EQ(readTimings(file.path()), someCache()) << damaged;
  }
  file.write("my thesis\n");
  EXPECT_EQ(readTimings(file.path()), TimingCache());
  addTimings(file.path(), someCache());
  EXPECT_EQ(file.content(), "my thesis\n");
}

TEST(TimingCache, WhatCannotBeWrittenIsNoError) {
  EXPECT_NO_THROW(addTimings("/nonexistent/folder/cache", someCache()));
  EXPECT_EQ(readTimings("/nonexistent/folder/cache"), TimingCache());
  EXPECT_EQ(readTimings("/"), TimingCache());
}

TEST(TimingCache, ReadersSeeAWholeFileWhileOthersWrite) {
  const File file;
  addTimings(file.path(), someCache());
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 2; ++writer) {
    writers.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        addTimings(file.path(), someCache());
      }
    });
  }
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(readTimings(file.path()), someCache());
  }
  for (std::thread& writer : writers) {
    writer.join();
  }
}

}  // namespace
}  // namespace torchtrt::builder
