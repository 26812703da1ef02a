from ._petal import *
from ._petal import __version__ as __version__

def sqlite_extension_path() -> str: ...
