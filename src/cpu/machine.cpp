#include "cpu/machine.h"

#include <array>
#include <cstring>

#include "cpu/simd/isa.h"
#include "device/device.h"
#include "torchtrt/version.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#ifndef TORCHTRT_NO_ONEDNN
#include <dnnl.h>
#endif

namespace torchtrt::kernels {
namespace {

// "AMD EPYC 7R13 Processor"; empty where the processor does not say.
std::string processorName() {
  std::string name;
#if defined(__x86_64__)
  constexpr unsigned kFirst = 0x80000002;
  for (unsigned leaf = kFirst; leaf < kFirst + 3; ++leaf) {
    std::array<unsigned, 4> words{};
    if (__get_cpuid(leaf, words.data(), &words[1], &words[2], &words[3]) == 0) {
      return "";
    }
    std::array<char, sizeof words + 1> text{};
    std::memcpy(text.data(), words.data(), sizeof words);
    name += text.data();
  }
  for (char& c : name) {
    c = c < 32 || c > 126 || c == ';' ? ' ' : c;
  }
  const size_t end = name.find_last_not_of(' ');
  name.resize(end == std::string::npos ? 0 : end + 1);
#endif
  return name;
}

}  // namespace

std::string machineKey(int threads) {
  static const std::string processor = processorName();
  const device::Properties& cpu = device::cpu().properties();
  return std::string("torchtrt ") + kVersion + "; " + processor + "; " + cpu.isa + "; up to " + toString(isaCap()) +
         "; caches " + std::to_string(cpu.l1_bytes) + " " + std::to_string(cpu.l2_bytes) + " " +
         std::to_string(cpu.l3_bytes) + "; threads " + std::to_string(threads);
}

std::string onednnVersion() {
#ifdef TORCHTRT_NO_ONEDNN
  return "";
#else
  const dnnl_version_t& version = *dnnl_version();
  return std::to_string(version.major) + "." + std::to_string(version.minor) + "." + std::to_string(version.patch);
#endif
}

}  // namespace torchtrt::kernels
