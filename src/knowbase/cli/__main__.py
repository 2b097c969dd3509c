"""`python -m knowbase.cli`."""

import sys

from knowbase.cli import main

sys.exit(main())
