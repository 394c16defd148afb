"""Relations that are represented, not enumerated: closures, components and their changes, over 32-bit ids."""
