"""Labels, ids, citations and numbers: the targets of references, and the references to them."""
