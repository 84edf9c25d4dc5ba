// Arithmetic that rounds after every step; behind text/storage.cuh. The compiler makes one instruction of a product and a sum elsewhere, whose
// result may fall on the other side of an edge than on the CPU.

__device__ inline float timesOf(float a, float b) {
#ifdef __CUDACC_RTC__
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}
__device__ inline double timesOf(double a, double b) {
#ifdef __CUDACC_RTC__
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}

// float16 as a type to compute in: every result is rounded to it, as torchvision's arithmetic in half types is.
struct HalfNumber {
  float value;

  HalfNumber() = default;
  template <class Number>
  __device__ explicit HalfNumber(Number number) {
    Half rounded;
    store(&rounded, (float)number);
    value = load(&rounded);
  }
  __device__ operator float() const { return value; }
  __device__ HalfNumber& operator+=(HalfNumber other) { return *this = HalfNumber(value + other.value); }
};
__device__ inline HalfNumber operator+(HalfNumber a, HalfNumber b) { return HalfNumber(a.value + b.value); }
__device__ inline HalfNumber operator-(HalfNumber a, HalfNumber b) { return HalfNumber(a.value - b.value); }
__device__ inline HalfNumber operator*(HalfNumber a, HalfNumber b) { return HalfNumber(a.value * b.value); }
__device__ inline HalfNumber operator/(HalfNumber a, HalfNumber b) { return HalfNumber(a.value / b.value); }
__device__ inline HalfNumber timesOf(HalfNumber a, HalfNumber b) { return a * b; }

template <class T>
struct Rounded {
  T value;
  __device__ explicit Rounded(T v) : value(v) {}
  __device__ Rounded operator+(Rounded other) const { return Rounded(value + other.value); }
  __device__ Rounded operator-(Rounded other) const { return Rounded(value - other.value); }
  __device__ Rounded operator*(Rounded other) const { return Rounded(timesOf(value, other.value)); }
  __device__ Rounded operator/(Rounded other) const { return Rounded(value / other.value); }
};

// The four weights of a cubic with a = -0.75 at `x` behind the second of four neighbours.
template <class T>
struct CubicWeights {
  T weight[4];

  __device__ static T nearOf(T distance) {
    const Rounded<T> a(T(-0.75)), d(distance), two(T(2)), three(T(3)), one(T(1));
    return (((a + two) * d - (a + three)) * d * d + one).value;
  }
  __device__ static T farOf(T distance) {
    const Rounded<T> a(T(-0.75)), d(distance), four(T(4)), five(T(5)), eight(T(8));
    return (((a * d - five * a) * d + eight * a) * d - four * a).value;
  }
  __device__ explicit CubicWeights(T x) {
    weight[0] = farOf(x + T(1));
    weight[1] = nearOf(x);
    weight[2] = nearOf(T(1) - x);
    weight[3] = farOf(T(2) - x);
  }
};
