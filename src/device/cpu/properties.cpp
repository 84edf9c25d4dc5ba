#include "device/cpu/properties.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace torchtrt::device {

namespace {

// The process's own path in the version 2 hierarchy: "0::/path" in /proc/self/cgroup.
std::string ownCgroup() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("0::")) {
      return line.substr(3);
    }
  }
  return "/";
}

// A limit holds for everything below it: the smallest on the way from the process's group to the root counts.
int64_t smallestLimit(const std::string& root, std::string path,
                      const std::function<int64_t(const std::string&)>& read) {
  int64_t smallest = -1;
  while (true) {
    const int64_t limit = read(root + path + "/");
    if (limit >= 0 && (smallest < 0 || limit < smallest)) {
      smallest = limit;
    }
    if (path.empty() || path == "/") {
      return smallest;
    }
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

int availableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const bool known = sched_getaffinity(0, sizeof set, &set) == 0;
  int cores = known ? CPU_COUNT(&set) : static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  const int quota = readCgroupCores("/sys/fs/cgroup", ownCgroup());
  if (quota > 0) {
    cores = std::min(cores, quota);
  }
  return std::max(cores, 1);
}

size_t availableMemory() {
  const int64_t physical = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  const int64_t limit = readCgroupMemory("/sys/fs/cgroup", ownCgroup());
  return static_cast<size_t>(limit >= 0 ? std::min(limit, physical) : std::max<int64_t>(physical, 0));
}

size_t cacheBytes(int name) {
  return static_cast<size_t>(std::max<int64_t>(sysconf(name), 0));
}

#if defined(__x86_64__)
// The compiler's own test also looks at whether the system saves the registers; AMX is newer than what it knows.
std::string instructionSets() {
  std::string text;
  const auto add = [&](bool present, const char* name) {
    if (present) {
      text += (text.empty() ? "" : " ") + std::string(name);
    }
  };
  add(__builtin_cpu_supports("sse4.2") != 0, "sse4");
  add(__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0, "avx2");
  add(__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0, "avx512");
  add(__builtin_cpu_supports("avx512vnni") != 0, "avx512_vnni");
  add(__builtin_cpu_supports("avx512bf16") != 0, "avx512_bf16");
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) {
    add(__builtin_cpu_supports("avx512f") != 0 && (d >> 23 & 1) != 0, "avx512_fp16");
    add((d >> 24 & 1) != 0, "amx");
  }
  return text.empty() ? "baseline" : text;
}
#else
std::string instructionSets() {
  return "baseline";
}
#endif

}  // namespace

int readCgroupCores(const std::string& cgroup_root, const std::string& own_cgroup) {
  const int64_t cores = smallestLimit(cgroup_root, own_cgroup, [](const std::string& folder) -> int64_t {
    std::ifstream file(folder + "cpu.max");
    int64_t quota = 0;
    int64_t period = 0;
    const bool limited =
        static_cast<bool>(file >> quota >> period) && period > 0;  // "max 100000" does not read as numbers
    return limited ? (quota + period - 1) / period : -1;
  });
  return static_cast<int>(cores);
}

int64_t readCgroupMemory(const std::string& cgroup_root, const std::string& own_cgroup) {
  return smallestLimit(cgroup_root, own_cgroup, [](const std::string& folder) -> int64_t {
    std::ifstream file(folder + "memory.max");
    int64_t limit = 0;
    return file >> limit ? limit : -1;
  });
}

Properties readCpuProperties() {
  Properties properties;
  properties.name = "cpu";
  properties.isa = instructionSets();
  properties.cores = availableCores();
  properties.l1_bytes = cacheBytes(_SC_LEVEL1_DCACHE_SIZE);
  properties.l2_bytes = cacheBytes(_SC_LEVEL2_CACHE_SIZE);
  properties.l3_bytes = cacheBytes(_SC_LEVEL3_CACHE_SIZE);
  properties.memory_bytes = availableMemory();
  return properties;
}

}  // namespace torchtrt::device
