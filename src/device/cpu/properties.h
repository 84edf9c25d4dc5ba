// The CPU and memory of this machine that the process may use. Private to the CPU device, apart from its tests.
#pragma once

#include <string>

#include "device/device.h"

namespace torchtrt::device {

Properties readCpuProperties();

// Those of device::cpu(), for tests of rules that depend on the sizes of caches. Not while kernels run.
Properties& cpuPropertiesForTests();

// The parts of it that read text files, with the folder they lie in as an argument (tests bring their own). -1: no
// limit.
int readCgroupCores(const std::string& cgroup_root, const std::string& own_cgroup);  // ceil(quota / period), version 2
int64_t readCgroupMemory(const std::string& cgroup_root, const std::string& own_cgroup);  // bytes, version 2

}  // namespace torchtrt::device
