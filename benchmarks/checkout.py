"""Import this first: then ``import clgraph`` takes the package of this checkout, installed or not."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
