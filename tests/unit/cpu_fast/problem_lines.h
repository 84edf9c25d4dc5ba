// The problems of bench/kernels/problems, which tests and torchtrt-bench share.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace torchtrt::kernels {

struct ProblemLine {
  std::string place;  // "resnet50:2"
  std::string text;
};

inline std::vector<ProblemLine> problemLines() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator("bench/kernels/problems")) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<ProblemLine> lines;
  for (const std::filesystem::path& path : files) {
    std::ifstream file(path);
    int number = 0;
    for (std::string line; std::getline(file, line);) {
      ++number;
      if (!line.empty() && line[0] != '#') {
        lines.push_back({path.stem().string() + ":" + std::to_string(number), line});
      }
    }
  }
  return lines;
}

}  // namespace torchtrt::kernels
