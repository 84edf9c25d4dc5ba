// Tests of the verifier expect this of a broken rule.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "torchtrt/error.h"

namespace torchtrt::network {

inline void expectBroken(const std::string& rule, const std::function<void()>& action) {
  try {
    action();
    FAIL() << "no error, expected rule " << rule << " to be broken";
  } catch (const CompileError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidNetwork);
    EXPECT_THAT(error.what(), testing::HasSubstr("breaks rule \"" + rule + "\": expected "));
    EXPECT_THAT(error.what(), testing::HasSubstr(", got "));
  }
}

}  // namespace torchtrt::network
