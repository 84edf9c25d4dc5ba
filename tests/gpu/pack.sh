#!/bin/bash
# Collects what a machine with a GPU needs of a build: tests/gpu/run.sh unpacks it there. build/gpu is made anew.
set -eu
cd "$(dirname "$0")/../.."
build=${TORCHTRT_BUILD:-build/release}
out=build/gpu
rm -rf $out
mkdir -p $out/lib $out/bin $out/python
for library in "$build"/lib/libtorchtrt*.so.*.*.*; do
  name=$(basename "$library")
  strip -o "$out/lib/${name%.*}" "$library"
  ln -s "${name%.*}" "$out/lib/${name%%.so*}.so"
done
for program in torchtrtc torchtrt-bench; do strip -o "$out/bin/$program" "$build/bin/$program"; done
for program in test_cpu test_cuda test_cuda_networks; do
  if [ -e "$build/bin/$program" ]; then strip -o "$out/bin/$program" "$build/bin/$program"; fi
done
hwy=$(ldd "$build"/lib/libtorchtrt_engine.so | awk '/libhwy/ {print $3}')
cp -L "$hwy" $out/lib/
xz -T0 -3 -c "$(readlink -f "$build"/lib/libdnnl.so.3)" > $out/lib/libdnnl.so.3.xz
cp -rL "$build"/python/torchtrt $out/python/
rm -rf $out/python/torchtrt/lib $out/python/torchtrt/_torchtrt*.so
find $out/python -name __pycache__ -prune -exec rm -rf {} +
# The only trained model of the benchmark whose package GPU machines lack.
mkdir -p $out/python/silero_vad/data
cp .venv/lib/python3*/site-packages/silero_vad/data/silero_vad.jit $out/python/silero_vad/data/
# For bench/ways_in.py, the library of its models that GPU machines lack.
tar -C "$(.venv/bin/python -c 'import os, timm; print(os.path.dirname(os.path.dirname(timm.__file__)))')" --exclude __pycache__ -cJf $out/timm.tar.xz timm
# One that was compiled for a GPU where there is none.
PYTHONPATH=$build/python .venv/bin/python tests/gpu/suite.py pack $out/for_sm_90.ts
# Links do not travel everywhere: run.sh makes them again.
find $out/lib -type l -delete
du -sh $out
