"""Run zoloss as ``python -m zoloss_cli``."""

from zoloss_cli.cli.app import main

if __name__ == "__main__":
    main()
