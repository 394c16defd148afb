"""Speed and memory of Modulog against other systems, one module per question: ``python -m benchmarks``."""
