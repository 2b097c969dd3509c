"""Snippets as a person at a terminal sees them."""

import re
import struct
import termios
from fcntl import ioctl

import pytest
from children import without_styles

from conftest import Kb
