// Deconvolutions as problem texts.
#pragma once

#include <string>

namespace torchtrt::kernels {

// A deconvolution of float32; lists without their brackets.
struct Deconvolution {
  std::string operands = "";  // as "[1,8,5,6]@0231x[8,10,4,4]!x[10] -> [1,10,10,12]@0231"
  std::string stride = "2, 2";
  std::string before = "1, 1";
  std::string after = "1, 1";
  std::string more = "0, 0";  // output padding
  std::string groups = "1";
  std::string activation = "";
  std::string dilation = "1, 1";
};

inline std::string toText(const Deconvolution& c) {
  return "deconvolution float32 " + c.operands + " {" + c.activation + "dilation=[" + c.dilation +
         "], groups=" + c.groups + ", output_padding=[" + c.more + "], post_padding=[" + c.after + "], pre_padding=[" +
         c.before + "], stride=[" + c.stride + "]}";
}

}  // namespace torchtrt::kernels
