from ._petal import *
from ._petal import __version__ as __version__
