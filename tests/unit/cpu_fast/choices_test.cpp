// Compares the implementation that each problem of bench/kernels/problems gets, by instruction set. A changed rule
// shows as a change of tests/unit/cpu_fast/choices. TORCHTRT_WRITE_CHOICES=1 writes the file of the instruction set in
// force.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "cpu/loops/strided_loop.h"
#include "cpu/simd/isa.h"
#include "cpu_fast/problem_lines.h"
#include "device/device.h"
#include "kernels/kernel.h"
#include "kernels/problem_text.h"

namespace torchtrt::kernels {
namespace {

constexpr int kThreads = 2;

// The strongest of the sets that have a file, below the cap and on this machine.
std::string isaInForce() {
  const std::string machine = device::cpu().properties().isa;
  const auto has = [&](const char* name) {
    std::istringstream words(machine);
    for (std::string word; words >> word;) {
      if (word == name) {
        return true;
      }
    }
    return false;
  };
  for (const Isa isa : {Isa::kAmx, Isa::kAvx512Vnni, Isa::kAvx512, Isa::kAvx2}) {
    if (isaCap() >= isa && has(toString(isa))) {
      return toString(isa);
    }
  }
  return toString(Isa::kSse4);
}

const char* chosenFor(const std::string& line) {
  ParsedProblem parsed = parseProblem(line);
  parsed.problem.threads = kThreads;
  const ShapeSet shapes = tunedShapes(parsed.problem);
  std::vector<std::vector<double>> constants(shapes.inputs.size());  // aligned for every dtype
  for (size_t i = 0; i < shapes.inputs.size(); ++i) {
    if (parsed.constant[i]) {
      const TensorDesc& desc = shapes.inputs[i];
      const auto count = static_cast<size_t>(countOf(desc.dims));
      constants[i].resize(count * sizeOf(desc.dtype) / sizeof(double) + 1);
      auto* const floats = reinterpret_cast<float*>(constants[i].data());
      for (size_t k = 0; desc.dtype == DType::kFloat32 && k < count; ++k) {
        floats[k] = 0.3F * static_cast<float>(k % 7);  // whole numbers would be summed exactly, which rules some out
      }
      parsed.problem.inputs[i].constant = constants[i].data();
    }
  }
  return createKernel(parsed.problem).implementation;
}

// Some machines of one set multiply bfloat16, and some do not. The size of the second-level cache decides whether the
// kernels of these two convolutions are large for Winograd's form.
bool dependsOnTheMachine(const std::string& line) {
  return line.starts_with("convolution bfloat16") || line.starts_with("matrix_multiply bfloat16") ||
         line.starts_with("convolution float32 [1,256,28,28]@0231x[256,256,3,3]") ||
         line.starts_with("convolution float32 [1,512,7,7]@0231x[512,512,3,3]");
}

// "resnet50:2 onednn convolution float32 ...", for every problem.
std::string choices() {
  std::string text;
  for (const ProblemLine& line : problemLines()) {
    if (!dependsOnTheMachine(line.text)) {
      text += line.place + " " + chosenFor(line.text) + " " + line.text + "\n";
    }
  }
  return text;
}

TEST(Choices, AreThoseOfTheTable) {
  const std::string path = "tests/unit/cpu_fast/choices/" + isaInForce() + ".txt";
  const std::string found = choices();
  if (std::getenv("TORCHTRT_WRITE_CHOICES") != nullptr) {
    std::ofstream(path) << found;
  }
  std::ifstream file(path);
  ASSERT_TRUE(file) << path;
  std::istringstream now(found);
  std::string wanted, got;
  int lines = 0;
  while (std::getline(file, wanted)) {
    ++lines;
    ASSERT_TRUE(std::getline(now, got)) << "no choice for: " << wanted;
    EXPECT_EQ(got, wanted) << "if the new choice is right: TORCHTRT_WRITE_CHOICES=1 with TORCHTRT_MAX_ISA="
                           << isaInForce();
  }
  EXPECT_FALSE(std::getline(now, got)) << "not in " << path << ": " << got;
  EXPECT_GT(lines, 100);
}

}  // namespace
}  // namespace torchtrt::kernels
