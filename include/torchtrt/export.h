// Marks what a shared library of torchtrt lets others see; everything else is hidden.
// Classes that are thrown or cast across libraries need it too, for their type information.
#pragma once

#define TORCHTRT_API __attribute__((visibility("default")))
