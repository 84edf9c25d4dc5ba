#include "runtime/recording/environment.h"

#include <gnu/libc-version.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <torch/version.h>

#include "base/json.h"
#include "device/device.h"
#include "runtime/threads.h"
#include "torchtrt/runtime.h"
#include "torchtrt/version.h"

namespace torchtrt::runtime::recording {

namespace {

// Variables that change what torchtrt, libtorch and their libraries compute or how they spread it over threads.
constexpr std::array<std::string_view, 3> kPrefixes = {"TORCHTRT_", "OMP_", "KMP_"};
constexpr std::array<std::string_view, 10> kNames = {
    "ATEN_CPU_CAPABILITY", "CUDA_LAUNCH_BLOCKING",   "CUDA_VISIBLE_DEVICES", "DNNL_MAX_CPU_ISA",
    "GOMP_CPU_AFFINITY",   "GOMP_SPINCOUNT",         "MKL_NUM_THREADS",      "NVIDIA_TF32_OVERRIDE",
    "ONEDNN_MAX_CPU_ISA",  "PYTORCH_CUDA_ALLOC_CONF"};

bool isListed(std::string_view name) {
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
         std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [name](std::string_view prefix) { return name.starts_with(prefix); });
}

// The value of "model name : ..." of the first processor; empty where the system does not tell.
std::string processorName() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "";
}

std::string systemName() {
  utsname names{};
  return uname(&names) != 0 ? "" : std::string(names.sysname) + " " + names.release + " " + names.machine;
}

void addVersions(std::vector<Fact>& facts) {
  const auto add = [&](const char* name, std::string value) { facts.push_back({"versions", name, std::move(value)}); };
  add("torchtrt", kVersion);
  add("saved engines (ABI)", kAbiVersion);
  add("libtorch", TORCH_VERSION);
  add("oneDNN of libtorch", at::get_mkldnn_version());
  add("OpenMP of libtorch", at::get_openmp_version());
  add("compiler", "g++ " __VERSION__);
#ifdef NDEBUG
  add("build", "release");
#else
  add("build", "with assertions");
#endif
  add("glibc", gnu_get_libc_version());
}

void addMachine(std::vector<Fact>& facts) {
  const device::Properties& cpu = device::cpu().properties();
  const auto add = [&](const char* name, std::string value) { facts.push_back({"machine", name, std::move(value)}); };
  add("system", systemName());
  add("processor", processorName());
  add("instruction sets", cpu.isa);
  add("cores that the process may use", std::to_string(cpu.cores));
  add("memory", std::to_string(cpu.memory_bytes >> 20) + " MiB");
}

void addThreads(std::vector<Fact>& facts) {
  const auto add = [&](const char* name, int value) { facts.push_back({"threads", name, std::to_string(value)}); };
  add("of a call", callThreads());
  add("of libtorch, within operators", at::get_num_threads());
  add("of libtorch, between operators", at::get_num_interop_threads());
  add("affinity", affinityThreads());
  add("cgroup's quota (0: none)", quotaThreads("/"));
}

void addVariables(std::vector<Fact>& facts) {
  std::vector<Fact> found;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    const std::string_view text = *each;
    const size_t equals = text.find('=');
    if (equals != std::string_view::npos && isListed(text.substr(0, equals))) {
      found.push_back({"variables", std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))});
    }
  }
  std::sort(found.begin(), found.end(), [](const Fact& a, const Fact& b) { return a.name < b.name; });
  facts.insert(facts.end(), found.begin(), found.end());
}

}  // namespace

std::vector<Fact> facts() {
  std::vector<Fact> facts;
  addVersions(facts);
  addMachine(facts);
  addThreads(facts);
  addVariables(facts);
  return facts;
}

std::string toJson(const std::vector<Fact>& facts) {
  std::string text = "{";
  for (size_t i = 0; i < facts.size(); ++i) {
    const bool begins = i == 0 || facts[i - 1].group != facts[i].group;
    if (begins) {
      text += (i == 0 ? "" : "}, ") + quoted(facts[i].group) + ": {";
    }
    text += (begins ? "" : ", ") + quoted(facts[i].name) + ": " + quoted(facts[i].value);
  }
  return text + (facts.empty() ? "}" : "}}");
}

}  // namespace torchtrt::runtime::recording
