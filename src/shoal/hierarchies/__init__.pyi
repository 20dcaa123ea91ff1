# Made from the code by `make docs`.
from shoal.hierarchies.automatic import Automatic as Automatic
from shoal.hierarchies.dates import Dates as Dates
from shoal.hierarchies.intervals import Intervals as Intervals
from shoal.hierarchies.masking import Masking as Masking
from shoal.hierarchies.ordering import Ordering as Ordering
from shoal.hierarchies.table import Table as Table
from shoal.hierarchies.tree import Tree as Tree
