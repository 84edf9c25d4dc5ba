// A kernel whose text has this may begin while the kernel in front of it in the stream still runs (Launches). It calls
// waitForInputs() once in every thread, before it reads anything but constants and before it writes. Behind that call all
// kernels in front have ended. The next kernel may begin from there on, so it never runs beside the one two in front.

#ifdef __CUDACC_RTC__

__device__ inline void waitForInputs() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

#else

extern "C" {
long long emulated_waits;  // the emulation expects one of each thread
}
__device__ inline void waitForInputs() { ++emulated_waits; }

#endif
