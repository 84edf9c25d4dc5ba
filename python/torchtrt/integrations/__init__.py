"""Compiled modules in other systems: ray (Ray Data and Ray Serve), spark, beam and triton. Each needs its package: `pip install torchtrt[ray]`."""
