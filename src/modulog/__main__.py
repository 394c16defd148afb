"""`python -m modulog`: the command line."""

from modulog.cli.app import main

if __name__ == "__main__":
    main()
