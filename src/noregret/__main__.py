"""python -m noregret: the command line."""

from noregret.cli import main

if __name__ == "__main__":
    main()
