"""The modules that code can import in a browser with the pinned Pyodide, and the package of each.

The packages are those of its `pyodide-lock.json` without shared libraries and tests. The standard library is
the set of modules that Pyodide itself can import. Private modules of packages, which start with `_`, are not
listed.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_PACKAGES = """
affine aiohappyeyeballs aiohttp aiosignal altair annotated-doc annotated-types anyio argon2=argon2-cffi
astropy astropy-iers-data asttokens async-timeout asyncpg atomicwrites attr=attrs attrs audioop=audioop-lts
b2d bcrypt bs4=beautifulsoup4 bilby-cython Bio=biopython BioSQL=biopython bitarray bitstring bleach bokeh
boost-histogram bottleneck brotli cachetools cartopy casadi cbor-diag certifi cffi cffi-example cftime
charset-normalizer clarabel click cligj clingo cloudpickle cmyt cobs colorspacious contourpy
CoolProp=coolprop coverage crc32c crcmod cryptography cssselect cvxpy=cvxpy-base cycler cysignals cytoolz
decorator demes deprecated deprecation diskcache distlib distro dns=dnspython docutils donfig duckdb
ewah-bool-utils exceptiongroup executing fastapi fiona fontTools=fonttools freesasa frozenlist fsspec future
galpy geopandas gmpy2 google-crc32c h11 h3 h5py healpy highspy html5lib httpcore httpx idna igraph imageio
iminuit iniconfig InSpice=inspice IPython=ipython jedi jinja2 jiter joblib jsonpatch jsonpointer jsonschema
jsonschema-specifications kiwisolver lakers=lakers-python lazy-loader lazy-object-proxy libcst librt lightgbm
logbook lxml lz4 markupsafe pylab=matplotlib mpl_toolkits=matplotlib matplotlib matplotlib-inline
memory-allocator micropip ml-dtypes mmh3 more-itertools mpmath msgpack msgspec msprime multidict munch
mypyc=mypy mypy MySQLdb=mysqlclient narwhals ndindex netCDF4=netcdf4 networkx newick nh3 nlopt nltk numcodecs
numpy openai cv2=opencv-python optlang orjson packaging pandas parso patsy pcodec peewee PhiSpyModules=phispy
PhiSpyRepeatFinder=phispy pi-heif PIL=pillow pillow-heif pkgconfig platformdirs pluggy ply polars
prompt-toolkit propcache google=protobuf psycopg psycopg-binary psycopg-c pure-eval py pyarrow pyclipper
pycparser Crypto=pycryptodome pydantic pydantic-core pydoc-data erfa=pyerfa pygame=pygame-ce pygments pyheif
pyiceberg pyinstrument pymongo gridfs=pymongo nacl=pynacl pyodide-http unix_timezones=pyodide-unix-timezones
pyparsing pyproj pyroaring pyrodigal pyrsistent pysam shapefile=pyshp taglib=pytaglib pytest pytest-asyncio
pytest-benchmark pytest-httpx python-calamine dateutil=python-dateutil flirt=python-flirt pysat=python-sat
python-solvespace pytz pywt=pywavelets pyxirr yaml=pyyaml rasterio rateslib rebound reboundx referencing
regex requests retrying rich rpds=rpds-py ruamel=ruamel-yaml safetensors skimage=scikit-image
sklearn=scikit-learn scipy bigtests=screed screed sentencepiece setuptools shapely simplejson
sisl_toolbox=sisl sisl six smart-open sniffio sortedcontainers soundfile soupsieve sourmash soxr sparseqr
sqlalchemy stack-data starlette statsmodels strictyaml svgwrite swiglpk isympy=sympy sympy tblib termcolor
texttable texture2ddecoder threadpoolctl tiktoken tiktoken_ext=tiktoken tomli tomli-w tlz=toolz toolz tqdm
traitlets traits tree-sitter tree-sitter-go tree-sitter-java tree-sitter-python tskit typing-extensions
typing-inspection tzdata ujson uncertainties unyt urllib3 vega-datasets vrplib wcwidth webencodings wordcloud
wrapt xarray xgboost xlrd xxhash xyzservices yarl yt zarr zengl zfpy zstandard
"""
# `module=package` if the two differ by more than - and _
MODULES: Mapping[str, str] = MappingProxyType(
    {word.partition("=")[0].replace("-", "_"): word.rpartition("=")[2] for word in _PACKAGES.split()}
)
"""Module name → package."""

PACKAGE_NAMES = frozenset(MODULES.values())

_STANDARD = """
__future__ abc annotationlib antigravity argparse array ast asyncio atexit base64 bdb binascii bisect
builtins bz2 cProfile calendar cmath cmd code codecs codeop collections colorsys compileall compression
concurrent configparser contextlib contextvars copy copyreg csv ctypes dataclasses datetime decimal difflib
dis doctest email encodings enum errno faulthandler fcntl filecmp fileinput fnmatch fractions ftplib
functools gc genericpath getopt getpass gettext glob graphlib gzip hashlib heapq hmac html http imaplib
importlib inspect io ipaddress itertools json keyword linecache locale logging lzma mailbox marshal math
mimetypes mmap modulefinder multiprocessing netrc ntpath nturl2path numbers opcode operator optparse os
pathlib pdb pickle pickletools pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty
py_compile pyclbr pydoc pyexpat queue quopri random re reprlib rlcompleter runpy sched secrets select
selectors shelve shlex shutil signal site smtplib socket socketserver sqlite3 sre_compile sre_constants
sre_parse ssl stat statistics string stringprep struct subprocess symtable sys sysconfig tabnanny tarfile
tempfile termios textwrap this threading time timeit token tokenize tomllib trace traceback tracemalloc tty
types typing unicodedata unittest urllib uuid warnings wave weakref webbrowser wsgiref xml xmlrpc zipapp
zipfile zipimport zlib zoneinfo
"""
STANDARD_LIBRARY = frozenset(_STANDARD.split())
"""Modules of the standard library, which need no package."""

_PYODIDE_MODULES = frozenset({"js", "pyodide", "pyodide_js"})


def is_built_in(module: str) -> bool:
    """Return whether the top-level `module` is available without loading a package."""
    return module in STANDARD_LIBRARY or module in _PYODIDE_MODULES or module.startswith("_")


def guess_package(word: str) -> str:
    """Return the package that `word` may mean. Compare it with the names of modules, and with those of
    packages without `-` and `_`. Return an empty string if there is no such package."""
    plain = word.casefold().replace("-", "").replace("_", "")
    alike = (name for name in sorted(PACKAGE_NAMES) if name.replace("-", "") == plain)
    return MODULES.get(word.replace("-", "_")) or next(alike, "")
