"""``python -m clgraph`` runs the command ``clgraph``."""

import sys

from clgraph.cli.main import main

sys.exit(main())
