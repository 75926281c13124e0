"""Functions with the signatures of pymetis and of triangle, run by clgraph: a program changes only its imports."""

from clgraph.compat.metis_options import GType as GType
from clgraph.compat.metis_options import Options as Options
from clgraph.compat.partitions import GraphPartition as GraphPartition
from clgraph.compat.partitions import MeshPartition as MeshPartition
from clgraph.compat.partitions import nested_dissection as nested_dissection
from clgraph.compat.partitions import part_graph as part_graph
from clgraph.compat.partitions import part_mesh as part_mesh
from clgraph.compat.triangle_files import get_data as get_data
from clgraph.compat.triangle_files import load as load
from clgraph.compat.triangle_files import loads as loads
from clgraph.compat.triangle_plots import compare as compare
from clgraph.compat.triangle_plots import plot as plot
from clgraph.compat.triangle_points import convex_hull as convex_hull
from clgraph.compat.triangle_points import delaunay as delaunay
from clgraph.compat.triangle_points import voronoi as voronoi
from clgraph.compat.triangulation import triangulate as triangulate
