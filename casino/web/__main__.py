"""`python -m casino.web`: the web server (``processes.py``)."""

from casino.web.processes import main

if __name__ == "__main__":
    main()
