// Everything a program that compiles needs. One that only runs compiled modules includes torchtrt/runtime.h instead.
#pragma once

#include "torchtrt/compile.h"
#include "torchtrt/error.h"
#include "torchtrt/logging.h"
#include "torchtrt/options.h"
#include "torchtrt/profile.h"
#include "torchtrt/progress.h"
#include "torchtrt/ptq.h"
#include "torchtrt/runtime.h"
#include "torchtrt/verify.h"
#include "torchtrt/version.h"
