"""`python -m modulog`: the command line."""

from modulog.cli import main

if __name__ == "__main__":
    main()
